package transcript

import (
	_ "embed"
	"path"
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
	kindLook      = "look"
	kindRead      = "read"
	kindTask      = "task"
)

//go:embed commands.txt
var commandsText string

// table is commands.txt.
type table struct {
	rules map[string][]rule // by program
	globs []rule            // whose program is a pattern
	flags map[string][]string
	never map[string][]string
}

// rule says what the commands that match its patterns do.
type rule struct {
	kinds    []string
	programs []string
	words    []pattern
}

type pattern struct {
	alternatives []string
	skips        bool // other words may come before
}

var commands = sync.OnceValue(func() table {
	t := table{rules: make(map[string][]rule), flags: make(map[string][]string), never: make(map[string][]string)}
	for line := range strings.Lines(commandsText) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0][0] == '#':
		case f[0] == "flags":
			t.flags[f[1]] = append(t.flags[f[1]], f[2:]...)
		case f[0] == "never":
			t.never[f[1]] = append(t.never[f[1]], f[2:]...)
		default:
			r := rule{kinds: strings.Split(f[0], ","), programs: strings.Split(f[1], "|")}
			for _, w := range f[2:] {
				w, skips := strings.CutPrefix(w, "...")
				r.words = append(r.words, pattern{strings.Split(w, "|"), skips})
			}
			for _, p := range r.programs {
				if strings.Contains(p, "*") && p != "*" {
					t.globs = append(t.globs, r)
				} else {
					t.rules[p] = append(t.rules[p], r)
				}
			}
		}
	}
	return t
})

// kindsOf returns what a command does, by the first rule that fits. It returns nil for an unknown command. The words
// are without assignments and programs that only run another one.
func kindsOf(words []string) []string {
	t := commands()
	program, args := programName(words[0]), words[1:]
	plain := t.plain(program, args)
	list := t.rules[program]
	for _, r := range t.globs {
		if matches(r.programs, program) {
			list = append(list[:len(list):len(list)], r)
		}
	}
	for _, r := range list {
		rest, flagged, ok := r.fit(args, plain)
		if !ok {
			continue
		}
		kinds := r.kinds
		if kinds[0] == kindTask {
			kinds = tasksKinds(rest)
		}
		if !flagged && t.tells(program, args) && kinds[0] != kindRead {
			return []string{kindRead}
		}
		return kinds
	}
	return nil
}

// plain returns args without flags and their values.
func (t table) plain(program string, args []string) []string {
	var plain []string
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(t.flags[program], args[i]):
			i++
		case !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "+"):
			plain = append(plain, args[i])
		}
	}
	return plain
}

// tells reports whether a flag makes the program only tell something, such as its version.
func (t table) tells(program string, args []string) bool {
	for _, who := range []string{"*", program} {
		for _, flag := range t.never[who] {
			for i, a := range args {
				short := who == "*" && len(flag) == 2 // "-h" is a host for some programs
				if a == flag && (!short || i == len(args)-1) || i+1 < len(args) && a+"="+args[i+1] == flag {
					return true
				}
			}
		}
	}
	return false
}

// fit reports whether a command matches a rule, and whether a flag was part of that. Rest are the plain words from the
// last one that a pattern matched; for a pattern that begins with "..." all of them.
func (r rule) fit(args, plain []string) (rest []string, flagged, ok bool) {
	rest = plain
	left := plain
	for _, w := range r.words {
		if strings.HasPrefix(w.alternatives[0], "-") {
			if !slices.ContainsFunc(args, func(a string) bool { return matches(w.alternatives, a) }) {
				return nil, false, false
			}
			flagged = true
			continue
		}
		n := slices.IndexFunc(left, func(a string) bool { return matches(w.alternatives, a) })
		if n < 0 || n > 0 && !w.skips {
			return nil, false, false
		}
		rest = left[n : n+1]
		if w.skips {
			rest = left[n:]
		}
		left = left[n+1:]
	}
	return rest, flagged, true
}

// matches reports whether a word is one of the alternatives, in which "*" stands for any characters.
func matches(alternatives []string, word string) bool {
	for _, p := range alternatives {
		if p == word {
			return true
		}
		if !strings.Contains(p, "*") {
			continue
		}
		if ok, err := path.Match(strings.ReplaceAll(p, "/", "\x00"), strings.ReplaceAll(word, "/", "\x00")); ok && err == nil {
			return true
		}
	}
	return false
}

