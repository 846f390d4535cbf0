package coach

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

//go:embed guard.txt
var guardText string

// guard returns guard.txt, by its sections. This and the other tables of the guard are made when a message is guarded for
// the first time, which most programs never do.
var guard = sync.OnceValue(func() map[string][]pattern {
	g := make(map[string][]pattern)
	section := ""
	for line := range strings.Lines(guardText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' {
			section = strings.Trim(line, "[]")
			continue
		}
		line, object := strings.CutSuffix(line, " …")
		p := pattern{object: object}
		for _, w := range strings.Fields(line) {
			p.words = append(p.words, strings.Split(w, "|"))
		}
		g[section] = append(g[section], p)
	}
	return g
})

// pattern is one line of guard.txt.
type pattern struct {
	words  [][]string // the alternatives for each word
	object bool       // what follows belongs to it
}

// objection says why a classifier's message, already cleaned, can't be used; "" when it can.
func objection(msg string, in Context) string {
	src := &sources{in: in}
	for _, check := range []struct {
		what string
		find func(string, *sources) string
	}{{"a URL", url}, {"a command", command}, {"permission wording", permission}} {
		if found := check.find(msg, src); found != "" {
			return "it carries " + check.what + `: "` + quotable(found, maxQuote) + `"`
		}
	}
	return ""
}

var (
	urls = compiled(`[a-z][a-z0-9+.-]*://\S+` +
		`|\b(?:mailto|javascript|data):\S+` +
		`|\bwww\.\S+` +
		`|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|ai|xyz|ru|cn)\b(?:[:/?#]\S*)?` +
		`|\b(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?/\S*` +
		`|\b\d{1,3}(?:\.\d{1,3}){3}\b(?:[:/]\S*)?`)
	code   = compiled("`+([^`]+)`+")
	before = compiled(`(?i)\b(?:run|rerun|execute|invoke|launch|start|call|type|enter)\W*$`)
	names  = compiled(`^(?:\w[\w-]*/)*\w[\w-]*(?:\.[\w-]+)+$|^[\w.]+\(\)$|^\w*[a-z]\w*[A-Z]\w*$|^[A-Z]\w*$|^[0-9a-f]{7,40}$`)
	script = compiled(`^(?:\./[^.]*[^./]|~/.*|.*\.(?:sh|bash|zsh|ps1|bat|cmd|exe))$`)
	option = compiled(`^--?[a-z][\w-]*(?:=.*)?$`)
	shell  = compiled(`\$[({]|\$[a-z_]\w*|&&|\|\||\s\|\s|>>|\s\d?>&?[a-z./]`)
)

// compiled returns a function that compiles expr when it is first called.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// url returns the first URL in msg that nothing vouches for.
func url(msg string, src *sources) string {
	for _, u := range urls().FindAllString(folded(msg), -1) {
		if u = trimURL(u); !src.haveURL(u) {
			return u
		}
	}
	return ""
}

// trimURL cuts u where prose or markup goes on.
func trimURL(u string) string {
	if i := strings.IndexAny(u, "<>\"`'"); i >= 0 {
		u = u[:i]
	}
	return strings.TrimRight(u, ".,;:!?)]}*_…")
}

// command returns the first command in msg that nothing vouches for.
func command(msg string, src *sources) string {
	var rest strings.Builder // msg without inline code that is in order
	last := 0
	for _, at := range code().FindAllStringSubmatchIndex(msg, -1) {
		inside := strings.TrimSpace(msg[at[2]:at[3]])
		if !inOrder(inside, msg[:at[0]], src) {
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
	for _, m := range shell().FindAllString(msg, -1) {
		if m = strings.TrimSpace(m); !src.have(m) {
			return m
		}
	}
	ws := tokens(msg)
	for i := 0; i < len(ws); {
		looks, _ := longest(guard()["evidence"], ws[i:])
		n, _ := longest(guard()["command"], ws[i:])
		if looks > 0 && looks >= n {
			i += looks
			continue
		}
		switch {
		case n > 0:
			n = phraseEnd(ws[i:], n)
		case option().MatchString(ws[i].text), script().MatchString(ws[i].text):
			n = 1
		default:
			i++
			continue
		}
		if !src.haveTokens(ws[i : i+n]) {
			return text(ws[i : i+n])
		}
		i += n
	}
	return ""
}

// permission returns the first wording of permission in msg that nothing vouches for.
func permission(msg string, src *sources) string {
	ws := words(folded(msg))
	for i := range ws {
		n, object := longest(guard()["permission"], ws[i:])
		if n == 0 {
			continue
		}
		if object {
			n = phraseEnd(ws[i:], n)
		}
		if !src.haveWords(ws[i : i+n]) {
			return text(ws[i : i+n])
		}
	}
	return ""
}

// longest returns how many words the longest pattern takes that ws begins with, and whether an object belongs to it.
func longest(ps []pattern, ws []word) (n int, object bool) {
	for _, p := range ps {
		if len(p.words) > n && len(p.words) <= len(ws) && p.match(ws) {
			n, object = len(p.words), p.object
		}
	}
	return n, object
}

func (p pattern) match(ws []word) bool {
	for i, alternatives := range p.words {
		w := ws[i].text
		if !slices.ContainsFunc(alternatives, func(a string) bool {
			switch a {
			case "<path>":
				return strings.ContainsAny(w, "./@") && strings.ContainsFunc(w, unicode.IsLetter) || strings.HasPrefix(w, "./")
			case "<flag>":
				return len(w) > 1 && w[0] == '-'
			}
			stem, open := strings.CutSuffix(a, "*")
			return w == a || open && strings.HasPrefix(w, stem)
		}) {
			return false
		}
	}
	return true
}

// stops returns the words at which a phrase of a sentence ends.
var stops = sync.OnceValue(func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`and or but then so for with now because if when while as before after until since
		which who is are was were will would should please also yourself again first instead too`) {
		m[w] = true
	}
	return m
})

// phraseEnd returns how many words belong together from the first n of ws on.
func phraseEnd(ws []word, n int) int {
	for n < len(ws) && !ws[n-1].end && !stops()[ws[n].text] {
		n++
	}
	return n
}
