package coach

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

//go:embed guard.txt
var guardText string

// guard returns the phrases of guard.txt by section.
var guard = sync.OnceValue(func() map[string][]phrase {
	phrases, section := make(map[string][]phrase), ""
	text, _, _ := strings.Cut(guardText, expressionsHeading)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		default:
			line, object := strings.CutSuffix(folded(line), " …")
			p := phrase{object: object}
			for w := range strings.FieldsSeq(line) {
				p.words = append(p.words, strings.Split(w, "|"))
			}
			phrases[section] = append(phrases[section], p)
		}
	}
	return phrases
})

const expressionsHeading = "\n[expressions]" // of the last section of guard.txt

// expressions are the regular expressions of guard.txt by name, each compiled when it is first used.
var expressions = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	alternatives, expressions := make(map[string][]string), make(map[string]func() *regexp.Regexp)
	_, text, _ := strings.Cut(guardText, expressionsHeading)
	for line := range strings.Lines(text) {
		if names, expr, ok := strings.Cut(strings.TrimSpace(line), " "); ok && names[0] != '#' {
			for name := range strings.SplitSeq(names, ",") {
				alternatives[name] = append(alternatives[name], expr)
			}
		}
	}
	for name, exprs := range alternatives {
		expressions[name] = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(exprs, "|")) })
	}
	return expressions
})

// maxBetween is how many words "<gap>" of guard.txt stands for at most.
const maxBetween = 5

// phrase is one line of guard.txt.
type phrase struct {
	words  [][]string // the alternatives for each word
	object bool       // the words that follow belong to it
}

// match returns how many words of ws the phrase takes, or -1 if ws does not begin with it.
func match(phrase [][]string, ws []word) int {
	switch {
	case len(phrase) == 0:
		return 0
	case phrase[0][0] == "<gap>":
		best := -1
		for n := range maxBetween + 1 {
			if m := match(phrase[1:], ws[n:]); m >= 0 {
				best = max(best, n+m)
			}
			if n == len(ws) || ws[n].end { // a gap stays in its clause
				break
			}
		}
		return best
	case len(ws) == 0, !slices.ContainsFunc(phrase[0], func(a string) bool { return matchWord(a, ws[0].text) }):
		return -1
	}
	rest := phrase[1:]
	if len(rest) > 0 && ws[0].end {
		if rest[0][0] == "<gap>" {
			rest = rest[1:]
		} else if phrase[0][0] == "<any>" || rest[0][0] == "<any>" {
			return -1
		}
	}
	if n := match(rest, ws[1:]); n >= 0 {
		return n + 1
	}
	return -1
}

func matchWord(pattern, w string) bool {
	switch first := pattern[0]; {
	case 'a' <= first && first <= 'z' && !strings.HasPrefix(w, pattern[:1]): // most are soon told apart
		return false
	case first == '<':
		if class := expressions()[pattern]; class != nil {
			return class().MatchString(w)
		}
		section, not := strings.CutPrefix(strings.Trim(pattern, "<>"), "!")
		return in(word{text: w}, section) != not
	case first == '~':
		if ascii(w) && !ascii(pattern) {
			return false
		}
		return spaceless(pattern).MatchString(w)
	}
	if part, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.Contains(w, strings.TrimSuffix(part, "*"))
	}
	stem, open := strings.CutSuffix(pattern, "*")
	return w == pattern || open && strings.HasPrefix(w, stem)
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// spaceless returns the expression of a pattern of guard.txt that begins with "~". Without a star after it, what it
// matches begins the word or follows a word that leads to an order.
func spaceless(pattern string) *regexp.Regexp {
	if e, ok := spacelessUsed.Load(pattern); ok {
		return e.(*regexp.Regexp)
	}
	expr := strings.NewReplacer("/", "|", "*", ").{0,12}(?:", "+", ")(?:", "$", "(?:$|[吧并並然再和及后後，])").Replace(pattern[1:])
	lead := ""
	if !strings.HasPrefix(pattern, "~*") {
		lead = `(?:^|[请請并並再先就]|然后|然後|接着|务必|帮我|立即|马上|直接|记得|^[你您]?(?:需要|必须|应该|可以|要|得))`
	}
	e := regexp.MustCompile(lead + "(?:" + expr + ")")
	spacelessUsed.Store(pattern, e)
	return e
}

var spacelessUsed sync.Map

func expression(name string) *regexp.Regexp { return expressions()[name]() }

// matching returns the first part of text that an expression of guard.txt matches, or "".
func matching(name, text string) string { return expression(name).FindString(text) }

// longest returns how many words the longest phrase of the sections takes that ws begins with, and whether the words
// that follow belong to it.
func longest(ws []word, sections ...string) (n int, object bool) {
	for _, section := range sections {
		for _, p := range guard()[section] {
			if m := match(p.words, ws); m > n {
				n, object = m, p.object
			}
		}
	}
	return n, object
}