// programName returns a program without its folder and without what a system adds to its name.
func programName(word string) string {
	word = baseName(word)
	for _, ext := range []string{".exe", ".cmd", ".bat", ".phar"} {
		if name, ok := strings.CutSuffix(word, ext); ok && name != "" {
			return name
		}
	}
	return word
}

func baseName(word string) string { return word[strings.LastIndexAny(word, `/\`)+1:] }

// taskNames says what a script, a target or a recipe does, by the parts of its name. The first row that has a part of
// the name counts.
var taskNames = []struct {
	kind  string
	parts string
}{
	{kindRead, "help list ls print show"},
	{"lint+", "check verify validate"}, // of something that the rows below name; alone it is a test
	{string(classify.CheckTest), "test tests testing spec specs e2e unit units integration jest vitest pytest mocha cypress playwright coverage smoke regression unittest unittests runtests testsuite ci qa"},
	{kindEdit, "fix autofix format fmt prettier generate generated gen codegen scaffold migration migrations snapshot update"},
	{string(classify.CheckLint), "lint lints linter linting eslint stylelint clippy vet flake8 ruff shellcheck style"},
	{string(classify.CheckBuild), "build builds rebuild compile bundle dist typecheck types type tsc mypy all package make wasm assemble"},
	{string(classify.CheckRun), "dev start serve server run preview watch storybook demo bench benchmark debug"},
	{kindElsewhere, "deploy release publish install clean setup bootstrap up down stop docker push login migrate seed prepare reset upload sync init backup restore provision"},
}

// tasksKinds says what tasks with such names do together: whether they edit, and the strongest check.
func tasksKinds(names []string) []string {
	order := []string{
		string(classify.CheckTest), string(classify.CheckBuild), string(classify.CheckLint), string(classify.CheckRun), kindElsewhere, kindRead,
	}
	edits, best := false, len(order)
	for _, name := range names {
		if strings.Contains(name, "=") {
			continue
		}
		kind := taskKind(name)
		edits = edits || kind == kindEdit
		if i := slices.Index(order, kind); i >= 0 {
			best = min(best, i)
		}
	}
	switch {
	case edits && best < len(order):
		return []string{kindEdit, order[best]}
	case edits:
		return []string{kindEdit}
	case best < len(order):
		return order[best : best+1]
	}
	return []string{string(classify.CheckRun)}
}

// taskKind says what a script or a target does by its name: "test:unit", "check-types", "run_lint.sh".
func taskKind(name string) string {
	parts := strings.FieldsFunc(strings.ToLower(baseName(name)), func(c rune) bool { return strings.ContainsRune("-_:./@ ", c) })
	checks := false
	for _, row := range taskNames {
		words := strings.Fields(row.parts)
		if !slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(words, p) }) {
			continue
		}
		switch {
		case row.kind == "lint+":
			checks = true
		case checks && row.kind == kindEdit:
			return string(classify.CheckLint) // "format:check"
		default:
			return row.kind
		}
	}
	if checks {
		return string(classify.CheckTest)
	}
	return string(classify.CheckRun)
}

// interpreters run the script that they are given.
var interpreters = []string{
	"sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "source", ".", "python*", "pypy*", "py", "node", "nodejs", "tsx", "ts-node",
	"deno", "bun", "ruby", "perl", "php", "lua*", "Rscript", "julia", "groovy", "swift", "elixir", "osascript", "tclsh", "bb",
}

// Programs that run the command after their own flags. The number says how many words of their own they take.
var wrappers = map[string]int{
	"env": 0, "time": 0, "command": 0, "exec": 0, "builtin": 0, "nohup": 0, "stdbuf": 0, "setsid": 0, "sudo": 0, "doas": 0, "nice": 0,
	"ionice": 0, "unbuffer": 0, "timeout": 1, "gtimeout": 1, "xvfb-run": 0, "cross-env": 0, "dotenv": 0, "npx": 0, "bunx": 0, "pnpx": 0,
	"uvx": 0, "pipx": 0, "arch": 0, "caffeinate": 0, "script": 0, "strace": 0, "noglob": 0, "xargs": 0, "flock": 1, "chronic": 0, "eatmydata": 0,
	"gtime": 0, "winpty": 0, "watch": 0, "parallel": 0,
}

// Programs that run the command after a word of theirs.
var runners = map[string][]string{
	"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "hatch": {"run"}, "pdm": {"run"}, "rye": {"run"}, "pixi": {"run"}, "conda": {"run"},
	"micromamba": {"run"}, "bundle": {"exec"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "npm": {"exec", "x"}, "bun": {"x"},
	"mise": {"exec", "x"}, "asdf": {"exec"}, "devbox": {"run"}, "direnv": {"exec"}, "opam": {"exec"}, "fvm": {"flutter", "dart"},
	"volta": {"run"}, "dotenvx": {"run"}, "doppler": {"run"}, "op": {"run"},
}

// valueFlags are flags of wrappers that take the next word as their value.
var valueFlags = []string{"-u", "-n", "-s", "-k", "-p", "--package", "-e", "--signal", "-I", "-L", "-P", "--with", "--group", "--extra", "-d", "-W", "-X"}

// bare returns a command without assignments and without the programs that only run it.
func bare(words []string) []string {
	for len(words) > 0 {
		w := words[0]
		name := programName(w)
		own, wraps := wrappers[name]
		switch {
		case isAssignment(w):
			words = words[1:]
		case matches([]string{"python*", "pypy*", "py"}, name):
			if module := afterFlags(words[1:], 0); len(module) > 0 && slices.Contains(words[:len(words)-len(module)], "-m") {
				return module // "python -m pytest"
			}
			return words
		case wraps && len(words) > 1:
			words = afterFlags(words[1:], own)
		case len(words) > 2 && slices.Contains(runners[name], words[1]):
			words = afterFlags(words[2:], 0)
			if name == "direnv" && len(words) > 0 {
				words = words[1:] // the folder
			}
		default:
			return words
		}
	}
	return words
}

// afterFlags drops leading flags and assignments, and then n words.
func afterFlags(words []string, n int) []string {
	for len(words) > 0 {
		w := words[0]
		switch {
		case w == "--":
			words = words[1:]
			return words[min(n, len(words)):]
		case strings.HasPrefix(w, "-"):
			words = words[1:]
			if slices.Contains(valueFlags, w) && len(words) > 1 {
				words = words[1:]
			}
		case isAssignment(w):
			words = words[1:]
		default:
			return words[min(n, len(words)):]
		}
	}
	return nil
}

// isAssignment reports whether a word sets a variable: "CI=1".
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	return !strings.ContainsFunc(name, func(c rune) bool {
		return c != '_' && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') && !('0' <= c && c <= '9')
	})
}

const maxScope = 20 // words

// scope returns the words of a check that choose what it checks.
func scope(words []string) []string {
	var kept []string
	for i, w := range words {
		if i == 0 {
			kept = append(kept, programName(w))
			continue
		}
		if w == "." || w == "./..." || w == "..." || isNumber(w) || isNeutral(w) || slices.Contains(kept, w) {
			continue
		}
		if len(kept) < maxScope {
			kept = append(kept, clip(w, 100))
		}
	}
	return kept
}

// neutral are flags that change how a check runs or prints, and not what it checks.
var neutral = strings.Fields(`v vv vvv q s x ci race count cover coverage coverprofile covermode cov timeout shuffle json p
	parallel verbose quiet silent color colors no-color nocapture no-capture show-output runInBand run-in-band bail maxfail tb
	lf ff failfast fail-fast no-fail-fast failed no-cov reporter reporters maxWorkers max-workers workers w j n B b no-daemon
	info stacktrace rerun-tasks release all workspace all-targets all-features locked offline no-watch watch watchAll watch-all
	forceExit detectOpenHandles passWithNoTests no-header format trace`)

func isNeutral(w string) bool {
	if !strings.HasPrefix(w, "-") {
		return w == "run" || w == "exec"
	}
	name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
	return name == "" || slices.Contains(neutral, name)
}

// isNumber reports whether w is a number or a time: the value of a flag such as -timeout.
func isNumber(w string) bool {
	w = strings.TrimRight(w, "smh")
	return w != "" && strings.Trim(w, "0123456789.") == ""
}
