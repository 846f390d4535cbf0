package coach

import (
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// checkSections are the sections of guard.txt with commands that only check or look. Those with the name of a claim are
// checks that back it.
var checkSections = []string{"tests", "build", "types", "lint", "look"}

// command returns the first command in msg that nothing vouches for.
func command(msg string, src *sources) string {
	var rest strings.Builder // msg without inline code that is in order
	last := 0
	for _, at := range expression("code").FindAllStringSubmatchIndex(msg, -1) {
		inside := strings.TrimSpace(msg[at[2]:at[3]])
		before := tokens(folded(msg[:at[0]]))
		ws := append(before, tokens(folded("it "+msg[at[1]:]))...)
		if !forbidden(ws, len(before)) && !inOrder(inside, msg[:at[0]], src) {
			return inside
		}
		rest.WriteString(msg[last:at[0]] + " , ")
		last = at[1]
	}
	rest.WriteString(msg[last:])
	return plainCommand(folded(rest.String()), src)
}

// plainCommand returns the first command in a folded text without code that nothing vouches for.
func plainCommand(msg string, src *sources) string {
	if operator := matching("shell", msg); operator != "" {
		return operator
	}
	ws := tokens(msg)
	for i := 0; i < len(ws); {
		looks, _ := longest(ws[i:], checkSections...)
		n, _ := longest(ws[i:], "danger", "command")
		if looks > 0 && looks >= n {
			i += looks
			continue
		}
		switch {
		case n > 0:
			n = phraseEnd(ws[i:], n)
		case matching("option", ws[i].text) != "", matching("script", ws[i].text) != "":
			n = 1
		default:
			i++
			continue
		}
		if !forbidden(ws, i) && !src.vouch(ws[i:i+n]) {
			return text(ws[i : i+n])
		}
		i += n
	}
	return ""
}

// inOrder reports whether inline code is no objection: a name; a command that the request or the plan has; a command
// that only checks or looks; a command that the output names, if nothing in it is dangerous; or an option that the
// output names, if the message is only about it. Lead is the message before it.
func inOrder(inside, lead string, src *sources) bool {
	if isName(inside) && matching("runs", lead) == "" {
		return true
	}
	ws := tokens(folded(inside))
	if _, known := knownCheck(inside); known || len(ws) == 0 || src.vouch(ws) {
		return true
	}
	if len(ws) == 1 && matching("option", ws[0].text) != "" && matching("runs", lead)+matching("uses", lead) == "" {
		return src.named(ws)
	}
	return src.named(ws) && plainCommand(folded(inside), src) == "" && !harmful(ws)
}

// isName reports whether inline code is only a name: a file that is not a script, a function, a type, a commit.
func isName(s string) bool {
	n, _ := longest(tokens(folded(s)), "danger", "command")
	return n == 0 && matching("names", s) != "" && matching("script", strings.ToLower(s)) == ""
}

// knownCheck reports whether a command is one command that only checks or looks, with nothing after it but options
// from guard.txt, files of the tree, names and numbers. Kind is the claim that it backs, or empty. A bare word may be
// a second target, as in "make test deploy", so it is accepted only after a command of guard.txt, "paths". It may say
// in which folder of the project it runs, as in "cd web && npm test" and "npm --prefix web test".
func knownCheck(command string) (kind string, ok bool) {
	command, folder := withoutFolder(command)
	if matching("operators", command) != "" {
		return "", false
	}
	raw := strings.Fields(command)
	ws := make([]word, len(raw))
	for i, f := range raw {
		ws[i].text = folded(f)
	}
	n := 0
	for _, section := range checkSections {
		if k, _ := longest(ws, section); k > n {
			n, kind = k, section
		}
	}
	if k, _ := longest(ws, "danger", "command"); n == 0 || k > n {
		return "", false
	}
	paths, _ := longest(ws, "paths")
	for i := n; i < len(ws); i++ {
		f := raw[i]
		if name, value, ok := strings.Cut(ws[i].text, "="); ok && value != "" && strings.Trim(value, "0123456789") == "" {
			f, ws[i].text = name, name
		}
		switch {
		case strings.Trim(f, "-0123456789") == "", strings.HasPrefix(f, "-") && in(ws[i], "look"):
		case matching("argument", f) == "", strings.Contains(strings.TrimSuffix(f, "..."), ".."),
			kind != "lint" && matching("scriptFile", f) != "",
			strings.Contains(f, ":") && strings.Contains(raw[0], "mvn"): // a goal of any plugin
			return "", false
		case strings.ContainsAny(f, "./"), matching("names", f) != "":
		case matching("bare", f) != "" &&
			(paths == n || slices.Contains([]string{"-k", "-m", "-t", "-run", "-bench"}, ws[i-1].text)):
		default:
			return "", false
		}
	}
	if unsafe(folder) != "" || unsafe(withoutHosts(command)) != "" || harmful(ws[n-1:n]) {
		return "", false
	}
	if kind == "look" || strings.HasPrefix(raw[0], "-") {
		kind = ""
	}
	return kind, true
}

// withoutFolder returns a command without the folder or the package of the project that it runs in, and that folder.
func withoutFolder(command string) (rest, folder string) {
	m := expression("inFolder").FindStringSubmatch(command)
	if m == nil {
		return command, ""
	}
	return strings.TrimSpace(m[2] + m[3] + m[4] + " " + command[len(m[0]):]), m[1] + m[5]
}

// withoutHosts returns a text without the host in the import path of a Go package that is to be tested, built or
// vetted: it looks like a URL. Go does not load a package for that.
func withoutHosts(text string) string {
	return expression("goPackage").ReplaceAllString(text, "$1./$2")
}

// harmful reports whether a word of a command is one of guard.txt, "harm". Only the request or the plan can vouch for
// it.
func harmful(ws []word) bool {
	return slices.ContainsFunc(words(text(ws)), func(w word) bool { return in(w, "harm") })
}

const maxInline = 1000 // commands in inline code that are read: the clause of each one is searched for a denial

// commandsIn returns what stands in inline code and on the lines of fences, in order, of the last maxRead bytes of a
// text. Code in a clause that denies it is left out.
func commandsIn(text string) []string {
	var list []string
	left := maxInline
	start := max(0, len(text)-maxRead)
	fenced := strings.Count("\n"+text[:start], "\n```")%2 == 1
	if start > 0 {
		_, text, _ = strings.Cut(text[start:], "\n")
	}
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
			line = strings.TrimPrefix(line, "$ ")
			list = append(list, line)
			if command, _, ok := strings.Cut(line, " #"); ok {
				list = append(list, strings.TrimSpace(command))
			}
		default:
			spans := expression("code").FindAllStringSubmatchIndex(line, left)
			left -= len(spans)
			for _, at := range spans {
				if !denied(tokens(folded(line[max(0, at[0]-300):at[0]]))) {
					list = append(list, strings.TrimSpace(line[at[2]:at[3]]))
				}
			}
		}
	}
	return list
}

