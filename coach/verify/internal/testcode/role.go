package testcode

import (
	"path"
	"slices"
	"strings"
)

var (
	testFolders = []string{
		"test", "tests", "__tests__", "__snapshots__", "testdata", "spec", "specs", "e2e", "androidtest",
	}
	prose = []string{".md", ".rst", ".adoc"}
)

// IsTest reports whether a file, by its path in slashes, holds tests or what they compare with.
func IsTest(name string) bool {
	base := path.Base(name)
	if lex.TestName.Match(base) || lex.TestClass.Match(base) {
		return true
	}
	return !slices.Contains(prose, strings.ToLower(path.Ext(base))) &&
		slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(p string) bool {
			return slices.Contains(testFolders, strings.ToLower(p))
		})
}

// collected reports whether runners look for tests in a file of that name.
func collected(name string) bool {
	base := path.Base(name)
	if path.Ext(name) == ".py" {
		return strings.HasPrefix(base, "test") || strings.HasSuffix(base, "_test.py")
	}
	ignored := func(dir string) bool {
		return dir == "testdata" || len(dir) > 1 && strings.ContainsRune("._", rune(dir[0]))
	}
	if path.Ext(name) == ".go" && slices.ContainsFunc(strings.Split(path.Dir(name), "/"), ignored) {
		return false // "./..." does not match it
	}
	return MayHoldTests(name)
}

// MayHoldTests reports whether a file can declare tests although its name does not say so, as Rust's sources do.
func MayHoldTests(name string) bool {
	return path.Ext(name) == ".rs" || path.Ext(name) == ".py" || IsTest(name)
}

// Decides reports whether a change of the file can change what a run of tests shows: a program or a test.
func Decides(name string) bool { return IsCode(name) || IsTest(name) }

// IsCode reports whether a file holds a program, by its name.
func IsCode(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext != "" && strings.Contains(codeExtensions, ext+" ")
}

const codeExtensions = ".go .py .pyi .js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte .java .kt .kts .groovy " +
	".scala .rs .c .h .cc .cpp .cxx .hpp .m .mm .cs .fs .vb .swift .rb .php .pl .pm .lua .ex .exs .erl .hs .ml ." +
	"dart .jl " +
	".zig .nim .sh .bash .zsh .fish .ps1 .bat .sql "
