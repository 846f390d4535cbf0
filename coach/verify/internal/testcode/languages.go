package testcode

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// What keeps a test from counting.
const (
	skipped         = "skipped"
	expectedFailure = "marked as an expected failure"
	replaced        = "replaced by a later test of the same name"
)

// newTest returns a test by the text before its body, such as a table of cases, and by its body.
func newTest(name, disabled, before, body string) Test {
	t := Test{Name: name, Disabled: disabled, Asserts: len(lex.Asserts.FindAll(body)), Body: digest(before + body)}
	t.Swallows = lex.Swallow.Match(body)
	t.Rows = lex.Rows.Match(before + body)
	t.Hollow = t.Asserts == 0 && !lex.Checks.Match(body)
	return t
}

// firstSkips reports whether the first statement of a body ends the test. The first line holds its declaration.
func firstSkips(body string) bool {
	_, inside, _ := strings.Cut(body, "\n")
	return lex.First.Match(bare(docString.Replace(inside, "")))
}

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
	disabled, decorators, open := "", "", 0 // of what follows; open counts brackets
	offset := 0
	for line := range strings.Lines(text) {
		at := offset
		offset += len(line)
		bare := strings.TrimSpace(line)
		if open > 0 || strings.HasPrefix(bare, "@") {
			decorators += line
			open += strings.Count(line, "(") - strings.Count(line, ")")
			if m := lex.PythonOff.Find(bare); m != nil {
				disabled = expectedFailure
				if strings.HasPrefix(m[1], "skip") {
					disabled = skipped
				}
			}
			continue
		}
		if m := lex.PythonClass.Find(line); m != nil {
			leave(len(m[1]))
			c := class{indent: len(m[1]), name: m[2], disabled: disabled}
			c.runs = strings.HasPrefix(m[2], "Test") || m[3] != "" && strings.TrimSpace(m[3]) != "object"
			classes, disabled, decorators = append(classes, c), "", ""
			continue
		}
		m := lex.PythonDef.Find(line)
		if m == nil {
			if bare != "" && !strings.HasPrefix(bare, "#") {
				disabled, decorators = "", ""
			}
			continue
		}
		leave(len(m[1]))
		name, off, before := m[2], disabled, decorators
		disabled, decorators = "", ""
		if len(classes) > 0 {
			c := classes[len(classes)-1]
			if !c.runs {
				continue
			}
			name, off = c.name+"."+name, cmp.Or(off, c.disabled)
		} else if len(m[1]) > 0 {
			continue // inside a function
		}
		all := block(text[at:])
		if off == "" && firstSkips(all) {
			off = skipped
		}
		_, body, _ := strings.Cut(all, "\n")
		list = append(list, newTest(name, cmp.Or(off, whole), before, body))
	}
	for i, t := range list {
		if slices.ContainsFunc(list[i+1:], func(o Test) bool { return o.Name == t.Name }) {
			list[i].Disabled = cmp.Or(t.Disabled, replaced)
		}
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
	var chosen []int // the tests that alone run
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
		body := arguments(text[m[1]:end])
		t := newTest(sub(5)+sub(6)+sub(7), "", sub(4), body)
		switch mods := sub(3); {
		case sub(1) == "x" || strings.Contains(mods, ".skip"):
			t.Disabled = skipped
		case strings.Contains(mods, ".todo"), strings.Contains(mods, ".fails"), strings.Contains(mods, ".failing"):
			t.Disabled = expectedFailure
		case lex.ScriptOption.Match(body), firstSkips(body):
			t.Disabled = skipped
		case sub(1) == "f" || strings.Contains(mods, ".only"):
			chosen = append(chosen, i)
		}
		if k := sub(2); k == "describe" || k == "suite" || k == "context" {
			t = Test{Name: t.Name, Disabled: t.Disabled} // its tests count for themselves
		}
		t.Rows = t.Rows || sub(4) != "" || strings.Contains(t.Name, "${")
		list = append(list, t)
	}
	for i := range list {
		if len(chosen) > 0 && !slices.Contains(chosen, i) && list[i].Disabled == "" && list[i].Body != 0 {
			list[i].Disabled = "left out, because another test is marked as the only one"
		}
	}
	return list
}

// arguments returns the rest of a call, up to the bracket that closes it. Without one it is the whole text.
func arguments(text string) string {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return text[:i]
		case c == ')':
			depth--
		}
	}
	return text
}

// attributedTests reads functions that an attribute or an annotation makes tests, as in Rust, Java, Kotlin and C#. A
// module of Rust tests with a condition counts as a test.
func attributedTests(name, text string) []Test {
	var list []Test
	var attributes []string
	whole, offset := "", 0
	for line := range strings.Lines(text) {
		at := offset
		offset += len(line)
		bare := strings.TrimSpace(line)
		for m := lex.Attribute.Find(bare); m != nil; m = lex.Attribute.Find(bare) {
			attributes = append(attributes, m[1])
			bare = bare[len(m[0]):]
		}
		if bare == "" || strings.HasPrefix(bare, "//") {
			continue
		}
		disabled, test, panics := "", false, false
		for _, a := range attributes {
			test = test || lex.AttributeTest.Match(a)
			panics = panics || lex.AttributePanics.Match(a)
			if lex.AttributeOff.Match(a) {
				disabled = "ignored"
			}
			if c := lex.RustCfg.Find(a); c != nil && strings.TrimSpace(c[1]) != "test" {
				disabled = "left out by a condition (cfg)"
			}
		}
		before := strings.Join(attributes, "\n")
		attributes = nil
		if disabled != "" && lex.ClassLine.Match(bare) {
			whole = disabled
		}
		m := lex.AttributedFunction.Find(bare)
		switch {
		case m == nil:
		case m[1] == "mod" && path.Ext(name) == ".rs" && strings.Contains(m[2], "test"):
			list = append(list, Test{Name: m[2], Disabled: disabled})
		case test && m[1] != "mod":
			all := block(text[at:])
			if disabled = cmp.Or(disabled, whole); disabled == "" && firstSkips(all) {
				disabled = skipped
			}
			_, body, _ := strings.Cut(all, m[2])
			t := newTest(m[2], disabled, before, body)
			t.Panics = panics
			list = append(list, t)
		}
	}
	return list
}
