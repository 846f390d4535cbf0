package gitwitness

import (
	"maps"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/sidecoach/sidecoach/coach/verify"
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
	numbers []float64
	paths   strings.Builder // each between slashes
	text    strings.Builder // the lines that changed, in lower case
}

// shown looks for words in what changed: in the lines that changed, in the declarations above them, and in the paths of
// the changed files.
func (l *look) shown() {
	if len(l.q.Shown) == 0 {
		return
	}
	asked := l.q.Shown[:min(len(l.q.Shown), maxShown)]
	programs, documents := &vocabulary{words: map[string]bool{}}, &vocabulary{words: map[string]bool{}}
	before := &vocabulary{} // its numbers
	for _, d := range l.list {
		if project.Byproduct(d.Path) {
			continue
		}
		v := programs
		if testcode.IsProse(d.Path) {
			v = documents
		}
		v.file(d.Path)
		if d.unread {
			l.unseen("%s is too large to be read", d.Path)
			continue
		}
		added, removed := v.lines(d.now, d.old), v.lines(d.old, d.now)
		v.count(added)
		before.count(strings.ToLower(d.old))
		for _, word := range asked {
			name := strings.ToLower(strings.TrimPrefix(word, "="))
			if testcode.HasWord(removed, name) && !testcode.HasWord(added, name) && !slices.Contains(l.facts.Dropped, word) {
				l.facts.Dropped = append(l.facts.Dropped, word)
			}
		}
	}
	for _, word := range asked {
		old, isOld := strings.CutPrefix(word, "<")
		had := isOld && before.had(old)
		if had || programs.has(word) {
			l.facts.Shown = append(l.facts.Shown, word)
		}
		if had || documents.has(word) {
			l.facts.Written = append(l.facts.Written, word)
		}
	}
}

// file adds the path of a changed file, and how people call a file of its kind.
func (v *vocabulary) file(p string) {
	v.paths.WriteString("/" + strings.ToLower(p) + "/\n")
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
		if lex("Definition").Match(line[:min(len(line), maxHeader)]) {
			header = line[:min(len(line), maxHeader)]
		}
		if known[line] || strings.ContainsRune(line, 0) {
			continue
		}
		v.add(header)
		header = ""
		v.add(line)
		text.WriteString(strings.ToLower(line) + "\n")
		if lex("Comment").Match(line) {
			v.add("comment comments docstring title heading")
		}
	}
	v.text.WriteString(text.String())
	return text.String()
}

// add adds the words of a line, and their parts: of "fetchRetry_2" fetch and retry, too.
func (v *vocabulary) add(line string) {
	for _, m := range lex("CodeWord").FindAll(line) {
		lower := strings.ToLower(m[0])
		if v.words[m[0]] && v.words["--"+lower] || len(v.words) > maxVoc {
			continue
		}
		v.words[m[0]], v.words[lower], v.words["--"+lower] = true, true, true // the last is an option
		for _, part := range lex("WordPart").FindAll(m[0]) {
			v.words[strings.ToLower(part[0])] = true
		}
	}
}

// count adds the numbers of a text in lower case, and what they make when they are multiplied.
func (v *vocabulary) count(text string) {
	for _, m := range lex("CodeWord").FindAll(text) {
		if n, ok := number(m[0]); ok {
			v.numbers = append(v.numbers, n)
		} else if name, ok := strings.CutPrefix(m[0], "status"); ok || strings.Contains(name, "_") {
			codes := lex("HTTPStatus").Words
			if i := slices.Index(codes, strings.ReplaceAll(name, "_", "")); i >= 0 && i%2 == 0 { // a name, not a number
				n, _ = number(codes[i+1])
				v.numbers = append(v.numbers, n)
			}
		}
	}
	for _, m := range lex("Product").FindAll(text) {
		n := 1.0
		for i, factor := range lex("CodeWord").FindAll(m[0]) {
			f, _ := number(factor[0])
			if i > 0 && strings.Contains(m[0], "<<") {
				f = math.Exp2(min(f, 60))
			}
			n *= f
		}
		v.numbers = append(v.numbers, n)
	}
}

