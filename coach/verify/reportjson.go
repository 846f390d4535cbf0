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
		r.object(fields)
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

// object reads the fields of a report, in the order of their names, so that equal reports are equal.
func (r *Report) object(fields map[string]any) {
	tests := Claim{Kind: runClaim, Run: runTests, Text: "the test results of the report"}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := fields[name]
		key := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
		kind, files := fileKey(key)
		_, nested := v.(map[string]any)
		switch {
		case slices.Contains(lex().ConcernKeys, key):
			for _, s := range texts(v) {
				r.concern(s)
			}
		case slices.ContainsFunc(lex().SilentKeys, func(w string) bool { return strings.Contains(key, w) }):
		case files && !nested:
			for _, e := range list(v) {
				r.fileEntry(e, kind)
			}
		case slices.Contains(lex().CommitKeys, key):
			for _, e := range list(v) {
				r.commitEntry(e)
			}
		case slices.Contains(lex().NewTestKeys, key):
			for _, e := range list(v) {
				r.testEntry(e)
			}
		case slices.Contains(lex().TestKeys, key):
			r.results(&tests, v)
		case key == "testspassed" || key == "passed" || key == "allpassed" || key == "alltestspassed":
			tests.set(&tests.Passed, v, Met)
		case key == "testsfailed" || key == "failed":
			tests.set(&tests.Failed, v, NotMet)
		case key == "testsskipped" || key == "skipped":
			tests.set(&tests.Skipped, v, "")
		case key == "teststotal" || key == "total":
			tests.set(&tests.Total, v, "")
		case strings.HasPrefix(key, "build") || strings.HasPrefix(key, "lint") || strings.HasPrefix(key, "typecheck"):
			run := runBuild
			if strings.HasPrefix(key, "lint") {
				run = runLint
			}
			if result := outcomeOf(v); result != "" {
				r.add(Claim{Kind: runClaim, Run: run, Result: result, Text: name})
			} else {
				r.value(v)
			}
		case key == "testoutput" || key == "output":
			for _, s := range texts(v) {
				r.output(s)
			}
		default:
			r.value(v)
		}
	}
	if tests.settle(); tests.Result != "" || tests.counted() {
		r.add(tests)
	}
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
		r.object(v)
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
	switch strings.ToLower(s) {
	case "", "none", "n/a", "na", "nil", "null", "nothing", "-":
		return
	}
	if strings.HasSuffix(s, "/") || strings.HasSuffix(s, `\`) || strings.Trim(s, "0123456789 ") == "" {
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
	s, result := text(v), Status("")
	if m, ok := v.(map[string]any); ok {
		s, result = field(m, "name", "test", "title"), outcomeOf(field(m, "status", "result", "outcome"))
		r.fileEntry(field(m, "file", "path"), "")
	}
	s = strings.TrimSpace(s)
	switch first, _, _ := strings.Cut(s, " "); {
	case s == "" || outcomeOf(s) != "" || strings.EqualFold(s, "none") || strings.Trim(s, "0123456789") == "":
		return
	case isPath(tidyPath(s)):
		r.changed(s, tidyPath(s), "")
		return
	case lex().IdentName.Match(strings.TrimSuffix(first, "()")) &&
		(strings.ContainsAny(first, "_:") || lex().TestName.Match(first)):
		s = strings.TrimSuffix(first, "()")
	case strings.Contains(first, "::"):
		s = first
	}
	if i := strings.LastIndex(s, "::"); i >= 0 {
		s = s[i+2:]
	}
	r.add(Claim{Kind: testClaim, Name: line(s, maxQuote), Result: result, Text: "the test " + s})
}

// results reads a number of tests, a result, a text such as "12 passed, 1 failed", an object with counts, or a list.
func (r *Report) results(c *Claim, v any) {
	switch v := v.(type) {
	case map[string]any:
		c.Command = field(v, "command", "cmd")
		c.set(&c.Total, v["total"], "")
		c.set(&c.Passed, v["passed"], Met)
		c.set(&c.Failed, v["failed"], NotMet)
		c.set(&c.Skipped, v["skipped"], "")
		if s := outcomeOf(field(v, "result", "status", "outcome")); s != "" {
			c.Result = s
		}
		r.output(field(v, "output"))
		r.prose(field(v, "notes"))
	case []any:
		for _, e := range v {
			r.testEntry(e)
		}
	case string:
		if c.Result = outcomeOf(v); c.Result == "" {
			c.count(v, v)
			if c.settle(); c.Result == "" {
				r.prose(v)
			}
		}
	case bool:
		c.Result = outcomeOf(v)
	case json.Number:
		c.Total = atoi(v.String())
	}
}

// set takes a count, or a bool for the result.
func (c *Claim) set(to **int, v any, whenTrue Status) {
	switch v := v.(type) {
	case bool:
		if whenTrue == Met {
			c.Result = outcomeOf(v)
		}
	case []any:
		n := len(v)
		*to = &n
	case json.Number:
		*to = atoi(v.String())
	case string:
		if strings.Trim(v, "0123456789") == "" {
			*to = atoi(v)
		}
	}
}

// outcomeOf reads the result of a run in a word.
func outcomeOf(v any) Status {
	switch strings.ToLower(strings.TrimSpace(text(v))) {
	case "true", "pass", "passed", "passing", "ok", "success", "succeeded", "successful", "green", "clean":
		return Met
	case "false", "fail", "failed", "failing", "failure", "error", "red", "broken":
		return NotMet
	}
	return ""
}

// text returns a JSON string, number, bool or null as text, and a list of them joined by commas. An object has no text.
func text(v any) string {
	switch v := v.(type) {
	case nil, map[string]any:
		return ""
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

// texts returns the texts in a value.
func texts(v any) []string {
	var all []string
	for _, e := range list(v) {
		s := text(e)
		if m, ok := e.(map[string]any); ok {
			var parts []string
			for _, k := range slices.Sorted(maps.Keys(m)) {
				if p := text(m[k]); p != "" {
					parts = append(parts, p)
				}
			}
			s = strings.Join(parts, ": ")
		}
		if s != "" {
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