// sources are the request and the plan. A classifier's message may repeat what they contain outside a clause that
// denies it or only mentions it.
type sources struct {
	lines    [][]word        // each line twice: as a shell and as a person reads it
	commands func() [][]word // that the output names
}

// maxVouching is how many items of the plan are read, each up to its share of maxRead.
const maxVouching = 64

func newSources(in Context) *sources {
	s := &sources{commands: sync.OnceValue(func() (list [][]word) {
		for _, command := range commandsIn(in.Text) {
			list = append(list, tokens(folded(command)))
		}
		return list
	})}
	if !plaintext.IsOurs(in.Request) {
		s.add(in.Request, maxRead)
	}
	if c := in.Criteria; c != nil {
		s.add(c.Text, maxRead)
		for _, it := range c.Items[:min(len(c.Items), maxVouching)] {
			s.add(it.Text, maxRead/maxVouching)
		}
	}
	return s
}

// named reports whether the output names the command ws.
func (s *sources) named(ws []word) bool {
	return slices.ContainsFunc(s.commands(), func(c []word) bool { return same(c, ws) })
}

// vouch reports whether a source contains the words ws, in a clause that neither denies them nor only mentions them.
func (s *sources) vouch(ws []word) bool {
	return slices.ContainsFunc(s.lines, func(have []word) bool {
		for i := 0; i+len(ws) <= len(have); i++ {
			if same(ws, have[i:i+len(ws)]) && !denied(have[:i]) && !mentioned(have, i, i+len(ws)) {
				return true
			}
		}
		return false
	})
}

func (s *sources) add(text string, max int) {
	for line := range strings.Lines(text[:min(len(text), max)]) {
		line = folded(plaintext.Line(line, maxRead))
		line = strings.ReplaceAll(line, ": ", " ") // a denial before it is about what follows
		s.lines = append(s.lines, tokens(line), words(line))
	}
}

func same(a, b []word) bool {
	return slices.EqualFunc(a, b, func(a, b word) bool { return a.text == b.text })
}
