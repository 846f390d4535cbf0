package verify

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

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
	object := []byte(unfenced(strings.TrimSpace(text)))
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
	return r, nil
}

// unfenced returns what is inside a fence, if there is nothing else.
func unfenced(s string) string {
	first, rest, ok := strings.Cut(s, "\n")
	body, closed := strings.CutSuffix(rest, "\n```")
	if !ok || !closed || !strings.HasPrefix(first, "```") || strings.Contains(body, "```") {
		return s
	}
	return strings.TrimSpace(body)
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
		run := slices.IndexFunc(lex().RunKeys, func(w string) bool { return strings.HasPrefix(key, w) })
		switch {
		case slices.Contains(lex().ConcernKeys, key):
			for _, s := range texts(v) {
				r.concern(s)
			}
		case slices.ContainsFunc(lex().SilentKeys, func(w string) bool { return strings.Contains(key, w) }):
		case files && !isObject:
			for _, e := range list(v) {
				r.fileEntry(e, kind)
			}
		case slices.Contains(lex().CommitKeys, key):
			for _, e := range list(v) {
				r.commitEntry(e)
			}
		case slices.Contains(lex().NewTestKeys, key), slices.Contains(lex().TestKeys, key) && isList:
			for _, e := range list(v) {
				r.testEntry(e)
			}
		case slices.Contains(lex().TestKeys, key) && isObject:
			r.object(nested, true)
		case ofTests && (key == "command" || key == "cmd"):
			subject = "Tests by `" + text(v) + "`"
		case ofTests && slices.Contains([]string{"result", "status", "outcome"}, key):
			tests = append(tests, counted(v, "total"))
		case slices.Contains(lex().TestKeys, key):
			if result := counted(v, "total"); result != "" {
				tests = append(tests, result)
			} else if !isNone(text(v)) {
				r.prose("Tests: " + text(v))
			}
		case slices.Contains(lex().CountKeys, key):
			tests = append(tests, counted(v, strings.TrimPrefix(strings.TrimPrefix(key, "all"), "tests")))
		case run >= 0 && isOutcome(outcome(v)):
			r.sentence(lex().RunKeys[run]+": "+outcome(v), false)
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
	case slices.Contains(lex().PassedWords, strings.ToLower(s)):
		return "passed"
	case slices.Contains(lex().FailedWords, strings.ToLower(s)):
		return "failed"
	}
	return s
}

func isOutcome(s string) bool { return s == "passed" || s == "failed" }

func isNone(s string) bool {
	return s == "" || slices.Contains(lex().NoneWords, strings.ToLower(s))
}

// fileKey reports whether a key names files, and how these were changed.
func fileKey(key string) (kind ChangeKind, ok bool) {
	switch {
	case slices.Contains(lex().AddedKeys, key):
		return Added, true
	case slices.Contains(lex().RemovedKeys, key):
		return Removed, true
	}
	return "", slices.Contains(lex().ChangedKeys, key)
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
		if lex().CommitHash.Match(name) {
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
	case lex().IdentName.Match(first) && (strings.ContainsAny(first, "_:") || lex().TestName.Match(first)),
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
