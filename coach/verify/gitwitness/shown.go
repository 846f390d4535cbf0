package gitwitness

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

const (
	maxHeader = 300     // bytes of a declaration
	minStem   = 3       // letters that forms of a word share
	maxShown  = 2000    // words that are looked for
	maxVoc    = 200_000 // words of a change
)

// vocabulary is the words of a change, in lower case, and its numbers.
type vocabulary struct {
	words   map[string]bool
	stems   map[string][]string // the words by their first letters
	numbers []float64
	paths   []string
	text    strings.Builder // the lines that changed, in lower case
}

// shown looks for words in what changed: in the lines that changed, in the declarations above them, and in the paths of
// the changed files.
func (l *look) shown() {
	if len(l.q.Shown) == 0 {
		return
	}
	asked := l.q.Shown[:min(len(l.q.Shown), maxShown)]
	programs := &vocabulary{words: map[string]bool{}, stems: map[string][]string{}}
	documents := &vocabulary{words: map[string]bool{}, stems: map[string][]string{}}
	for _, d := range l.list {
		if project.Byproduct(d.Path) {
			continue
		}
		v := programs
		if testcode.IsProse(d.Path) {
			v = documents
		}
		v.file(d.Path)
		old, now, ok := l.texts(&d)
		if !ok {
			l.unseen("%s is too large to be read", d.Path)
			continue
		}
		added, removed := v.lines(now, old), v.lines(old, now)
		v.count(added)
		for _, word := range asked {
			if hasWord(removed, word) && !hasWord(added, word) && !slices.Contains(l.facts.Dropped, word) {
				l.facts.Dropped = append(l.facts.Dropped, word)
			}
		}
	}
	for _, word := range asked {
		if programs.has(word) {
			l.facts.Shown = append(l.facts.Shown, word)
		}
		if documents.has(word) {
			l.facts.Written = append(l.facts.Written, word)
		}
	}
}

// file adds the path of a changed file, and how people call a file of its kind.
func (v *vocabulary) file(p string) {
	v.paths = append(v.paths, strings.ToLower(p))
	v.add(strings.ReplaceAll(p, "-", " "))
	base := strings.ToLower(path.Base(p))
	switch {
	case testcode.IsProse(p):
		v.add("docs documentation document documented")
	case strings.HasPrefix(p, ".github/workflows/") || strings.Contains(base, "-ci."):
		v.add("ci workflow pipeline")
	case strings.HasPrefix(base, "dockerfile"):
		v.add("image container docker")
	case project.Manifest(p):
		v.add("dependency dependencies version")
	case testcode.IsTest(p):
		v.add("test tests covered coverage")
	}
}

// lines adds the lines that the other version of a file does not have, and the declarations above them. It returns
// those lines, in lower case.
func (v *vocabulary) lines(list, other string) string {
	known := map[string]bool{}
	for line := range strings.SplitSeq(other, "\n") {
		known[line] = true
	}
	var text strings.Builder
	header := "" // the declaration above, until it was added
	for line := range strings.SplitSeq(list, "\n") {
		if lex.Definition.Match(line[:min(len(line), maxHeader)]) {
			header = line[:min(len(line), maxHeader)]
		}
		if known[line] || strings.ContainsRune(line, 0) {
			continue
		}
		v.add(header)
		header = ""
		v.add(line)
		text.WriteString(strings.ToLower(line) + "\n")
		if lex.Comment.Match(line) {
			v.add("comment comments docstring")
		}
	}
	v.text.WriteString(text.String())
	return text.String()
}

// hasWord reports whether a text in lower case has a word, as a whole.
func hasWord(text, word string) bool {
	word = strings.ToLower(strings.TrimPrefix(word, "="))
	isPart := func(c byte) bool { return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' }
	last := byte(' ') // before the rest of the text
	for before, after, ok := strings.Cut(text, word); ok && word != ""; before, after, ok = strings.Cut(after, word) {
		if before != "" {
			last = before[len(before)-1]
		}
		if !isPart(last) && (after == "" || !isPart(after[0])) {
			return true
		}
		last = word[len(word)-1]
	}
	return false
}

// add adds the words of a line, and their parts: of "fetchRetry_2" fetch and retry, too.
func (v *vocabulary) add(line string) {
	one := func(word string) {
		if !v.words[word] && len(v.words) < maxVoc {
			v.words[word] = true
			if len(word) >= minStem {
				v.stems[word[:minStem]] = append(v.stems[word[:minStem]], word)
			}
		}
	}
	for _, m := range lex.CodeWord.FindAll(line) {
		word, lower := m[0], strings.ToLower(m[0])
		one(word)
		one(lower)
		one("--" + lower) // as an option
		for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '_' || r == '-' || r == '$' }) {
			from := 0
			for i, r := range part {
				if i > from && unicode.IsUpper(r) && !unicode.IsUpper(rune(part[i-1])) {
					one(strings.ToLower(part[from:i]))
					from = i
				}
			}
			one(strings.ToLower(part[from:]))
		}
	}
}

// count adds the numbers of new lines.
func (v *vocabulary) count(text string) {
	for _, m := range lex.CodeWord.FindAll(text) {
		if n, ok := number(m[0]); ok {
			v.numbers = append(v.numbers, n)
		}
	}
}

// has reports whether a change shows a word: a number with any unit, a plain word in any form, or a name.
func (v *vocabulary) has(word string) bool {
	word, exact := strings.CutPrefix(word, "=")
	if n, ok := number(word); ok && n != 0 {
		return slices.ContainsFunc(v.numbers, func(have float64) bool {
			return slices.ContainsFunc(units, func(u float64) bool { return math.Abs(n*u-have) < 1e-9*math.Abs(have) })
		})
	}
	lower := strings.ToLower(word)
	option, isOption := strings.CutPrefix(lower, "--")
	hasOption := v.words["--"+option] || v.words["--"+strings.ReplaceAll(option, "-", "_")]
	if isOption {
		return hasOption
	} else if strings.HasPrefix(lower, "/") {
		return strings.Contains(v.text.String(), lower)
	}
	at := strings.Trim(path.Clean(lower), "./")
	file := func(p string) bool {
		return strings.HasSuffix("/"+p, "/"+at) || strings.HasPrefix(p, at+"/") || strings.Contains(p, "/"+at+"/")
	}
	if at != "" && slices.ContainsFunc(v.paths, file) {
		return true
	}
	switch {
	case lower != word:
		return v.words[word]
	case exact:
		return hasOption
	case v.words[lower] || v.words[strings.TrimSuffix(lower, "s")] || v.words[lower+"s"]:
		return true
	case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }):
		return false
	}
	return slices.ContainsFunc(v.stems[lower[:min(len(lower), minStem)]], func(have string) bool {
		longest := max(len(have), len(lower))
		same := max(minStem, longest-4) // letters at the start that are enough
		return same <= min(len(have), len(lower)) && have[:same] == lower[:same]
	})
}

// units are what a number may be multiplied with in code: seconds for minutes, bytes for kilobytes.
var units = []float64{1, 60, 3600, 86400, 1000, 60_000, 3600_000, 1e6, 1e9, 1024, 1 << 20, 1 << 30, 0.01, 100}

func number(word string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	return n, err == nil && word[0] >= '0' && word[0] <= '9'
}
