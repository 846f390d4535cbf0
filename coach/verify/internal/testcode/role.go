package testcode

import (
	"path"
	"slices"
	"strings"
)

// IsTest reports whether a file, by its path in slashes, holds tests or what they compare with.
func IsTest(name string) bool {
	base := path.Base(name)
	if lex().TestName.Match(base) || lex().TestClass.Match(base) {
		return true
	}
	folders := strings.Split(strings.ToLower(path.Dir(name)), "/")
	isTests := func(folder string) bool { return slices.Contains(lex().TestFolders, folder) }
	return !IsProse(name) && slices.ContainsFunc(folders, isTests)
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
func IsCode(name string) bool { return slices.Contains(lex().Programs, extension(name)) }

// IsProse reports whether a file is a document, by its name.
func IsProse(name string) bool { return slices.Contains(lex().Prose, extension(name)) }

func extension(name string) string { return strings.ToLower(path.Ext(name)) }
