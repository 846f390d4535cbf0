package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxSize is the size in bytes of the largest decision and report that is read: 1 MiB.
const MaxSize = 1 << 20

// What stands in the way of a decision or a report.
var (
	ErrTooLarge     = errors.New("larger than 1 MiB")
	ErrNotUTF8      = errors.New("not UTF-8")
	ErrNoDecision   = errors.New(`no complete JSON object with a "decision"`)
	ErrCutOff       = errors.New(`the last JSON object with a "decision" is cut off`)
	ErrBroken       = errors.New(`beside the approval stands another "decision", in what is no JSON`)
	ErrTwice        = errors.New("a key stands twice in one JSON object")
	ErrVerdict      = errors.New(`"decision" is neither "approve" nor "feedback"`)
	ErrTangled      = errors.New("too many braces that begin no JSON object")
	ErrNotAReport   = errors.New("it begins like a JSON object and is none")
	errWrongInField = errors.New("it does not have the form that is asked for")
)

// ParseDecision reads a coach's decision: the last complete JSON object with a "decision" in data, which may have prose and fences
// around it. An object inside one that has a decision, or in one that is cut off, is part of it. Words are never a decision: "I cannot
// approve" is none. An approval beside a broken object with another decision is none either: it may be what the broken one quotes.
//
// Numbers may stand in quotes, a list may be null or one value, and unknown keys are ignored, as are contracts_honored. A status that
// is none of the three is Unverified, and a priority that is none of the three is High. Everything else that is wrong is an error,
// to be told by [errors.Is]: [ErrTooLarge], [ErrNotUTF8], [ErrNoDecision], [ErrCutOff], [ErrBroken], [ErrTwice]
// (letter case aside), [ErrVerdict] and [ErrTangled].
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
		return Decision{}, ErrTwice
	}
	var said struct {
		Verdict      string      `json:"decision"`
		TaskID       scalar      `json:"task_id"`
		Requirements list[check] `json:"requirements_verified"`
		Tests        testsSaid   `json:"tests_verified"`
		Items        list[item]  `json:"feedback_items"`
		Rationale    scalar      `json:"rationale"`
	}
	if err := json.Unmarshal(object, &said); err != nil {
		return Decision{}, fmt.Errorf("%w: %s", errWrongInField, wrongField(err))
	}
	d := Decision{Verdict: Verdict(strings.ToLower(strings.TrimSpace(said.Verdict))), TaskID: string(said.TaskID), Rationale: string(said.Rationale)}
	if d.Verdict != Approve && d.Verdict != Feedback {
		return Decision{}, ErrVerdict
	}
	if d.Verdict == Approve && saysOtherwise(beside) {
		return Decision{}, ErrBroken
	}
	for _, c := range said.Requirements {
		d.Requirements = append(d.Requirements, RequirementCheck{ID: string(c.ID), Requirement: string(c.Requirement),
			Status: And(Status(strings.ToLower(string(c.Status)))), Evidence: string(c.Evidence), Issue: string(c.Issue)})
	}
	d.Tests = TestsCheck{Total: int(said.Tests.Total), Passed: int(said.Tests.Passed), Failed: int(said.Tests.Failed),
		Failures: strs(said.Tests.Failures), Missing: strs(said.Tests.Missing)}
	for _, it := range said.Items {
		d.Items = append(d.Items, Item{Severity: Priority(strings.ToLower(string(it.Severity))), File: string(it.File), Line: max(int(it.Line), 0),
			Issue: string(it.Issue), Suggestion: string(it.Suggestion)})
	}
	for i := range d.Items {
		d.Items[i].Severity = []Priority{High, Medium, Low}[d.Items[i].Severity.rank()]
	}
	return d, nil
}

func readable(data []byte) error {
	if len(data) > MaxSize {
		return ErrTooLarge
	}
	if !utf8.Valid(data) {
		return ErrNotUTF8
	}
	return nil
}

// effort bounds the bytes that are read again and again in search of objects.
const effort = 32 << 20

// lastDecision returns the last complete object with a decision, and the text beside all of these.
func lastDecision(data []byte) (last []byte, beside [][]byte, err error) {
	err = ErrNoDecision
	spent, end := 0, 0
	open := false // in an object that is cut off, which all the rest is a part of
	for i := 0; ; {
		next := bytes.IndexByte(data[i:], '{')
		if next < 0 {
			break
		}
		i += next
		if rest := bytes.TrimLeft(data[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] != '"' {
			i++
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(data[i:]))
		var raw json.RawMessage
		fault := dec.Decode(&raw)
		if fault == nil {
			if hasDecision(raw) {
				if open {
					return nil, nil, ErrCutOff
				}
				last, err = raw, nil
				beside = append(beside, data[end:i])
				i += len(raw)
				end = i
				continue
			}
			spent += len(raw)
		} else if syntax, ok := errors.AsType[*json.SyntaxError](fault); ok && !errors.Is(fault, io.ErrUnexpectedEOF) {
			spent += int(syntax.Offset)
		} else {
			if opensDecision(data[i:]) {
				return nil, nil, ErrCutOff
			}
			open = true
			spent += len(data) - i
		}
		if spent > effort {
			return nil, nil, ErrTangled
		}
		i++
	}
	return last, append(beside, data[end:]), err
}

// besideKey finds a decision that stands in no complete object, and the word that it begins with.
var besideKey = compiled(`(?i)"decision"\s*:[\s"'<(\[]*(\w*)`)

// saysOtherwise reports whether some text has a decision that is no approval.
func saysOtherwise(texts [][]byte) bool {
	for _, text := range texts {
		for _, m := range besideKey.get().FindAllSubmatch(text, -1) {
			if !bytes.EqualFold(m[1], []byte(Approve)) {
				return true
			}
		}
	}
	return false
}

func hasDecision(object []byte) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return false
	}
	for key := range fields {
		if strings.EqualFold(key, "decision") {
			return true
		}
	}
	return false
}

// opensDecision reports whether an object that is cut off has got as far as a decision.
func opensDecision(data []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(data))
	if _, err := dec.Token(); err != nil {
		return false
	}
	for {
		key, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := key.(string); ok && strings.EqualFold(s, "decision") {
			return true
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return false
		}
	}
}

// twice reports whether the next value has an object with the same key twice, as encoding/json compares keys.
func twice(dec *json.Decoder) bool {
	t, err := dec.Token()
	if err != nil {
		return false
	}
	open, ok := t.(json.Delim)
	if !ok {
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
			if key = foldKey(key); seen[key] {
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

// foldKey returns the same for all keys that encoding/json takes for one field: it folds more than letter case, as ſ to s.
func foldKey(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, key)
}

type check struct {
	ID          scalar `json:"id"`
	Requirement scalar `json:"requirement"`
	Status      scalar `json:"status"`
	Evidence    scalar `json:"evidence"`
	Issue       scalar `json:"issue"`
}

type item struct {
	Severity   scalar `json:"severity"`
	File       scalar `json:"file"`
	Line       number `json:"line"`
	Issue      scalar `json:"issue"`
	Suggestion scalar `json:"suggestion"`
}

type testsSaid struct {
	Total    number       `json:"total"`
	Passed   number       `json:"passed"`
	Failed   number       `json:"failed"`
	Failures list[scalar] `json:"failures"`
	Missing  list[scalar] `json:"missing"`
}

// wrongField names the key at fault, without its value.
func wrongField(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return "look at " + e.Field
	}
	return "see the output format in the coach's instructions"
}
