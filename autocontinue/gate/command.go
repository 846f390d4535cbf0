package gate

import (
	_ "embed"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a shell line. The parser recurses, so that 500,000 brackets would overflow its stack.
const (
	maxCommand  = 16 << 10 // bytes
	maxBrackets = 1_000
	maxScripts  = 64 << 10 // bytes of shell lines in arguments of shells
)

// form is what a command may look like: a program and its words.
type form []string

func parseForms(texts []string) ([]form, error) {
	forms := make([]form, len(texts))
	for i, text := range texts {
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			return nil, errors.New("a form is empty: write a program and its words, such as \"git status *\"")
		case strings.Contains(words[0], "*"):
			return nil, errors.New("a form begins with the name of a program, without *")
		case strings.ContainsAny(text, ";|&<>$`\"'\\(){}[]?\n\r") || hides(text):
			return nil, errors.New("a form has plain words and *: write each command of a line as a form of its own")
		}
		forms[i] = words
	}
	return forms, nil
}

// command is one simple command of a shell line.
type command struct {
	words    []word
	plain    bool   // nothing but known words: no assignment, and no redirection that matters
	stdin    bool   // a redirection may feed it
	fed      []word // texts that a redirection feeds it
	assigned []word // values of variables before it
}

// word is one word of a command. If the shell makes a part of it, it is not known, and its text has the other parts.
type word struct {
	text  string
	known bool
}

func commandHolds(forms []form, line string, allow bool) outcome {
	commands, plain, ok := parseLine(line)
	switch {
	case !ok:
		return refused
	case allow:
		fits := func(c command) bool {
			return c.plain && slices.ContainsFunc(forms, func(f form) bool { return f.allows(c) && f.namesOptions(c) })
		}
		return is(plain && len(commands) > 0 && !slices.ContainsFunc(commands, func(c command) bool { return !fits(c) }))
	}
	s := search{forms, maxScripts}
	return is(slices.ContainsFunc(commands, s.finds))
}

// search looks for commands that have, or could have, one of some forms.
type search struct {
	forms []form
	left  int // bytes of arguments that may still be read as shell lines
}

// finds looks at a command and, if it runs another one, at every command that its words could be.
func (s *search) finds(c command) bool {
	all, name := c.words, c.program()
	if s.mentioned(c.assigned) { // PAGER='rm x' man ls
		return true
	}
	if slices.ContainsFunc(all, func(w word) bool { return listed("replacer", programName(w.text)) }) {
		all = markReplaced(all)
	}
	for i := range all {
		if i > 0 && (!runs(name) || !mayBeProgram(all, i)) {
			continue
		}
		c.words = all[i:]
		if slices.ContainsFunc(s.forms, func(f form) bool { return f.matches(c.words) }) || s.findsInside(c) {
			return true
		}
	}
	return false
}

// findsInside looks at the lines that a shell gets, and at the text that another interpreter gets.
func (s *search) findsInside(c command) bool {
	name := c.program()
	switch {
	case listed("interpreter", strings.TrimRight(name, "0123456789.")),
		name == "git" && slices.ContainsFunc(c.words, func(w word) bool { return listed("git-runs", w.text) }):
		return s.mentioned(slices.Concat(c.words[1:], c.fed))
	case name == "xargs" || name == "parallel":
		return runs(command{words: c.words[len(c.words)-1:]}.program()) // it gets its arguments from elsewhere
	case !listed("shell", name):
		return false
	case name != "env" && c.readsElsewhere():
		return true
	}
	for _, script := range c.scripts() {
		if s.left -= len(script) + 1; s.left < 0 {
			return true
		}
		if inner, _, ok := parseLine(script); !ok || slices.ContainsFunc(inner, s.finds) {
			return true
		}
	}
	return false
}

// mentioned reports whether some texts have the words of a form, in any order.
func (s *search) mentioned(texts []word) bool {
	inName := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r) }
	var names []string
	for _, w := range texts {
		names = append(names, strings.FieldsFunc(fold(w.text), func(r rune) bool { return !inName(r) })...)
	}
	lacks := func(want string) bool {
		return !strings.Contains(want, "*") && !slices.Contains(names, programName(want))
	}
	return slices.ContainsFunc(s.forms, func(f form) bool { return !slices.ContainsFunc(f, lacks) })
}

//go:embed words.txt
var wordsText string

// lists has the lists of words.txt by their names.
var lists = sync.OnceValue(func() map[string][]string {
	lists := make(map[string][]string)
	for line := range strings.Lines(wordsText) {
		if name, words, ok := strings.Cut(line, ": "); ok {
			lists[name] = append(lists[name], strings.Fields(words)...)
		}
	}
	return lists
})