// among reports whether a number is there, if it is multiplied with one of the factors.
func (v *vocabulary) among(n float64, factors ...float64) bool {
	return slices.ContainsFunc(v.numbers, func(have float64) bool {
		return slices.ContainsFunc(factors, func(f float64) bool { return math.Abs(n*f-have) < 1e-9*math.Abs(have) })
	})
}

// had reports whether the files that changed had a number, in any unit.
func (v *vocabulary) had(word string) bool {
	n, ok := number(word)
	return !ok || n == 0 || v.among(n, 1) ||
		slices.ContainsFunc(units, func(u unit) bool { return v.among(n, u.factors...) })
}

// has reports whether a change shows a word: a number, one with a unit in any other unit, a plain word in any form, or
// a name.
func (v *vocabulary) has(word string) bool {
	word, exact := strings.CutPrefix(word, "=")
	digits, name, measured := strings.Cut(word, " ")
	if n, ok := number(digits); ok && measured {
		i := slices.IndexFunc(units, func(u unit) bool {
			return strings.HasPrefix(name, u.names[0]) || slices.Contains(u.names, name)
		})
		if i < 0 || n == 0 {
			return v.among(n, 1)
		}
		said := slices.ContainsFunc(units[i].names, func(s string) bool { return v.words[s] || v.words[s+"s"] })
		return v.among(n, units[i].factors...) || (units[i].base || said) && v.among(n, 1)
	} else if ok && n != 0 {
		return v.among(n, 1)
	}
	lower := strings.ToLower(word)
	option, isOption := strings.CutPrefix(lower, "--")
	hasOption := v.words["--"+option] || v.words["--"+strings.ReplaceAll(option, "-", "_")]
	switch {
	case isOption:
		return hasOption
	case strings.HasPrefix(lower, "/"):
		return strings.Contains(v.text.String(), lower)
	case strings.Contains(v.paths.String(), "/"+path.Clean(lower)+"/"):
		return true
	case lower != word:
		return v.words[word]
	case exact:
		return hasOption
	case v.words[lower] || v.words[strings.TrimSuffix(lower, "s")] || v.words[lower+"s"]:
		return true
	case strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }):
		return false
	}
	for have := range v.words {
		same := max(minStem, max(len(have), len(lower))-4) // letters at the start that are enough
		if same <= min(len(have), len(lower)) && have[:same] == lower[:same] {
			return true
		}
	}
	return false
}

// unit is a unit of a number in prose: its names, and what code in other units multiplies it with. A number without a
// unit in code is in a base unit.
type unit struct {
	names   []string // the first also begins longer ones
	base    bool
	factors []float64
}

var units = []unit{
	{[]string{"milli", "ms"}, true, []float64{1e-3, 1e3, 1e6}},
	{[]string{"sec", "s"}, true, []float64{1e3, 1e6, 1e9}},
	{[]string{"min", "minute"}, false, []float64{60, 60e3, 60e9}},
	{[]string{"hour", "h"}, false, []float64{60, 3600, 3600e3, 3600e9}},
	{[]string{"day", "d"}, false, []float64{24, 1440, 86400, 86400e3}},
	{[]string{"week"}, false, []float64{7, 168, 604800, 604800e3}},
	{[]string{"byte"}, true, nil},
	{[]string{"kilo", "kb", "kib", "k"}, false, []float64{1000, 1024}},
	{[]string{"mega", "mb", "mib", "m"}, false, []float64{1000, 1024, 1e6, 1 << 20}},
	{[]string{"giga", "gb", "gib", "g"}, false, []float64{1e6, 1 << 20, 1e9, 1 << 30}},
	{[]string{"percent", "%"}, true, []float64{0.01}},
}

func number(word string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(word, "_", ""), 64)
	return n, err == nil && word[0] >= '0' && word[0] <= '9'
}

const maxNames = 50 // names that are looked for

// lines returns the lines of programs that have a word, by their files, and whether anything has it. Prose and comments
// do not count as programs.
func (l *look) lines(tree, word string, options ...string) (programs map[string]string, found bool) {
	args := slices.Concat([]string{"grep", "-z", "-I", "-F"}, options, []string{"-e", word, tree})
	out, _, err := l.mine.limited(maxSource, "", args...)
	if !exited(err, 1) {
		check(err)
	}
	programs = map[string]string{}
	for line := range strings.Lines(string(out)) {
		file, line, _ := strings.Cut(strings.TrimPrefix(line, tree+":"), "\x00")
		if text := testcode.Code(file, line); text != "" && !testcode.IsProse(file) {
			programs[file] += text
		}
	}
	return programs, len(out) > 0
}

