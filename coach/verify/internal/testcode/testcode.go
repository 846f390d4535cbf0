// Package testcode answers which tests a source file declares, and whether they can run and check anything.
//
// [Read] reads one file, [Compare] two versions of a project's test files. The package knows Go, Python, JavaScript,
// TypeScript and Rust. A test file in another language counts as one test.
//
// # Limits
//
// Go is parsed. The other languages are read by the shape of their lines: a test that a program makes is not found.
package testcode

import (
	"cmp"
	_ "embed"
	"hash/fnv"
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
)

//go:embed patterns.txt
var patternsText string

// lex has the patterns of patterns.txt, by their names.
var lex = lazy.Load[struct {
	Asserts, PythonDef, PythonClass, PythonOff, PythonFirst, PythonWhole, ScriptTest, ScriptOption,
	ScriptFirst, RustFn, RustTest, RustIgnored, RustCfg, TestName, TestClass *lazy.Pattern
}](patternsText)

// Test is one test that a file declares.
type Test struct {
	Name     string // with its class or module where that has a name: "AccountTest.test_withdraw"
	Disabled string // why it does not run, in words: "skipped", "marked as an expected failure"; empty: it runs
	Asserts  int    // how many checks its body has, roughly
	Body     uint64 // a hash of its body
	Panics   bool   // it passes when it fails: Rust's should_panic
}

// Change is what happened to a test.
type Change string

// The changes, worst first.
const (
	Removed  Change = "removed"
	Disabled Change = "disabled" // it is there, and does not run
	Emptied  Change = "emptied"  // it is there, and checks less than half of what it did
	Edited   Change = "edited"   // its body changed
)

// Finding is a test that existed before and does not run, or not as before.
type Finding struct {
	File, Name string
	Change     Change
	Why        string // of Disabled
	Now        string // of Removed: a new test of the same file that it may have become
}

// File is one version of a test file. A file that is not there has no text.
type File struct {
	Path string
	Text []byte
}

// Compare returns what happened to the tests of the files before, in their order. A test that moved to another file, or
// has another name and the same body, is not a finding. In a file whose name is not that of a test file no test runs.
// Only files that differ need to be given.
func Compare(before, after []File) []Finding {
	type entry struct {
		Test
		file string
	}
	var now []entry
	for _, f := range after {
		if !collected(f.Path) && !slices.ContainsFunc(before, func(b File) bool { return b.Path == f.Path }) {
			continue
		}
		for _, t := range Read(f.Path, f.Text) {
			now = append(now, entry{t, f.Path})
		}
	}
	used := make([]bool, len(now))
	take := func(fits func(entry) bool) *entry {
		for i := range now {
			if !used[i] && fits(now[i]) {
				used[i] = true
				return &now[i]
			}
		}
		return nil
	}
	var old []entry
	for _, f := range before {
		for _, t := range Read(f.Path, f.Text) {
			old = append(old, entry{t, f.Path})
		}
	}
	partner := make([]*entry, len(old))
	fits := []func(o, n entry) bool{
		func(o, n entry) bool { return o.file == n.file && o.Name == n.Name },
		func(o, n entry) bool { return o.Name == n.Name },
		func(o, n entry) bool { return o.Body == n.Body && o.Body != 0 },
		func(o, n entry) bool { return o.file == n.file && last(o.Name) == last(n.Name) },
	}
	for _, same := range fits {
		for i, o := range old {
			if partner[i] == nil {
				partner[i] = take(func(n entry) bool { return same(o, n) })
			}
		}
	}
	var list []Finding
	for i, o := range old {
		if o.Disabled != "" {
			continue // it did not run before
		}
		f := Finding{File: o.file, Name: o.Name}
		switch n := partner[i]; {
		case n == nil:
			f.Change = Removed
			became := take(func(n entry) bool { return n.file == o.file && n.Disabled == "" && n.Asserts >= o.Asserts })
			if became != nil {
				f.Now = became.Name
			}
		case n.Disabled != "":
			f.Change, f.Why = Disabled, n.Disabled
		case n.Panics && !o.Panics:
			f.Change, f.Why = Disabled, expectedFailure
		case o.Asserts > 0 && n.Asserts*2 < o.Asserts:
			f.Change = Emptied
		case o.Body != n.Body:
			f.Change = Edited
		default:
			continue
		}
		list = append(list, f)
	}
	rank := []Change{Removed, Disabled, Emptied, Edited}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Compare(slices.Index(rank, a.Change), slices.Index(rank, b.Change))
	})
	return list
}

func last(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// Read returns the tests of a file, in order. A test file in a language that the package does not know is one test with
// the name of the file.
func Read(name string, text []byte) []Test {
	if len(text) == 0 {
		return nil
	}
	read, known := languages[strings.ToLower(path.Ext(name))]
	switch {
	case known && len(text) <= maxText:
		return read(name, string(text))
	case known || !IsTest(name):
		return nil
	}
	return []Test{{Name: path.Base(name), Asserts: lines(string(text)), Body: digest(string(text))}}
}

const maxText = 4 << 20

var languages = map[string]func(name, text string) []Test{
	".go": goTests, ".py": pythonTests, ".rs": rustTests,
	".js": scriptTests, ".jsx": scriptTests, ".mjs": scriptTests, ".cjs": scriptTests,
	".ts": scriptTests, ".tsx": scriptTests, ".mts": scriptTests, ".cts": scriptTests,
}

// lines counts the lines of a text that say something.
func lines(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}

// digest hashes a body without its white space and comments of whole lines.
func digest(body string) uint64 {
	h := fnv.New64a()
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#[") {
			continue
		}
		_, _ = h.Write([]byte(strings.Join(strings.Fields(line), " ") + "\n"))
	}
	return h.Sum64()
}