func listed(list, word string) bool { return slices.Contains(lists()[list], word) }

// runs reports whether a program runs the command that follows it.
func runs(program string) bool { return listed("runner", program) || listed("shell", program) }

func programName(text string) string {
	name := fold(text[strings.LastIndexAny(text, `/\`)+1:])
	for _, ending := range []string{".exe", ".com", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// program returns the name of the program; empty if it is not known.
func (c command) program() string {
	if len(c.words) == 0 || !c.words[0].known {
		return ""
	}
	return programName(c.words[0].text)
}

func (w word) isOption() bool { return w.known && strings.HasPrefix(w.text, "-") }

// readsElsewhere reports whether a shell may read its commands from its input, or in a form that cannot be read here.
func (c command) readsElsewhere() bool {
	arguments, name := false, c.program()
	isShell := strings.HasSuffix(name, "sh") || name == "su" || name == "powershell"
	for _, w := range c.words[1:] {
		switch {
		case strings.HasPrefix(w.text, "/dev/") || strings.HasPrefix(w.text, "/proc/"), w.text == "-" && isShell:
			return true
		case !w.isOption():
			arguments = true
		case isShell && !strings.HasPrefix(w.text, "--") && strings.Contains(w.text, "s"): // -s, as in bash -s
			return true
		case (name == "pwsh" || name == "powershell") && strings.HasPrefix(fold(w.text), "-e"): // -EncodedCommand
			return true
		}
	}
	return c.stdin || !arguments
}

// markReplaced returns the words of a program that replaces some of them, such as xargs -I. These are not known then.
func markReplaced(words []word) []word {
	words, placeholders := slices.Clone(words), []string{"{}"}
	for i := 1; i < len(words); i++ {
		w, before := &words[i], words[i-1].text
		for _, option := range []string{"-I", "-J", "--replace="} {
			if placeholder, ok := strings.CutPrefix(w.text, option); ok && placeholder != "" {
				placeholders = append(placeholders, placeholder)
			}
		}
		isPlaceholder := func(placeholder string) bool { return strings.Contains(w.text, placeholder) }
		if before == "-I" || before == "-J" {
			placeholders = append(placeholders, w.text)
		} else if !w.isOption() && slices.ContainsFunc(placeholders, isPlaceholder) {
			w.known = false
		}
	}
	return words
}

// mayBeProgram reports whether the word at i may be the program that a runner runs, rather than an argument of one.
func mayBeProgram(words []word, i int) bool {
	before := words[i-1]
	name := command{words: words[i-1 : i]}.program()
	switch {
	case words[i].known:
		return words[i].text != "." || name == "command" || name == "builtin"
	case !before.known || runs(name) || strings.Contains(before.text, "="):
		return true
	case (command{words: words}).program() == "find":
		return strings.HasPrefix(before.text, "-exec") || strings.HasPrefix(before.text, "-ok")
	}
	return i <= 2 || before.isOption() || words[i-2].isOption()
}

// scripts returns the texts that a shell may read as shell lines: each argument, and each with those that follow.
func (c command) scripts() []string {
	texts := make([]string, len(c.words)-1)
	for i, w := range c.words[1:] {
		texts[i] = w.text
		if !w.known {
			texts[i] = `"$unknown"`
		}
		if cut := map[string]string{"alias": "=", "env": "S"}[c.program()]; cut != "" && w.known {
			if _, rest, ok := strings.Cut(w.text, cut); ok && (cut == "=" || w.isOption()) {
				texts[i] = rest // alias a=line, env -Sline
			}
		}
	}
	scripts := texts
	for i := range len(texts) - 1 {
		scripts = append(scripts, strings.Join(texts[i:], " "))
	}
	return scripts
}

// allows reports whether a command surely has the form.
func (f form) allows(c command) bool {
	for i, want := range f {
		rest := strings.HasSuffix(want, "*") && i == len(f)-1
		if i == len(c.words) {
			return rest && want == "*"
		}
		text := c.words[i].text
		if want == "*" && i == 1 && strings.HasPrefix(text, "-") || !matchWildcard(want, text) {
			return false
		}
		if rest {
			return true
		}
	}
	return len(c.words) == len(f)
}

// namesOptions reports whether the form names, each in its place, the options of a command that words.txt lists.
func (f form) namesOptions(c command) bool {
	var options []string
	for _, w := range c.words { // any word may be a program, or a command of git
		options = append(options, lists()["options "+programName(w.text)]...)
	}
	slices.Sort(options)
	options = slices.Compact(options)
	for i, w := range c.words {
		text, named := w.text, ""
		if i < len(f) {
			named = f[i]
		}
		if i > 0 && programName(c.words[i-1].text) == "tar" && !strings.HasPrefix(text, "-") {
			text, named = "-"+text, "-"+named // tar xf is tar -xf
		}
		for _, option := range options {
			if hasOption(text, option) && !hasOption(named, option) {
				return false
			}
		}
	}
	return true
}

// hasOption reports whether a word has an option, which is written as in words.txt.
func hasOption(text, option string) bool {
	name, _, _ := strings.Cut(text, "=")
	double := strings.HasPrefix(name, "--")
	switch {
	case !strings.HasPrefix(name, "-"):
		return false
	case strings.HasPrefix(option, "--"):
		return double && len(name) > 2 && strings.HasPrefix(option, name)
	case strings.HasPrefix(option, "-"):
		return name == option || name == "-"+option
	}
	return !double && strings.Contains(name, option)
}

// matches reports whether words could have the form, whatever the case, the folder of the program, and the options.
func (f form) matches(words []word) bool {
	if !words[0].known {
		return true
	}
	if programName(f[0]) != programName(words[0].text) {
		return false
	}
	last := len(f) - 1
	at := make([]bool, len(f)+1) // how many words of the form the words so far may be
	at[1] = true
	for i, w := range words[1:] {
		next := make([]bool, len(f)+1)
		for n := 1; n <= len(f); n++ {
			switch {
			case !at[n]:
			case !w.known: // the shell may make anything of it, or nothing
				return true
			case n <= last:
				next[n] = next[n] || w.isOption() || words[i].isOption() && i > 0
				if matchWildcard(fold(f[n]), fold(w.text)) {
					if n == last && strings.HasSuffix(f[n], "*") {
						return true
					}
					next[n+1] = true
				}
			}
		}
		at = next
	}
	return at[len(f)] || last > 0 && at[last] && f[last] == "*"
}

// parseLine returns the commands of a shell line, also those in substitutions and functions. plain is false if the
// line has more than commands that follow each other: loops, functions and the like. ok is false for a line that is too
// long, nested too deep, or no shell line.
func parseLine(line string) (commands []command, plain, ok bool) {
	brackets := 0
	for _, bracket := range "({[`" {
		brackets += strings.Count(line, string(bracket))
	}
	if len(line) > maxCommand || brackets > maxBrackets || strings.IndexByte(line, 0) >= 0 {
		return nil, false, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false, false
	}
	plain = true
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			c := command{plain: true}
			for _, r := range n.Redirs {
				w := wordOf(r.Word)
				number := w.known && (w.text == "-" || strings.Trim(w.text, "0123456789") == "")
				harmless := w.known && w.text == "/dev/null" || number && (r.Op == syntax.DplIn || r.Op == syntax.DplOut)
				c.plain = c.plain && harmless
				if r.Hdoc != nil {
					c.fed = append(c.fed, wordOf(r.Hdoc))
				} else if r.Op == syntax.WordHdoc {
					c.fed = append(c.fed, w)
				}
				c.stdin = c.stdin || slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc,
					syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn}, r.Op)
			}
			call, ok := n.Cmd.(*syntax.CallExpr)
			if !ok {
				plain = plain && c.plain && n.Cmd != nil
				break
			}
			c.plain = c.plain && len(call.Assigns) == 0 && !n.Coprocess
			for _, a := range call.Assigns {
				c.assigned = append(c.assigned, wordOf(a.Value))
			}
			for _, arg := range call.Args {
				w := wordOf(arg)
				c.words, c.plain = append(c.words, w), c.plain && w.known
			}
			commands = append(commands, c)
		case *syntax.File, *syntax.CallExpr, *syntax.Subshell, *syntax.Block, *syntax.BinaryCmd, *syntax.Comment:
		case syntax.Command:
			plain = false
		}
		return true
	})
	return commands, plain, true
}

func wordOf(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	var b strings.Builder
	known := true
	write := func(lit string, escape *regexp.Regexp) {
		b.WriteString(escape.ReplaceAllStringFunc(lit, func(s string) string { return strings.Trim(s[1:], "\n") }))
	}
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			write(part.Value, escaped)
			made := strings.ContainsAny(strings.TrimSuffix(escaped.ReplaceAllString(part.Value, ""), "{}"), "*?[{")
			known = known && !made && (i > 0 || strings.TrimLeft(part.Value, "~=") == part.Value)
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
			known = known && !part.Dollar
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if known = known && ok && !part.Dollar; ok {
					write(lit.Value, escapedInQuotes)
				}
			}
		default:
			known = false
		}
	}
	return word{b.String(), known}
}

var (
	escaped         = regexp.MustCompile(`(?s)\\.`)
	escapedInQuotes = regexp.MustCompile("\\\\[$`\"\\\\\n]")
)