func defines(text, name string) (n int) {
	for _, m := range lex("Definition").FindAll(text) {
		if m[1] == name {
			n++
		}
	}
	return n
}

func stem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }

// namedTests looks for tests by their names: a declaration, or the name in a file of tests whose language is not known.
func (l *look) namedTests() {
	for _, name := range l.q.Tests {
		word := name
		if strings.HasPrefix(word, "Test") {
			word, _, _ = strings.Cut(word, "/") // of a subtest, its function
		}
		l.facts.Named = append(l.facts.Named, verify.NamedTest{Name: name, Now: l.declared(l.tree, l.paths, word),
			Before: l.declared(l.base.tree, l.old, word)})
	}
}

// declared reports whether a tree declares a test. It is unknown whether something else of that name is one.
func (l *look) declared(tree string, paths []string, word string) verify.Status {
	if slices.ContainsFunc(paths, func(p string) bool { return testcode.IsTest(p) && stem(p) == word }) {
		return verify.Met
	}
	found := verify.NotMet
	programs, _ := l.lines(tree, word)
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(programs)), func(f string) bool { return path.Ext(f) == ".txt" })
	for _, file := range files[:min(len(files), maxNames)] {
		text := l.mine.blob(tree + ":" + file)
		for _, t := range testcode.Read(file, text) {
			if t.Name == word || strings.HasSuffix(t.Name, "."+word) || t.Name == path.Base(file) {
				return verify.Met
			}
		}
		if defines(text, word) > 0 {
			found = verify.Unverified
		}
	}
	return found
}

// names looks for names in the code of the tree and of the baseline.
func (l *look) names() {
	for _, name := range l.q.Names[:min(len(l.q.Names), maxNames)] {
		now, found := l.lines(l.tree, name, "-w")
		before, _ := l.lines(l.base.tree, name, "-w")
		fact := verify.NameFact{Name: name, Was: len(before) > 0 || len(now) == 0 && found, Stub: l.isStub(now, name)}
		for file, text := range now {
			fact.Uses += strings.Count(text, "\n")
			fact.Defined += defines(text, name)
			fact.Files = append(fact.Files, file)
		}
		for _, text := range before {
			fact.DefinedBefore += defines(text, name)
		}
		slices.Sort(fact.Files)
		fact.Files = fact.Files[:min(len(fact.Files), maxFindings)]
		part := func(p string) bool {
			return slices.ContainsFunc(strings.Split(p, "/"), func(s string) bool { return s == name || stem(s) == name })
		}
		if fact.Uses == 0 && slices.ContainsFunc(l.paths, part) {
			fact.Uses = 1 // it is a file or a folder
		}
		l.facts.Names = append(l.facts.Names, fact)
	}
}

// isStub reports whether all declarations of a name in some programs have a body that does nothing yet.
func (l *look) isStub(files map[string]string, name string) bool {
	const parameters = `\((?:[^()]|\([^()]*\))*\)`
	name = regexp.QuoteMeta(name)
	inPython := regexp.MustCompile(`(?m)^()\s*(?:async )?def ` + name + parameters + `(?: ?->[^:\n]+)?:\s*(.*)$`)
	braced := regexp.MustCompile(`(?m)^([^{\n]*)\b` + name + `\b\s*(?:[=:]\s*(?:async\s*)?(?:function\s*)?)?` +
		`(?:<[^>]*>|\[[^\]]*\])?` + parameters + `[^;{}\n]*\n?\{\s*(.*)$`)
	stubs := 0
	for file := range files {
		if !testcode.IsCode(file) || testcode.IsTest(file) {
			continue
		}
		declares, stub := braced, lex("Stub")
		if path.Ext(file) == ".py" {
			declares, stub = inPython, lex("PythonStub")
		}
		text := testcode.Code(file, l.mine.blob(l.tree+":"+file))
		for _, m := range declares.FindAllStringSubmatch(text, -1) {
			switch {
			case lex("Control").Match(m[1]):
			case stub.Match(strings.TrimRight(m[2], "; }")):
				stubs++
			default:
				return false
			}
		}
	}
	return stubs > 0
}
