package verify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
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
	v, twice := decode(dec)
	if twice {
		return d, errDuplicateKey
	}
	m := v.(map[string]any)
	said, _ := m["decision"].(string)
	d = Decision{Verdict: verdict(strings.ToLower(strings.TrimSpace(said))), TaskID: text(m["task_id"]),
		Rationale: text(m["rationale"])}
	others := lex("BesideKey").FindAll(string(bytes.Join(beside, []byte("\n"))))
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
			it = map[string]any{"issue": v}
		}
		severity := priority(strings.ToLower(text(it["severity"])))
		d.Items = append(d.Items, Item{Severity: priorities[severity.rank()], File: text(it["file"]),
			Line: max(number(it["line"]), 0), Issue: text(it["issue"]), Suggestion: text(it["suggestion"])})
	}
	return d, nil
}

// decode reads a value of valid JSON, and reports whether a key stands twice in one object. Keys get lower case.
func decode(dec *json.Decoder) (v any, twice bool) {
	t, _ := dec.Token()
	open, ok := t.(json.Delim)
	if !ok {
		return t, false
	}
	var list []any
	object, key := map[string]any{}, ""
	for dec.More() {
		if open == '{' {
			t, _ := dec.Token()
			key = strings.ToLower(fmt.Sprint(t))
			_, known := object[key]
			twice = twice || known
		}
		v, inside := decode(dec)
		twice = twice || inside
		object[key], list = v, append(list, v)
	}
	_, _ = dec.Token()
	if open == '[' {
		return list, twice
	}
	return object, twice
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

// maxSize is the size in bytes of the largest decision and report that is read: 1 MiB.
const maxSize = 1 << 20

// What is wrong with a report or a decision.
var (
	errTooLarge  = errors.New("larger than 1 MiB")
	errNotUTF8   = errors.New("not UTF-8")
	errNotReport = errors.New("it begins like a JSON object and is not one")
)

func readable(data []byte) error {
	if len(data) > maxSize {
		return errTooLarge
	}
	if !utf8.Valid(data) {
		return errNotUTF8
	}
	return nil
}

// ParseReport reads what an agent reports: a JSON object, alone or in one fence, else prose. It reads 128 KiB of prose.
//
// In a JSON object, keys such as files_changed, files_created, commits, tests, tests_written, test_results, build and
// lint are read by their names, in any letter case, with "_", "-" or nothing between their words. The texts under
// concerns, risks and the like are for the coach. Any other text is read as prose, except under keys that speak of next
// steps or of the task.
//
// The error says that data is larger than 1 MiB, not UTF-8, or a broken object.
func ParseReport(data []byte) (Report, error) {
	if err := readable(data); err != nil {
		return Report{}, fmt.Errorf("verify: report: %w", err)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	r := Report{Text: text}
	object := []byte(strings.TrimSpace(text))
	if m := lex("Fenced").Find(string(object)); m != nil && !strings.Contains(m[1], "```") { // alone in a fence
		object = []byte(strings.TrimSpace(m[1]))
	}
	var fields map[string]any
	dec := json.NewDecoder(bytes.NewReader(object))
	dec.UseNumber()
	if err := dec.Decode(&fields); err == nil && fields != nil && !dec.More() {
		r.object(fields, false)
	} else if bytes.HasPrefix(object, []byte(`{"`)) || bytes.HasPrefix(object, []byte("{\n")) {
		return Report{}, fmt.Errorf("verify: report: %w", errNotReport)
	} else {
		r.prose(text)
	}
	claims, said, quote := r.Claims, "", ""
	r.Claims = nil
	for _, c := range claims {
		if c.Text != said { // the claims of a clause have the same words
			said, quote = c.Text, line(c.Text, maxQuote)
		}
		c.Text = quote
		r.add(c)
	}
	return r, nil
}

// object reads the fields of a report or of its tests, in the order of their names, so that equal reports are equal.
// Results of runs are read as prose is.
func (r *Report) object(fields map[string]any, ofTests bool) {
	var tests []string
	subject := "Tests"
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := fields[name]
		key := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
		kind, files := fileKey(key)
		nested, isObject := v.(map[string]any)
		_, isList := v.([]any)
		run := slices.IndexFunc(lex("RunKeys").Words, func(w string) bool { return strings.HasPrefix(key, w) })
		switch {
		case lex("ConcernKeys").Has(key):
			for _, s := range texts(v) {
				r.concern(s)
			}
		case slices.ContainsFunc(lex("SilentKeys").Words, func(w string) bool { return strings.Contains(key, w) }):
		case files && !isObject:
			for _, e := range list(v) {
				r.fileEntry(e, kind)
			}
		case lex("CommitKeys").Has(key):
			for _, e := range list(v) {
				r.commitEntry(e)
			}
		case lex("NewTestKeys").Has(key), lex("TestKeys").Has(key) && isList:
			for _, e := range list(v) {
				r.testEntry(e)
			}
		case lex("TestKeys").Has(key) && isObject:
			r.object(nested, true)
		case ofTests && (key == "command" || key == "cmd"):
			subject = "Tests by `" + text(v) + "`"
		case ofTests && slices.Contains([]string{"result", "status", "outcome"}, key):
			tests = append(tests, counted(v, "total"))
		case lex("TestKeys").Has(key):
			if result := counted(v, "total"); result != "" {
				tests = append(tests, result)
			} else if !isNone(text(v)) {
				r.prose("Tests: " + text(v))
			}
		case lex("CountKeys").Has(key):
			tests = append(tests, counted(v, strings.TrimPrefix(strings.TrimPrefix(key, "all"), "tests")))
		case run >= 0 && isOutcome(outcome(v)):
			r.sentence(lex("RunKeys").Words[run]+": "+outcome(v), false)
		case key == "testoutput" || key == "output":
			for _, s := range texts(v) {
				r.output(s)
			}
		case !ofTests || key == "notes":
			r.value(v)
		}
	}
	if tests = slices.DeleteFunc(tests, isNone); len(tests) > 0 {
		r.sentence(subject+": "+strings.Join(tests, ", "), false)
	}
}

// counted returns a number of tests in words, such as "12 passed", or their result.
func counted(v any, what string) string {
	if all, ok := v.([]any); ok {
		v = len(all)
	}
	switch s := outcome(v); {
	case s != "" && strings.Trim(s, "0123456789/") == "":
		return s + " " + what
	case what == "passed" || what == "total":
		return map[string]string{"passed": "all pass", "failed": "some fail"}[s]
	}
	return ""
}

// outcome returns the result of a run as "passed" or "failed", and any other text as it is.
func outcome(v any) string {
	s := strings.TrimSpace(text(v))
	switch {
	case lex("PassedWords").Has(strings.ToLower(s)):
		return "passed"
	case lex("FailedWords").Has(strings.ToLower(s)):
		return "failed"
	}
	return s
}

func isOutcome(s string) bool { return s == "passed" || s == "failed" }

func isNone(s string) bool {
	return s == "" || lex("NoneWords").Has(strings.ToLower(s))
}

// fileKey reports whether a key names files, and how these were changed.
func fileKey(key string) (kind ChangeKind, ok bool) {
	switch {
	case lex("AddedKeys").Has(key):
		return Added, true
	case lex("RemovedKeys").Has(key):
		return Removed, true
	}
	return "", lex("ChangedKeys").Has(key)
}

// value reads what stands under any other key.
func (r *Report) value(v any) {
	switch v := v.(type) {
	case string:
		r.prose(v)
	case map[string]any:
		r.object(v, false)
	case []any:
		for _, e := range v {
			r.value(e)
		}
	}
}

// fileEntry reads an entry of a list of files: a path, "a.go (new)", "a.go -> b.go", or an object.
func (r *Report) fileEntry(v any, kind ChangeKind) {
	if m, ok := v.(map[string]any); ok {
		p := field(m, "path", "file", "filename", "name")
		word, _ := kindOfWord(field(m, "action", "status", "change", "kind", "type"))
		r.fileEntry(p, cmp.Or(word, kind))
		for _, k := range []string{"description", "summary", "what", "details"} {
			r.value(m[k])
		}
		return
	}
	s := strings.TrimSpace(text(v))
	if isNone(s) || strings.HasSuffix(s, "/") || strings.HasSuffix(s, `\`) || strings.Trim(s, "0123456789 ") == "" {
		return
	}
	for part := range strings.Lines(s) {
		part = strings.TrimSpace(part)
		p := tidyPath(part)
		switch {
		case strings.ContainsAny(part, " \t,;") && r.fileItem(part, kind, true):
		case !strings.ContainsAny(part, " \t,;") || isPath(p): // a name with blanks
			r.changed(part, p, kind)
		default:
			r.prose(part)
		}
	}
}

func (r *Report) commitEntry(v any) {
	s := text(v)
	if m, ok := v.(map[string]any); ok {
		s = field(m, "hash", "sha", "id", "commit")
	}
	for part := range strings.SplitSeq(s, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		if lex("CommitHash").Match(name) {
			r.add(Claim{Kind: commitClaim, Name: name, Text: "commit " + name})
		}
	}
}

// testEntry reads the name of a test: "TestA", "tests/test_a.py::TestA::test_b", a description, or an object.
func (r *Report) testEntry(v any) {
	s, result := text(v), ""
	if m, ok := v.(map[string]any); ok {
		s, result = field(m, "name", "test", "title"), outcome(field(m, "status", "result", "outcome"))
		r.fileEntry(field(m, "file", "path"), "")
	}
	s = strings.TrimSpace(s)
	first, _, _ := strings.Cut(s, " ")
	first = strings.TrimSuffix(first, "()")
	switch {
	case isNone(s) || isOutcome(outcome(s)) || strings.Trim(s, "0123456789") == "":
		return
	case isPath(tidyPath(s)):
		r.changed(s, tidyPath(s), "")
		return
	case lex("IdentName").Match(first) && (strings.ContainsAny(first, "_:") || lex("TestName").Match(first)),
		strings.Contains(first, "::"):
		s = first[strings.LastIndex(first, ":")+1:]
	}
	r.add(Claim{Kind: testClaim, Name: line(s, maxQuote), Text: "the test " + s,
		Result: map[string]Status{"passed": Met, "failed": NotMet}[result]})
}

// text returns a JSON string, number, bool or null as text, a list of them joined by commas, and the values of an
// object joined by colons.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case map[string]any:
		var values []any
		for _, k := range slices.Sorted(maps.Keys(v)) {
			values = append(values, v[k])
		}
		return strings.Join(texts(values), ": ")
	case []any:
		return strings.Join(texts(v), ", ")
	case string:
		return v
	}
	return fmt.Sprint(v)
}

// list returns a JSON list, or one value as a list. Null is no value.
func list(v any) []any {
	if v == nil {
		return nil
	}
	if l, ok := v.([]any); ok {
		return l
	}
	return []any{v}
}

func texts(v any) []string {
	var all []string
	for _, e := range list(v) {
		if s := text(e); s != "" {
			all = append(all, s)
		}
	}
	return all
}

// field returns the first of some fields that has a text.
func field(m map[string]any, names ...string) string {
	for _, n := range names {
		if s := text(m[n]); s != "" {
			return s
		}
	}
	return ""
}
