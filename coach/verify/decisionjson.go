package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
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
func ParseDecision(data []byte) (Decision, error) {
	d, err := parseDecision(data)
	if err != nil {
		return Decision{}, fmt.Errorf("verify: decision: %w", err)
	}
	return d, nil
}

func parseDecision(data []byte) (Decision, error) {
	if err := readable(data); err != nil {
		return Decision{}, err
	}
	object, beside, err := lastDecision(data)
	if err != nil {
		return Decision{}, err
	}
	if twice(json.NewDecoder(bytes.NewReader(object))) {
		return Decision{}, errDuplicateKey
	}
	var m map[string]any
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	if err := dec.Decode(&m); err != nil {
		return Decision{}, errNoDecision
	}
	m = lowerKeys(m).(map[string]any)
	said, _ := m["decision"].(string)
	d := Decision{
		Verdict:   verdict(strings.ToLower(strings.TrimSpace(said))),
		TaskID:    text(m["task_id"]),
		Rationale: text(m["rationale"]),
	}
	switch {
	case d.Verdict != Approve && d.Verdict != Feedback:
		return Decision{}, errVerdict
	case d.Verdict == Approve && saysOtherwise(beside):
		return Decision{}, errConflictingDecision
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

// lowerKeys returns a value with the keys of its objects in lower case.
func lowerKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, x := range v {
			m[strings.ToLower(k)] = lowerKeys(x)
		}
		return m
	case []any:
		for i := range v {
			v[i] = lowerKeys(v[i])
		}
	}
	return v
}

// number returns a whole number, also one in quotes or at the start of a text: "12", "12-14". Anything else is 0.
func number(v any) int {
	s := strings.TrimSpace(text(v))
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) <= math.MaxInt32 {
		return int(f)
	}
	end := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if n, err := strconv.Atoi(s[:end]); err == nil && n <= math.MaxInt32 {
		return n
	}
	return 0
}

const maxEffort = 32 << 20 // bytes that are read again and again in search of objects

// lastDecision returns the last complete object with a decision, and the texts beside all of these.
func lastDecision(data []byte) (last []byte, beside [][]byte, err error) {
	spent, end, open := 0, 0, false // open: inside an object that is cut off
	for i := 0; i < len(data) && spent < maxEffort; i++ {
		next := bytes.IndexByte(data[i:], '{')
		if next < 0 {
			break
		}
		i += next
		if rest := bytes.TrimLeft(data[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] != '"' {
			continue
		}
		var raw json.RawMessage
		dec := json.NewDecoder(bytes.NewReader(data[i:]))
		switch err := dec.Decode(&raw); {
		case err == nil && hasDecision(raw) && open:
			return nil, nil, errNoDecision // it is a quote
		case err == nil && hasDecision(raw):
			last, beside = raw, append(beside, data[end:i])
			end = i + len(raw)
			i = end - 1
		case err == nil:
			spent += len(raw)
		default:
			syntax, ok := errors.AsType[*json.SyntaxError](err)
			if !ok || errors.Is(err, io.ErrUnexpectedEOF) {
				spent, open = spent+len(data)-i, true
			} else {
				spent += int(syntax.Offset)
			}
		}
	}
	if last == nil || spent >= maxEffort {
		return nil, nil, errNoDecision
	}
	return last, append(beside, data[end:]), nil
}

// saysOtherwise reports whether some text has a decision that is not an approval.
func saysOtherwise(texts [][]byte) bool {
	for _, t := range texts {
		for _, m := range lex().BesideKey.FindAll(string(t)) {
			if !strings.EqualFold(m[1], string(Approve)) {
				return true
			}
		}
	}
	return false
}

func hasDecision(object []byte) bool {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(object, &fields)
	for key := range fields {
		if strings.EqualFold(key, "decision") {
			return true
		}
	}
	return false
}

// twice reports whether the next value has an object with the same key twice, letter case aside.
func twice(dec *json.Decoder) bool {
	t, err := dec.Token()
	open, ok := t.(json.Delim)
	if err != nil || !ok {
		return false
	}
	seen := map[string]bool{}
	for dec.More() {
		if open == '{' {
			t, err := dec.Token()
			if err != nil {
				return false
			}
			key, _ := t.(string)
			if key = strings.ToLower(key); seen[key] {
				return true
			}
			seen[key] = true
		}
		if twice(dec) {
			return true
		}
	}
	_, _ = dec.Token()
	return false
}
