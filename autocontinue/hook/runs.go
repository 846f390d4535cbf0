package hook

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed runners.txt
var runnersText string

// runners is runners.txt.
type runners struct {
	runs  map[string][]runner // by program
	globs []runner            // whose program is a pattern
	flags map[string][]string // flags that take a value
	never map[string][]string
}

// runner is a line of runners.txt: patterns of a program's name and of the words after it.
type runner struct {
	programs []string
	words    []runnerWord
}

type runnerWord struct {
	patterns []string
	skips    bool // other words may come before
}

var knownRunners = sync.OnceValue(func() runners {
	r := runners{runs: make(map[string][]runner), flags: make(map[string][]string), never: make(map[string][]string)}
	for line := range strings.Lines(runnersText) {
		f := strings.Fields(line)
		switch {
		case len(f) == 0 || f[0][0] == '#':
		case f[0] == "flags":
			r.flags[f[1]] = append(r.flags[f[1]], f[2:]...)
		case f[0] == "never":
			r.never[f[1]] = append(r.never[f[1]], f[2:]...)
		default:
			run := runner{programs: strings.Split(f[0], "|")}
			for _, w := range f[1:] {
				w, skips := strings.CutPrefix(w, "...")
				run.words = append(run.words, runnerWord{patterns: strings.Split(w, "|"), skips: skips})
			}
			for _, p := range run.programs {
				if strings.Contains(p, "*") {
					r.globs = append(r.globs, run)
				} else {
					r.runs[p] = append(r.runs[p], run)
				}
			}
		}
	}
	return r
})

// runsTests reports whether a command, without its assignments and wrappers, runs tests.
func runsTests(words []string) bool {
	if len(words) == 0 {
		return false
	}
	r := knownRunners()
	program := programName(words[0])
	args := words[1:]
	for _, who := range []string{"*", program} {
		for _, flag := range r.never[who] {
			for i, a := range args {
				if a == flag || i+1 < len(args) && a+"="+args[i+1] == flag {
					return false
				}
			}
		}
	}
	plain := r.plain(program, args)
	for _, run := range r.runs[program] {
		if run.fits(args, plain) {
			return true
		}
	}
	for _, run := range r.globs {
		if matches(run.programs, program) && run.fits(args, plain) {
			return true
		}
	}
	return isTestScript(words[0]) || interprets(program) && len(plain) > 0 && isTestScript(plain[0])
}

// plain returns args without flags and their values.
func (r runners) plain(program string, args []string) []string {
	var plain []string
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(r.flags[program], args[i]):
			i++
		case !strings.HasPrefix(args[i], "-") && !strings.HasPrefix(args[i], "+"):
			plain = append(plain, args[i])
		}
	}
	return plain
}

func (run runner) fits(args, plain []string) bool {
	rest := plain
	for _, w := range run.words {
		if strings.HasPrefix(w.patterns[0], "-") {
			if !slices.ContainsFunc(args, func(a string) bool { return matches(w.patterns, a) }) {
				return false
			}
			continue
		}
		n := slices.IndexFunc(rest, func(a string) bool { return matches(w.patterns, a) })
		if n < 0 || n > 0 && !w.skips {
			return false
		}
		rest = rest[n+1:]
	}
	return true
}

func matches(patterns []string, s string) bool {
	for _, p := range patterns {
		if p == s {
			return true
		}
		if !strings.Contains(p, "*") {
			continue
		}
		if ok, err := path.Match(strings.ReplaceAll(p, "/", "\x00"), strings.ReplaceAll(s, "/", "\x00")); ok && err == nil {
			return true // "*" stands for slashes, too
		}
	}
	return false
}

// programName returns a program without its folder and what its system adds to its name.
func programName(w string) string {
	w = w[strings.LastIndexAny(w, `/\`)+1:]
	for _, ext := range []string{".exe", ".cmd", ".bat", ".sh", ".js", ".mjs", ".cjs", ".py", ".phar"} {
		if name, ok := strings.CutSuffix(w, ext); ok && name != "" {
			return name
		}
	}
	return w
}

// interprets reports whether a program runs the script that it is given.
func interprets(program string) bool { return matches(interpreters, program) }

var interpreters = []string{
	"sh", "bash", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "source", ".", "python*", "pypy*", "py", "node", "tsx", "ts-node",
	"ruby", "perl", "php", "lua*", "Rscript", "julia", "groovy",
}

// isTestScript reports whether a file is a script for tests by its name: "run-tests.sh", "scripts/test", "tests/login_test.py".
func isTestScript(w string) bool {
	name := w[strings.LastIndexAny(w, `/\`)+1:]
	if name == w && (name == "test" || !strings.Contains(name, ".")) {
		return false // the shell's own test, or a program on the path
	}
	name, _, _ = strings.Cut(name, ".")
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c == '-' || c == '_' }), func(part string) bool {
		return part == "test" || part == "tests" || part == "spec" || part == "specs" || part == "runtests" || part == "testsuite"
	})
}
