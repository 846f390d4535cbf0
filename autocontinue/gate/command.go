package gate

import (
	"errors"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a shell line. The parser recurses, so that 500,000 brackets would overflow its stack.
const (
	maxCommand  = 16 << 10 // bytes
	maxBrackets = 1_000
	maxNested   = 4        // shell lines in arguments of shells
	maxScripts  = 16 << 10 // bytes of them
)

// form is what a command may look like: a program and its words.
type form []string

func parseForms(arg value) ([]form, error) {
	texts, err := arg.strings()
	if err != nil {
		return nil, err
	}
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
	words []word
	plain bool // nothing but known words: no assignment, and no redirection that matters
	stdin bool // a redirection may feed it
}

// word is one word of a command. Its text is unknown if the shell makes it: from a variable, a substitution, a
// wildcard.
type word struct {
	text  string
	known bool
}

// commandHolds tests a shell line. See [ParsePolicy].
func commandHolds(forms []form, line string, allow bool) outcome {
	commands, plain, err := parseLine(line)
	switch {
	case err != nil:
		return refused
	case allow:
		fits := func(c command) bool {
			return c.plain && slices.ContainsFunc(forms, func(f form) bool { return f.allows(c) })
		}
		return is(plain && len(commands) > 0 && !slices.ContainsFunc(commands, func(c command) bool { return !fits(c) }))
	}
	l := lookout{forms, maxScripts}
	return l.any(commands, maxNested)
}

// lookout looks for commands that have, or could have, one of some forms.
type lookout struct {
	forms []form
	left  int // bytes of arguments that may still be read as shell lines
}

func (l *lookout) any(commands []command, nested int) outcome {
	result := no
	for _, c := range commands {
		wrapped := wrappers[c.program()] // then the rest of its words may be a command too
		for first := true; len(c.words) > 0 && (first || wrapped); c.words, first = c.words[1:], false {
			o := l.has(c, nested)
			if o == yes {
				return yes
			}
			result = max(result, o)
		}
	}
	return result
}

// has looks at one command and, if it is a shell, at the commands that it runs.
func (l *lookout) has(c command, nested int) outcome {
	result := no
	for _, f := range l.forms {
		if o := f.matches(c.words); o == yes {
			return yes
		} else if o == unclear {
			result = unclear
		}
	}
	if !shells[c.program()] {
		return result
	}
	isOption := func(w word) bool { return w.known && strings.HasPrefix(w.text, "-") }
	if c.stdin || nested == 0 || !slices.ContainsFunc(c.words[1:], func(w word) bool { return !isOption(w) }) {
		return unclear // the shell reads its commands from elsewhere
	}
	for _, script := range c.scripts() {
		if l.left -= len(script) + 1; l.left < 0 {
			return unclear
		}
		inner, _, err := parseLine(script)
		if err != nil {
			result = unclear
		} else if o := l.any(inner, nested-1); o == yes {
			return yes
		} else if o == unclear {
			result = unclear
		}
	}
	return result
}

// Programs that run what their arguments name, and programs that read an argument as a shell line.
var (
	wrappers = setOf("sudo", "doas", "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "time", "timeout",
		"xargs", "setsid", "stdbuf", "chroot", "find", "parallel", "busybox", "unshare", "strace")
	shells = setOf("sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "trap", "su", "ssh", "watch", "alias")
)

func setOf(names ...string) map[string]bool {
	set := make(map[string]bool)
	for _, name := range names {
		set[name] = true
	}
	return set
}

// program returns the name of the program without its folder; empty if it is not known.
func (c command) program() string {
	if len(c.words) == 0 || !c.words[0].known {
		return ""
	}
	return fold(path.Base(c.words[0].text))
}

// scripts returns the arguments that a shell may read as shell lines: each one, and all together as eval reads them.
func (c command) scripts() []string {
	var texts []string
	for _, w := range c.words[1:] {
		text := w.text
		if !w.known {
			text = `"$unknown"`
		}
		if _, definition, ok := strings.Cut(text, "="); ok && c.program() == "alias" {
			text = definition
		}
		texts = append(texts, text)
	}
	return append(texts, strings.Join(texts, " "))
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

// matches reports whether words have the form, or could have it. It ignores case, and the folder of the program.
func (f form) matches(words []word) outcome {
	for i, want := range f {
		rest := strings.HasSuffix(want, "*") && i == len(f)-1
		switch {
		case i == len(words):
			return is(rest && want == "*")
		case !words[i].known:
			return unclear
		}
		text := fold(words[i].text)
		if i == 0 && !strings.Contains(want, "/") {
			text = path.Base(text)
		}
		if !matchWildcard(fold(want), text) {
			return no
		}
		if rest {
			return yes
		}
	}
	if len(words) > len(f) && !words[len(f)].known {
		return unclear // the shell may make nothing of that word
	}
	return is(len(words) == len(f))
}

var errCommand = errors.New("it is too long or nested too deep for a shell line")

// parseLine returns the commands of a shell line, also those in substitutions and functions. plain is false if the
// line has more than commands that follow each other: loops, functions and the like.
func parseLine(line string) (commands []command, plain bool, err error) {
	brackets := 0
	for i := range len(line) {
		if strings.IndexByte("({[`", line[i]) >= 0 {
			brackets++
		}
	}
	if len(line) > maxCommand || brackets > maxBrackets || strings.IndexByte(line, 0) >= 0 {
		return nil, false, errCommand
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false, err
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
				c.stdin = c.stdin || slices.Contains([]syntax.RedirOperator{syntax.RdrIn, syntax.RdrInOut, syntax.Hdoc,
					syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn}, r.Op)
			}
			call, ok := n.Cmd.(*syntax.CallExpr)
			if !ok {
				plain = plain && c.plain && n.Cmd != nil
				break
			}
			c.plain = c.plain && len(call.Assigns) == 0 && !n.Coprocess
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
	return commands, plain, nil
}

// wordOf returns the text of a word as the program gets it.
func wordOf(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, ok := unescape(part.Value, "", "*?[{")
			if !ok || i == 0 && part.Value != "" && strings.IndexByte("~=", part.Value[0]) >= 0 {
				return word{}
			}
			b.WriteString(text)
		case *syntax.SglQuoted:
			if part.Dollar {
				return word{}
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok || part.Dollar {
					return word{}
				}
				text, _ := unescape(lit.Value, "$`\"\\\n", "")
				b.WriteString(text)
			}
		default:
			return word{}
		}
	}
	return word{b.String(), true}
}

// unescape removes the backslashes before the given characters, or before every character if there are none given. It
// reports false for a character of special without a backslash.
func unescape(s, escapable, special string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && (escapable == "" || strings.IndexByte(escapable, s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case strings.IndexByte(special, s[i]) >= 0:
			return "", false
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), true
}