// in reports whether a word is a phrase of a section.
func in(w word, section string) bool {
	n, _ := longest([]word{w}, section)
	return n > 0
}

// objection says why a classifier's message, on one line, cannot be used. It is empty if the message can be used.
func objection(msg string, in Context) string {
	src := newSources(in)
	for _, check := range []struct {
		what string
		find func(string, *sources) string
	}{
		{"markup", func(msg string, _ *sources) string { return matching("markup", folded(msg)) }},
		{"a word of two alphabets", func(msg string, _ *sources) string { return mixedWord(msg) }},
		{"a URL", url},
		{"a secret", phrases("secret")},
		{"a path outside the project", phrases("outside")},
		{"mail", phrases("mail")},
		{"a command", command},
		{"permission wording", phrases("permission")},
		{"an order", phrases("order")},
		{"an act beyond the project", phrases("act", "beyond")},
	} {
		if found := strings.TrimSpace(check.find(msg, src)); found != "" {
			return "it carries " + check.what + `: "` + quotable(found, maxQuoted) + `"`
		}
	}
	return ""
}

// unsafe returns what data of the plan, the verifier, the host or the agent must not bring into a message of ours: our
// prefix, words of two alphabets, markup, tokens of a chat template, URLs, shell operators, orders, and commands that
// do more than check. It is empty for data that may be quoted.
func unsafe(data string) string {
	forged := strings.TrimSuffix(data, plaintext.TrimPrefix(data))
	found := cmp.Or(forged, mixedWord(data))
	data = folded(data)
	found = cmp.Or(found, matching("markup", data), matching("shell", data), matching("url", data))
	if found != "" {
		return found
	}
	found = orderIn(tokens(data), "danger", "command", "order")
	return cmp.Or(found, orderIn(words(data), "order")) // in the name of a file or a test, too
}

// orderIn returns the first phrase in ws of the sections, or of [act] where an order may begin. A check is not an
// order.
func orderIn(ws []word, sections ...string) string {
	begins := orders(ws)
	for i := range ws {
		n, _ := longest(ws[i:], sections...)
		if begins[i] {
			act, _ := longest(ws[i:], "act")
			n = max(n, act)
		}
		if n == 0 {
			continue
		}
		if check, _ := longest(ws[i:], checkSections...); check < n {
			return text(ws[i : i+n])
		}
	}
	return ""
}

// url returns the first URL in msg that nothing vouches for.
func url(msg string, src *sources) string {
	for _, u := range expression("url").FindAllString(folded(withoutHosts(msg)), -1) {
		if i := strings.IndexAny(u, "<>\"`'"); i >= 0 { // where prose or markup goes on
			u = u[:i]
		}
		if u = strings.TrimRight(u, ".,;:!?)]}*_…"); !src.vouch([]word{{text: u}}) {
			return u
		}
	}
	return ""
}

// phrases returns a function that finds the first phrase of the sections that nothing vouches for. It looks at the
// words that a shell would read, also without their hyphens, and at those that a person reads, also with digits for
// letters.
func phrases(sections ...string) func(string, *sources) string {
	return func(msg string, src *sources) string {
		msg = folded(msg)
		readings := [][]word{words(msg), tokens(msg), tokens(strings.ReplaceAll(msg, "-", ""))}
		for _, one := range []string{"i", "l"} {
			if letters := digitsAsLetters(msg, one); letters != msg {
				readings = append(readings, words(letters))
			}
		}
		for _, ws := range readings {
			begins := orders(ws)
			for i := range ws {
				if sections[0] == "act" && !begins[i] {
					continue
				}
				n, object := longest(ws[i:], sections...)
				if n == 0 {
					continue
				}
				harmless, _ := longest(ws[i:], "harmless")
				if around, _ := longest(ws[max(0, i-1):], "harmless"); harmless >= n || i > 0 && around > n {
					continue
				}
				if object {
					n = phraseEnd(ws[i:], n)
				}
				from := i
				if sections[0] == "secret" {
					from = telling(ws, i, i+n)
				}
				if (sections[0] == "permission" || !forbidden(ws, from)) && !src.vouch(ws[from:i+n]) {
					return text(ws[from : i+n])
				}
			}
		}
		return ""
	}
}

// orders marks the words of ws at which an order may begin: at the beginning of a clause, and after the words of [lead]
// and [opening].
func orders(ws []word) []bool {
	begins := make([]bool, len(ws)+1)
	for i := range ws {
		begins[i] = begins[i] || i == 0 || ws[i-1].end || in(ws[i-1], "lead")
		if begins[i] {
			n, _ := longest(ws[i:], "opening")
			begins[i+n] = true
		}
	}
	return begins
}

