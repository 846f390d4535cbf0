package transcript

import (
	"embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
)

// What a rule of commands.txt says beside the kinds of checks.
const (
	kindEdit      = "edit"
	kindElsewhere = "elsewhere"
	kindMove      = "move"
	kindRead      = "read"
	kindRemote    = "remote"
	kindTask      = "task"

	kindTest = string(classify.CheckTest)
	kindRun  = string(classify.CheckRun)
)

// table is commands.txt.
type table struct {
	rules map[string][]rule   // by program; by "*" where that is a pattern; "runs"
	lists map[string][]string // by the word before them; some also by a second word
	named [][]string          // what parts of a name say together
}

// rule says what the commands that match its patterns do: the words of a line.
type rule []string

var commands = sync.OnceValue(func() *table {
	t := &table{rules: make(map[string][]rule), lists: make(map[string][]string)}
	for _, f := range rows("commands") {
		switch f[0] {
		case "named":
			t.named = append(t.named, f[1:])
		case "flags", "never", "name", "wraps":
			t.lists[f[0]+" "+f[1]] = append(t.lists[f[0]+" "+f[1]], f[2:]...)
		case "values", "interprets", "neutral":
			t.lists[f[0]] = append(t.lists[f[0]], f[1:]...)
		default:
			for key := range strings.SplitSeq(f[1], "|") {
				if f[0] == "runs" {
					key = "runs " + key
				} else if strings.Contains(key, "*") {
					key = "*"
				}
				t.rules[key] = append(t.rules[key], f)
			}
		}
	}
	return t
})

// kindsOf returns what a [bare] command does, by the first rule that fits, nil for an unknown command.
func kindsOf(words []string) []string {
	t := commands()
	program, args := programName(words[0]), words[1:]
	plain := t.plain(program, args)
	for _, r := range slices.Concat(t.rules[program], t.rules["*"]) {
		rest, flags, ok := r.fit(program, args, plain)
		if !ok {
			continue
		}
		kinds := strings.Split(r[0], ",")
		if kinds[0] == kindTask {
			kinds = nameKinds(rest...)
		}
		own := kinds[0] == kindRun && plain != nil && plain[0] == "run" // the project's program
		if !flags && !own && kinds[0] != kindRead && t.onlyTells(program, args) {
			return []string{kindRead}
		}
		return kinds
	}
	return nil
}

// plain returns args without flags and their values.
func (t *table) plain(program string, args []string) (plain []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(t.lists["flags "+program], args[i]):
			i++
		case !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "+"):
			plain = append(plain, args[i])
		}
	}
	return plain
}

// onlyTells reports whether a flag makes the program only tell something, such as its version.
func (t *table) onlyTells(program string, args []string) bool {
	tells := func(a string) bool { return slices.Contains(t.lists["never *"], a) }
	isLong := func(a string) bool { return len(a) > 2 && tells(a) } // "-h" is a host for some programs
	return hasFlag(args, strings.Join(t.lists["never "+program], "|")) || slices.ContainsFunc(args, isLong) ||
		len(args) > 0 && tells(args[len(args)-1])
}

// hasFlag reports whether a flag is there, also with its value: "-run=^$" is "-run ^$".
func hasFlag(args []string, alternatives string) bool {
	for i, a := range args {
		if matches(alternatives, a) || i+1 < len(args) && matches(alternatives, a+"="+args[i+1]) {
			return true
		}
	}
	return false
}

// fit reports whether a command matches a rule, and whether that asks for flags. Rest is the last plain word that a
// pattern matched; for a pattern that begins with "..." also the words after it.
func (r rule) fit(program string, args, plain []string) (rest []string, flags, ok bool) {
	rest = plain
	for _, w := range r[2:] {
		w, skips := strings.CutPrefix(w, "...")
		if strings.HasPrefix(w, "-") {
			if flags = true; !hasFlag(args, w) {
				return nil, true, false
			}
			continue
		}
		n := slices.IndexFunc(plain, func(a string) bool { return matches(w, a) })
		if n < 0 || n > 0 && !skips {
			return nil, false, false
		}
		rest = plain[n : n+1]
		if skips {
			rest = plain[n:]
		}
		plain = plain[n+1:]
	}
	return rest, flags, matches(r[1], program)
}

// matches reports whether a word is one of the alternatives, in which "*" stands for any characters.
func matches(alternatives, word string) bool {
	hide := func(s string) string { return strings.ReplaceAll(s, "/", "\x00") } // "*" stands for slashes, too
	for p := range strings.SplitSeq(alternatives, "|") {
		if like, _ := path.Match(hide(p), hide(word)); like || p == word {
			return true
		}
	}
	return false
}

// programName returns a program without its folder, its version and what a system adds to its name.
func programName(word string) string {
	word = baseName(word)
	if i := strings.LastIndexByte(word, '@'); i > 0 {
		word = word[:i]
	}
	switch ext := path.Ext(word); ext {
	case ".exe", ".cmd", ".bat", ".phar":
		return strings.TrimSuffix(word, ext)
	}
	return word
}

