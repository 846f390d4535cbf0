package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// What is wrong with a decision.
var (
	errNoDecision          = errors.New(`no complete JSON object with a "decision"`)
	errConflictingDecision = errors.New(`beside the approval stands another "decision", outside complete JSON`)
	errDuplicateKey        = errors.New("a key stands twice in one JSON object")
	errVerdict             = errors.New(`"decision" is neither "approve" nor "feedback"`)
)

// ParseDecision reads a coach's decision: the last complete JSON object with a "decision" in data, which may have
// prose and fences around it. An object inside another one belongs to that one. Words are never a decision: "I cannot
// approve" is not one. An approval beside a broken object with another decision is an error: it may be a quote in the
// broken one.
//
// Numbers may stand in quotes, a list may be null or one value. Unknown keys and contracts_honored are ignored. An
// unknown status is Unverified, an unknown priority is High.
func ParseDecision(data []byte) (d Decision, err error) {
	defer func() {
		if err != nil {
			d, err = Decision{}, fmt.Errorf("verify: decision: %w", err)
		}
	}()
	if err := readable(data); err != nil {
		return d, err
	}
	object, beside, err := lastDecision(data)
	if err != nil {
		return d, err
	}
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	v, err := decode(dec)
	if err != nil {
		return d, err
	}
	m := v.(map[string]any)
	said, _ := m["decision"].(string)
	d = Decision{Verdict: verdict(strings.ToLower(strings.TrimSpace(said))), TaskID: text(m["task_id"]),
		Rationale: text(m["rationale"])}
	others := lex().BesideKey.FindAll(string(bytes.Join(beside, []byte("\n"))))
	differs := func(m []string) bool { return !strings.EqualFold(m[1], string(Approve)) }
	switch {
	case d.Verdict != Approve && d.Verdict != Feedback:
		return d, errVerdict
	case d.Verdict == Approve && slices.ContainsFunc(others, differs):
		return d, errConflictingDecision
	}
	for _, v := range list(m["requirements_verified"]) {
		if c, ok := v.(map[string]any); ok {
			d.Requirements = append(d.Requirements, RequirementCheck{ID: text(c["id"]), Requirement: text(c["requirement"]),
				Status: And(Status(strings.ToLower(text(c["status"])))), Evidence: text(c["evidence"]), Issue: text(c["issue"])})
		}
	}
	if t, ok := m["tests_verified"].(map[string]any); ok {
		d.Tests = testsCheck{Total: number(t["total"]), Passed: number(t["passed"]), Failed: number(t["failed"]),
			Failures: texts(t["failures"]), Missing: texts(t["missing"])}
	}
	for _, v := range list(m["feedback_items"]) {
		it, ok := v.(map[string]any)
		if !ok {
			d.Items = append(d.Items, Item{Severity: high, Issue: text(v)})
			continue
		}
		severity := priority(strings.ToLower(text(it["severity"])))
		d.Items = append(d.Items, Item{Severity: priorities[severity.rank()], File: text(it["file"]),
			Line: max(number(it["line"]), 0), Issue: text(it["issue"]), Suggestion: text(it["suggestion"])})
	}
	return d, nil
}

// decode reads a value. The keys of its objects get lower case. A key that stands twice in one is an error.
func decode(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	open, ok := t.(json.Delim)
	if err != nil || !ok {
		return t, err
	}
	var list []any
	object, key := map[string]any{}, ""
	for dec.More() {
		if open == '{' {
			t, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key = strings.ToLower(fmt.Sprint(t))
			if _, twice := object[key]; twice {
				return nil, errDuplicateKey
			}
		}
		v, err := decode(dec)
		if err != nil {
			return nil, err
		}
		object[key], list = v, append(list, v)
	}
	_, err = dec.Token()
	if open == '[' {
		return list, err
	}
	return object, err
}

// number returns the whole number that a value or its text begins with, such as 12 of "12 of them", else 0.
func number(v any) (n int) {
	if _, err := fmt.Sscan(text(v), &n); err != nil || n > math.MaxInt32 {
		return 0
	}
	return n
}

const maxEffort = 32 << 20 // bytes that are read again and again in search of objects

// lastDecision returns the last complete object with a decision, and the texts beside all of these.
func lastDecision(data []byte) (last []byte, beside [][]byte, err error) {
	spent, end := 0, 0
	for i := 0; i < len(data) && spent < maxEffort; i++ {
		if data[i] != '{' {
			continue
		}
		var raw json.RawMessage
		err := json.NewDecoder(bytes.NewReader(data[i:])).Decode(&raw)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			break // it is cut off: what follows is inside
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			spent += int(syntax.Offset)
		} else if with := (struct{ Decision json.RawMessage }{}); json.Unmarshal(raw, &with) == nil && with.Decision != nil {
			last, beside = raw, append(beside, data[end:i])
			end = i + len(raw)
			i = end - 1
		} else {
			spent += len(raw)
		}
	}
	if last == nil || spent >= maxEffort {
		return nil, nil, errNoDecision
	}
	return last, append(beside, data[end:]), nil
}