// telling returns where an order to say the secret ws[from:to] begins, such as "show the password", or from if there is
// none: "show the password form" asks for a form.
func telling(ws []word, from, to int) int {
	if !ws[to-1].end && to < len(ws) && !in(ws[to], "stop") && !in(ws[to], "aside") && !in(ws[to], "owner") {
		return from
	}
	for i := from - 1; i >= max(0, from-maxBetween-1) && !ws[i].end; i-- {
		if in(ws[i], "tell") {
			return i
		}
		if in(ws[i], "around") {
			break
		}
	}
	return from
}

// phraseEnd returns how many words belong together from the first n of ws on.
func phraseEnd(ws []word, n int) int {
	for ; n < len(ws) && !ws[n-1].end; n++ {
		if in(ws[n], "stop") {
			break
		}
	}
	return n
}

// denied reports whether the clause that ws ends in holds a word of denial.
func denied(ws []word) bool {
	for i := len(ws) - 1; i >= 0 && !ws[i].end; i-- {
		if n, _ := longest(ws[i:], "denial"); n > 0 {
			return true
		}
	}
	return false
}

// forbidden reports whether the words right before ws[at] forbid what ws[at] begins, without an exception: "do not
// delete anything".
func forbidden(ws []word, at int) bool {
	for n := min(3, at); n > 0 && !ws[at-1].end; n-- {
		if k, _ := longest(ws[at-n:at], "forbid"); k < n {
			continue
		}
		for i := at; i < len(ws); i++ {
			if in(ws[i], "except") {
				return false
			}
			if ws[i].end {
				break
			}
		}
		return true
	}
	return false
}

// mixedWord returns a word of s with Latin letters and others that only look like them, as if to hide what it says. A
// Latin abbreviation may have an ending of another alphabet.
func mixedWord(s string) string {
	for _, w := range expression("mixed").FindAllString(s, -1) {
		if matching("ending", w) == "" && !strings.ContainsFunc(w, func(r rune) bool {
			return !unicode.Is(unicode.Latin, r) && plaintext.Fold(r) >= utf8.RuneSelf
		}) {
			return w
		}
	}
	return ""
}

// digitsAsLetters returns a folded text with the digits inside its words as the letters that they look like: t0ken. One
// stands for the digit 1.
func digitsAsLetters(s, one string) string {
	return expression("leet").ReplaceAllStringFunc(s, func(w string) string {
		return strings.NewReplacer("0", "o", "1", one, "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s").Replace(w)
	})
}

// mentioned reports whether the clause around ws[from:to] only mentions these words: it asks or tells about them, or
// says after them that they must not be.
func mentioned(ws []word, from, to int) bool {
	for i := from - 1; i >= 0 && !ws[i].end; i-- {
		if n, _ := longest(ws[i:from], "mention"); n > 0 {
			return true
		}
		if in(ws[i], "next") {
			break
		}
	}
	for i := to; i < len(ws) && !ws[i-1].end && !in(ws[i], "next"); i++ {
		if in(ws[i-1], "aside") || in(ws[i], "aside") {
			break
		}
		if n, _ := longest(ws[i:], "denied"); n > 0 {
			return true
		}
	}
	return false
}

// folded returns s in lower case, with look-alike letters replaced and without apostrophes.
func folded(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\'', '’', '‘', 'ʼ', '＇':
			return -1
		}
		return plaintext.Fold(r)
	}, s)
}

// word is one word of a folded text.
type word struct {
	text string
	end  bool // a clause ends after it
}

// tokens splits a folded text as a shell would read it: at white space, quotes, brackets and operators.
func tokens(s string) []word {
	var ws []word
	for _, m := range expression("token").FindAllStringSubmatch(s, -1) {
		trimmed := strings.TrimRight(m[1], ".:!?_…")
		if trimmed != "" {
			ws = append(ws, word{text: trimmed})
		}
		if len(ws) > 0 && (trimmed != m[1] || m[2] != "") {
			ws[len(ws)-1].end = true
		}
	}
	return ws
}

// words splits a folded text into the words that a person reads. Words that are spelled letter by letter are joined.
func words(s string) []word {
	var ws []word
	for _, t := range tokens(s) {
		for _, w := range expression("word").FindAllString(t.text, -1) {
			ws = append(ws, word{text: w})
		}
		if t.end && len(ws) > 0 {
			ws[len(ws)-1].end = true
		}
	}
	var joined []word
	for i := 0; i < len(ws); {
		n := 1
		for i+n < len(ws) && len(ws[i+n-1].text) == 1 && len(ws[i+n].text) == 1 && !ws[i+n-1].end {
			n++
		}
		if n < 3 { // "w/o"
			n = 1
		}
		joined = append(joined, word{strings.ReplaceAll(text(ws[i:i+n]), " ", ""), ws[i+n-1].end})
		i += n
	}
	return joined
}

// text returns words as one phrase.
func text(ws []word) string {
	list := make([]string, len(ws))
	for i, w := range ws {
		list[i] = w.text
	}
	return strings.Join(list, " ")
}