func baseName(word string) string { return word[strings.LastIndexAny(word, `/\`)+1:] }

// nameKinds says what scripts or targets do together by their names: "test:unit", "check-types", "lint:fix".
func nameKinds(names ...string) []string {
	t := commands()
	var parts []string
	for _, name := range names {
		if !strings.Contains(name, "=") { // a variable of make
			parts = append(parts, strings.FieldsFunc(strings.ToLower(baseName(name)), func(c rune) bool {
				return strings.ContainsRune("-_:./@ ", c)
			})...)
		}
	}
	isSaid := func(kind string) bool {
		return slices.ContainsFunc(t.lists["name "+kind], func(word string) bool { return slices.Contains(parts, word) })
	}
	for _, row := range t.named {
		if !slices.ContainsFunc(row[1:], func(kind string) bool { return !isSaid(kind) }) {
			return strings.Split(row[0], ",")
		}
	}
	return []string{kindRun}
}

// bare returns a command without assignments and without the programs that only run it.
func bare(words []string) []string {
	if len(words) < 2 {
		return words
	}
	t, name, rest := commands(), programName(words[0]), words[1:]
	runsNext := func(r rule) bool { return matches(r[2], rest[0]) }
	switch {
	case matches("python*|pypy*|py", name):
		module := t.afterFlags(rest)
		if len(module) > 0 && slices.Contains(rest[:len(rest)-len(module)], "-m") {
			return module // "python -m pytest"
		}
	case slices.Contains(t.lists["wraps 0"], name):
		return bare(t.afterFlags(rest))
	case slices.Contains(t.lists["wraps 1"], name):
		rest = t.afterFlags(rest)
		return bare(rest[min(1, len(rest)):])
	case len(rest) < 2:
	case name == "go" && rest[0] == "run" && strings.Contains(rest[1], ".") && rest[1][0] != '.':
		return bare(rest[1:]) // "go run example.com/tool@v1"
	case slices.ContainsFunc(t.rules["runs "+name], runsNext):
		inner := bare(t.afterFlags(rest[1:]))
		isTask := len(inner) == 0 || inner[0] == "test" || !t.interprets(inner[0]) && kindsOf(inner) == nil
		if !isTask || name == "bundle" {
			return inner
		}
	}
	return words
}

func (t *table) interprets(program string) bool {
	return matches(strings.Join(t.lists["interprets"], "|"), program)
}

func (t *table) afterFlags(words []string) []string {
	for len(words) > 0 {
		w, rest := words[0], words[1:]
		switch {
		case w == "--":
			return rest
		case slices.Contains(t.lists["values"], w) && len(rest) > 1:
			rest = rest[1:]
		case strings.HasPrefix(w, "-"), pattern("assignment").MatchString(w), w == "$()": // "env $(cat .env) cmd"
		default:
			return words
		}
		words = rest
	}
	return nil
}

const (
	maxScope = 20  // words
	maxWord  = 100 // bytes of one
)

// scope returns the words of a check that choose what it checks.
func scope(words []string) []string {
	kept := []string{programName(words[0])}
	for _, w := range words[1:] {
		number := strings.TrimRight(w, "smh") // of a flag such as -timeout
		flag, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case among(" . ./... ... run exec ", w), len(kept) == maxScope:
		case number != "" && strings.Trim(number, "0123456789.") == "":
		case strings.HasPrefix(w, "-") && (flag == "" || slices.Contains(commands().lists["neutral"], flag)):
		default:
			kept = append(kept, clip(w, maxWord))
		}
	}
	return kept
}

// The tables. Each begins with a comment that explains it.
//
//go:embed *.txt
var tables embed.FS

// rows returns the words of each line of a table, without comments.
func rows(table string) (all [][]string) {
	text, _ := tables.ReadFile(table + ".txt") // it is there
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0][0] != '#' {
			all = append(all, f)
		}
	}
	return all
}

// entries returns the lines of a table by their first word, without it.
func entries(table string) map[string][]string {
	text, _ := tables.ReadFile(table + ".txt") // it is there
	all := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		if kind, rest, ok := strings.Cut(strings.TrimRight(line, "\r\n"), " "); ok && kind != "#" {
			all[kind] = append(all[kind], rest)
		}
	}
	return all
}

var (
	files    = sync.OnceValue(func() map[string][]string { return entries("files") })
	phrases  = sync.OnceValue(func() map[string][]string { return entries("phrases") })
	patterns = sync.OnceValue(func() map[string]*regexp.Regexp {
		all := make(map[string]*regexp.Regexp)
		for name, list := range entries("patterns") {
			all[name] = regexp.MustCompile(strings.Join(list, "|"))
		}
		return all
	})
)

// isFile reports whether a name or an extension is of a kind of files.txt.
func isFile(kind, name string) bool {
	return slices.ContainsFunc(files()[kind], func(row string) bool { return slices.Contains(strings.Fields(row), name) })
}

func isPhrase(kind, text string) bool { return slices.Contains(phrases()[kind], text) }

func pattern(name string) *regexp.Regexp { return patterns()[name] }

// find returns what the first group of a pattern matches, "" if the pattern does not match.
func find(name, text string) string {
	if m := pattern(name).FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
