package hook

import "strings"

// How much of what a shell was told is read.
const (
	maxScript   = 64 << 10 // bytes
	maxCommands = 1000
)

// shellCommand is one simple command of a script.
type shellCommand struct {
	words  []string
	writes []string // files it is redirected to
	input  string   // its here-document
	op     string   // what connects it with the next: ";", "&&", "||", "|", "&", or "" at the end
}

// shellScript is what a shell was told, as far as it matters here: the commands in their order. Groups and subshells are
// opened up, and what stands in a substitution is not looked at.
type shellScript struct {
	commands []shellCommand
	control  bool // it has conditions or loops, so that a command may not have run, or its status may not be the script's
	errexit  bool // set -e
	pipefail bool
}

// lexer reads a script in the way of a POSIX shell.
type lexer struct {
	s   string
	i   int
	cmd shellCommand
	out shellScript

	here []*heredoc // announced in this line, their text follows it
}

type heredoc struct {
	end  string
	tabs bool // leading tabs do not count
	of   int  // index of the command
}

func parseShell(script string) shellScript {
	l := lexer{s: clip(script, maxScript)}
	for l.i < len(l.s) && len(l.out.commands) < maxCommands {
		l.step()
	}
	l.finish("")
	return l.out
}

func (l *lexer) peek(s string) bool { return strings.HasPrefix(l.s[l.i:], s) }

func (l *lexer) step() {
	switch c := l.s[l.i]; {
	case c == ' ' || c == '\t' || c == '\r' || c == '(' || c == ')':
		l.i++
	case c == '\n':
		l.i++
		l.finish(";")
		l.heredocs()
	case c == '#':
		if n := strings.IndexByte(l.s[l.i:], '\n'); n >= 0 {
			l.i += n
		} else {
			l.i = len(l.s)
		}
	case l.peek("\\\n"):
		l.i += 2
	case l.peek("&&"), l.peek("||"):
		l.i += 2
		l.finish(l.s[l.i-2 : l.i])
	case l.peek("&>"):
		l.i++
		l.redirect()
	case l.peek("|&"):
		l.i += 2
		l.finish("|")
	case c == ';', c == '|', c == '&':
		l.i++
		if c == ';' {
			for l.i < len(l.s) && l.s[l.i] == ';' {
				l.i++
			}
		}
		l.finish(string(c))
	case c == '>' || c == '<':
		l.redirect()
	default:
		l.word()
	}
}

// finish ends the command at hand; op is what follows it.
func (l *lexer) finish(op string) {
	if len(l.cmd.words) == 0 && len(l.cmd.writes) == 0 {
		if n := len(l.out.commands); n > 0 && op != ";" && op != "" {
			l.out.commands[n-1].op = op // "{ a; } || b"
		}
		return
	}
	l.cmd.op = op
	l.out.commands = append(l.out.commands, l.cmd)
	l.cmd = shellCommand{}
}

// word reads a word of the command at hand.
func (l *lexer) word() {
	digits := l.i
	for digits < len(l.s) && '0' <= l.s[digits] && l.s[digits] <= '9' {
		digits++
	}
	if digits > l.i && digits < len(l.s) && (l.s[digits] == '>' || l.s[digits] == '<') {
		l.i = digits // "2>file"
		l.redirect()
		return
	}
	w, quoted := l.readWord()
	if len(l.cmd.words) > 0 || quoted || !reserved[w] {
		l.cmd.words = append(l.cmd.words, w)
		if l.cmd.words[0] == "set" {
			l.option(w)
		}
		return
	}
	if w == "{" || w == "}" {
		return
	}
	l.out.control = true
	if w == "for" || w == "case" || w == "select" || w == "function" {
		for l.i < len(l.s) && l.s[l.i] != '\n' && l.s[l.i] != ';' { // what it goes over is no command
			if w, _ := l.readWord(); w == "" {
				l.i++
			}
		}
	}
}

var reserved = map[string]bool{
	"{": true, "}": true, "if": true, "then": true, "elif": true, "else": true, "fi": true, "while": true, "until": true,
	"do": true, "done": true, "case": true, "esac": true, "for": true, "select": true, "function": true,
}

