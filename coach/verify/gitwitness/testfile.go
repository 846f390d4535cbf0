package gitwitness

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// Role is what a file is to the tests.
type Role string

// The roles.
const (
	NoRole   Role = ""         // none
	Test     Role = "test"     // it holds tests, or what they compare with
	Settings Role = "settings" // it says which tests run and how: a TestMain, the settings of a test runner
)

var (
	testName = compiled(`(?i)(?:_test|_spec|\.test|\.spec|\.cy)\.[a-z]+$|^test_[^/]*\.py$`)
	// JUnit, NUnit, XCTest, PHPUnit and ScalaTest name a file after its class.
	testClass  = compiled(`(?:Test|Tests|TestCase|Spec|IT)\.(?:java|kt|kts|groovy|scala|cs|fs|vb|swift|php|dart)$`)
	testFolder = []string{"test", "tests", "__tests__", "__snapshots__", "testdata", "spec", "specs", "e2e", "androidtest"}
	// What stands in such a folder and is no program or data of the tests.
	prose = []string{".md", ".rst", ".adoc"}

	// Settings of test runners, and nothing else.
	configName = compiled(`^(?i:conftest\.py|pytest\.ini|tox\.ini|noxfile\.py|` +
		`(?:jest|vitest|karma|playwright|cypress|ava|wdio)\.(?:config|conf)\.[cm]?[jt]sx?|(?:jest|vitest)\.setup\.[cm]?[jt]s|` +
		`\.mocharc(?:\.[a-z]+)?|\.rspec|phpunit\.xml(?:\.dist)?|ctesttestfile\.cmake)$`)
	goTestMain = compiled(`(?m)^func[ \t]+TestMain[ \t]*\(`)
)

// RoleOf returns what a file is to the tests, by its path in slashes. What only its text shows it leaves out: a TestMain, or an init
// function that ends the program, in a Go test file; the tests' part of package.json, pyproject.toml, setup.cfg, go.mod and go.work.
// [Witness.Look] reads them for that.
func RoleOf(name string) Role {
	base := path.Base(name)
	if configName().MatchString(base) {
		return Settings
	}
	if testName().MatchString(base) || testClass().MatchString(base) {
		return Test
	}
	parts := strings.Split(path.Dir(name), "/")
	if slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(testFolder, strings.ToLower(p)) }) &&
		!slices.Contains(prose, strings.ToLower(path.Ext(base))) {
		return Test
	}
	return NoRole
}

const maxSource = 4 << 20 // bytes of a file that are looked through for settings

// role is RoleOf for a file that differs from the commit base: a Go test file that takes over the test program, or did there, is
// Settings, and so is one in which settings of tests, among others, differ, that takes tests out of a Go module, or by which a
// command of the query runs.
func (r *repository) role(ctx context.Context, base string, c verify.Change, commands [][]string) (Role, error) {
	role, name := RoleOf(c.Path), path.Base(c.Path)
	goTest := role == Test && strings.HasSuffix(c.Path, "_test.go")
	goModule := role == NoRole && (name == "go.mod" || name == "go.work")
	if role == NoRole && runsBy(name, commands) && !strings.EqualFold(name, "package.json") {
		return Settings, nil
	}
	goCode := role == NoRole && strings.HasSuffix(name, ".go")
	if goCode {
		if c.Kind != verify.Removed && takesOver(r.source(c.Path), false) {
			return Settings, nil
		}
		return NoRole, nil
	}
	if !goTest && !goModule && (role != NoRole || !mixed(name)) {
		return role, nil
	}
	var now, old []byte
	if c.Kind != verify.Removed {
		now = r.source(c.Path)
	}
	if c.Kind != verify.Added && base != "" {
		text := answer{max: maxSource}
		if err := r.stream(ctx, nil, &text, "cat-file", "blob", base+":"+c.Path); err != nil {
			return role, err
		}
		old = text.text.Bytes()
	}
	switch {
	case goModule:
		if left, err := r.leavesOut(ctx, base, c, now, old); err != nil || !left {
			return role, err
		}
		return Settings, nil
	case goTest && (takesOver(now, true) || takesOver(old, true)):
		return Settings, nil
	case !goTest && settingsIn(name, now) != settingsIn(name, old):
		return Settings, nil
	}
	return role, nil
}

// source returns the beginning of a regular file of the working tree, or nothing.
func (r *repository) source(name string) []byte {
	full := filepath.FromSlash(name)
	if info, err := os.Lstat(filepath.Join(r.root, full)); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.OpenInRoot(r.root, full)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxSource))
	return text
}
