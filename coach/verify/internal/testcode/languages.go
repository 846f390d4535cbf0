package testcode

import (
	"cmp"
	"slices"
	"strings"
)

func countAsserts(body string) int { return len(lex.Asserts.Regexp().FindAllString(body, -1)) }

const expectedFailure = "marked as an expected failure"

// pythonTests reads functions and methods whose names begin with "test".
func pythonTests(_, text string) []Test {
	whole := ""
	if lex.PythonWhole.Match(text) {
		whole = "skipped with its whole file"
	}
	var list []Test
	type class struct {
		indent   int
		name     string
		runs     bool
		disabled string
	}
	var classes []class
	leave := func(indent int) {
		for len(classes) > 0 && classes[len(classes)-1].indent >= indent {
			classes = classes[:len(classes)-1]
		}
	}
	disabled := "" // by a decorator of what follows
	offset := 0
	for line := range strings.Lines(text) {
		at := offset
		offset += len(line)
		bare := strings.TrimSpace(line)
		if m := lex.PythonOff.Find(bare); m != nil {
			disabled = expectedFailure
			if strings.HasPrefix(m[1], "skip") {
				disabled = "skipped"
			}
			continue
		}
		if m := lex.PythonClass.Find(line); m != nil {
			leave(len(m[1]))
			c := class{indent: len(m[1]), name: m[2], disabled: disabled}
			c.runs = strings.HasPrefix(m[2], "Test") || m[3] != "" && strings.TrimSpace(m[3]) != "object"
			classes, disabled = append(classes, c), ""
			continue
		}
		m := lex.PythonDef.Find(line)
		if m == nil {
			if bare != "" && !strings.HasPrefix(bare, "@") && !strings.HasPrefix(bare, "#") {
				disabled = ""
			}
			continue
		}
		leave(len(m[1]))
		t := Test{Name: m[2], Disabled: disabled}
		disabled = ""
		if len(classes) > 0 {
			c := classes[len(classes)-1]
			if !c.runs {
				continue
			}
			t.Name = c.name + "." + t.Name
			t.Disabled = cmp.Or(t.Disabled, c.disabled)
		} else if len(m[1]) > 0 {
			continue // inside a function
		}
		_, rest, _ := strings.Cut(block(text[at:]), "\n")
		if t.Disabled == "" && lex.PythonFirst.Match(strings.TrimSpace(rest)) {
			t.Disabled = "skipped"
		}
		t.Disabled = cmp.Or(t.Disabled, whole)
		t.Asserts, t.Body = countAsserts(rest), digest(rest)
		list = append(list, t)
	}
	return list
}

// block returns the first line of a text and the lines below it that are indented further.
func block(text string) string {
	indent, end := -1, 0
	for line := range strings.Lines(text) {
		n := len(line) - len(strings.TrimLeft(line, " \t"))
		switch {
		case indent < 0:
			indent = n
		case strings.TrimSpace(line) != "" && n <= indent && !strings.HasPrefix(strings.TrimSpace(line), ")"):
			return text[:end]
		}
		end += len(line)
	}
	return text[:end]
}

// scriptTests reads calls such as it('…', …). Groups count as tests: a group that is skipped is a finding.
func scriptTests(_, text string) []Test {
	var list []Test
	var chosen []int // the tests that alone are to run
	all := lex.ScriptTest.FindAllIndex(text)
	for i, m := range all {
		sub := func(g int) string {
			if m[2*g] < 0 {
				return ""
			}
			return text[m[2*g]:m[2*g+1]]
		}
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		body := text[m[1]:end]
		t := Test{Name: sub(4) + sub(5) + sub(6), Asserts: countAsserts(body), Body: digest(body)}
		switch mods := sub(3); {
		case sub(1) == "x" || strings.Contains(mods, ".skip"):
			t.Disabled = "skipped"
		case strings.Contains(mods, ".todo"), strings.Contains(mods, ".fails"), strings.Contains(mods, ".failing"):
			t.Disabled = expectedFailure
		case lex.ScriptOption.Match(body), lex.ScriptFirst.Match(body):
			t.Disabled = "skipped"
		case sub(1) == "f" || strings.Contains(mods, ".only"):
			chosen = append(chosen, i)
		}
		if k := sub(2); k == "describe" || k == "suite" || k == "context" {
			t.Asserts, t.Body = 0, 0 // its tests count for themselves
		}
		list = append(list, t)
	}
	for i := range list {
		if len(chosen) > 0 && !slices.Contains(chosen, i) && list[i].Disabled == "" && list[i].Body != 0 {
			list[i].Disabled = "left out, because another test is marked as the only one"
		}
	}
	return list
}

// rustTests reads functions with a test attribute. A module of tests with a condition counts as a test.
func rustTests(_, text string) []Test {
	var list []Test
	var attributes []string
	offset := 0
	for line := range strings.Lines(text) {
		at := offset
		offset += len(line)
		bare := strings.TrimSpace(line)
		for strings.HasPrefix(bare, "#[") {
			attribute, rest, ok := strings.Cut(bare, "]")
			attributes = append(attributes, attribute+"]")
			if bare = strings.TrimSpace(rest); !ok {
				break
			}
		}
		m := lex.RustFn.Find(bare)
		if m == nil {
			if bare != "" && !strings.HasPrefix(bare, "//") {
				attributes = nil
			}
			continue
		}
		t := Test{Name: m[2]}
		test := false
		for _, a := range attributes {
			test = test || lex.RustTest.Match(a)
			t.Panics = t.Panics || strings.HasPrefix(a, "#[should_panic")
			if lex.RustIgnored.Match(a) {
				t.Disabled = "ignored"
			}
			if c := lex.RustCfg.Find(a); c != nil && strings.TrimSpace(c[1]) != "test" {
				t.Disabled = "left out by a condition (cfg)"
			}
		}
		attributes = nil
		if m[1] == "mod" && strings.Contains(m[2], "test") {
			list = append(list, t)
		}
		if !test || m[1] == "mod" {
			continue
		}
		body := block(text[at:])
		_, rest, _ := strings.Cut(body, m[2])
		t.Asserts, t.Body = countAsserts(body), digest(rest)
		list = append(list, t)
	}
	return list
}