// option takes "set -euo pipefail" into account.
func (l *lexer) option(w string) {
	last := ""
	if n := len(l.cmd.words); n > 1 {
		last = l.cmd.words[n-2]
	}
	switch {
	case w == "pipefail" && strings.HasPrefix(last, "-"):
		l.out.pipefail = true
	case w == "errexit" && strings.HasPrefix(last, "-"):
		l.out.errexit = true
	case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "e"):
		l.out.errexit = true
	}
}

// readWord reads a word, without its quotes.
func (l *lexer) readWord() (w string, quoted bool) {
	var b strings.Builder
	for l.i < len(l.s) {
		c := l.s[l.i]
		switch {
		case strings.IndexByte(" \t\r\n;|&()<>", c) >= 0:
			return b.String(), quoted
		case c == '\\':
			if l.i+1 < len(l.s) && l.s[l.i+1] != '\n' {
				b.WriteByte(l.s[l.i+1])
			}
			l.i = min(l.i+2, len(l.s))
		case c == '\'':
			quoted = true
			in, _, _ := strings.Cut(l.s[l.i+1:], "'")
			b.WriteString(in)
			l.i = min(l.i+len(in)+2, len(l.s))
		case c == '"':
			quoted = true
			l.double(&b)
		case c == '`':
			b.WriteString("$()")
			if end := strings.IndexByte(l.s[l.i+1:], '`'); end >= 0 {
				l.i += end + 2
			} else {
				l.i = len(l.s)
			}
		case c == '$' && l.peek("$("):
			b.WriteString("$()")
			l.i = l.balanced(l.i + 1)
		case c == '$' && l.peek("${"):
			in, _, _ := strings.Cut(l.s[l.i:], "}")
			b.WriteString(in + "}")
			l.i = min(l.i+len(in)+1, len(l.s))
		default:
			b.WriteByte(c)
			l.i++
		}
	}
	return b.String(), quoted
}

// double reads what stands in double quotes.
func (l *lexer) double(b *strings.Builder) {
	for l.i++; l.i < len(l.s); {
		switch c := l.s[l.i]; {
		case c == '"':
			l.i++
			return
		case c == '\\' && l.i+1 < len(l.s):
			if l.s[l.i+1] != '\n' {
				b.WriteByte(l.s[l.i+1])
			}
			l.i += 2
		case c == '$' && l.peek("$("):
			b.WriteString("$()")
			l.i = l.balanced(l.i + 1)
		default:
			b.WriteByte(c)
			l.i++
		}
	}
}

// balanced returns the index after the parenthesis that closes the one at i.
func (l *lexer) balanced(i int) int {
	depth := 0
	for i < len(l.s) {
		switch l.s[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\\':
			i++
		case '\'':
			if n := strings.IndexByte(l.s[i+1:], '\''); n >= 0 {
				i += n + 1
			}
		}
		i++
	}
	return len(l.s)
}

// redirect reads ">file", ">>file", ">&1", "<file", "<<END" and "<<<word".
func (l *lexer) redirect() {
	op := l.i
	for l.i < len(l.s) && strings.IndexByte("<>&|", l.s[l.i]) >= 0 && l.i-op < 3 {
		l.i++
	}
	kind := l.s[op:l.i]
	tabs := false
	if kind == "<<" && l.i < len(l.s) && l.s[l.i] == '-' {
		tabs = true
		l.i++
	}
	for l.i < len(l.s) && (l.s[l.i] == ' ' || l.s[l.i] == '\t') {
		l.i++
	}
	before := l.i
	target, _ := l.readWord()
	if l.i == before {
		return
	}
	switch {
	case kind == "<<":
		l.here = append(l.here, &heredoc{end: target, tabs: tabs, of: len(l.out.commands)})
	case kind == ">" || kind == ">>" || kind == ">|":
		l.cmd.writes = append(l.cmd.writes, target)
	}
}

// heredocs reads the text of the here-documents that the line before announced.
func (l *lexer) heredocs() {
	for _, h := range l.here {
		var b strings.Builder
		for l.i < len(l.s) {
			line, rest, _ := strings.Cut(l.s[l.i:], "\n")
			l.i = len(l.s) - len(rest)
			if t := strings.TrimRight(line, "\r"); t == h.end || h.tabs && strings.TrimLeft(t, "\t") == h.end {
				break
			}
			b.WriteString(line)
			b.WriteByte('\n')
		}
		if h.of < len(l.out.commands) {
			l.out.commands[h.of].input = b.String()
		}
	}
	l.here = nil
}
