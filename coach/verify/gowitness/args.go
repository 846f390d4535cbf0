package gowitness

import (
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// command is a go test command, taken apart.
type command struct {
	program string
	before  []string // between the program and the flags of go test: "test", "-C", "dir" in some order
	chdir   []string // the -C flag among them, as arguments
	after   []string // all that comes behind
	build   []string // those of the flags that decide which files belong to a package
	files   []string // Go files that are named, instead of packages
	none    bool     // no test is meant to run
	choice  choice   // which tests are
}

var goProgram = compiled(`^go(?:[0-9][0-9.a-z]*)?(?:\.exe)?$`)

// IsGoTest reports whether a command is go test, in any of its spellings, so that [Run] can run it.
func IsGoTest(args []string) bool {
	_, err := parse(args)
	return err == nil
}

var errNotGoTest = errors.New("gowitness: the command is not go test")

// Flags of go test that take a value in the next argument where they have no "=". Others have none.
var valued = strings.Fields(`C run skip bench benchtime count cpu parallel timeout fuzz fuzztime fuzzminimizetime fuzzcachedir list o exec
	outputdir blockprofile blockprofilerate cpuprofile memprofile memprofilerate mutexprofile mutexprofilefraction trace shuffle vet
	covermode coverpkg coverprofile tags mod modfile overlay p asmflags gccgoflags gcflags ldflags buildmode compiler installsuffix
	pgo pkgdir toolexec`)

var (
	choosing = []string{"list", "c", "n"}
	building = []string{"tags", "mod", "modfile", "overlay", "race", "msan", "asan", "compiler"}
)

func parse(args []string) (command, error) {
	if len(args) < 2 || !goProgram().MatchString(path.Base(filepath.ToSlash(args[0]))) {
		return command{}, errNotGoTest
	}
	c := command{program: args[0]}
	rest := args[1:]
	test := false
	for {
		if len(rest) > 0 && rest[0] == "test" && !test {
			test = true
			c.before, rest = append(c.before, "test"), rest[1:]
			continue
		}
		n := 0
		if name, _, has := flagOf(first(rest)); name == "C" && c.chdir == nil {
			if n = 1; !has {
				n = 2
			}
		}
		if n == 0 || len(rest) < n {
			break
		}
		c.chdir = slices.Clone(rest[:n])
		c.before, rest = append(c.before, c.chdir...), rest[n:]
	}
	if !test {
		return command{}, errNotGoTest
	}
	c.after = slices.Clone(rest)
	for i := 0; i < len(rest); i++ {
		name, value, has := flagOf(rest[i])
		if name == "args" {
			break
		}
		if name == "" {
			if strings.HasSuffix(rest[i], ".go") {
				c.files = append(c.files, rest[i])
			}
			continue
		}
		n := 1
		if !has && slices.Contains(valued, name) && i+1 < len(rest) {
			n = 2
		}
		if !has && n == 2 {
			value = rest[i+1]
		}
		switch {
		case slices.Contains(choosing, name):
			c.none = true
		case name == "run":
			c.choice.run = value
		case name == "skip":
			c.choice.skip = value
		}
		if slices.Contains(building, name) {
			c.build = append(c.build, rest[i:i+n]...)
		}
		i += n - 1
	}
	return c, nil
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// flagOf returns the name of a flag, without dashes and the prefix of the flags of a test program, and whether it has a value.
func flagOf(arg string) (name, value string, has bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return "", "", false
	}
	name = strings.TrimPrefix(arg[1:], "-")
	name, value, has = strings.Cut(name, "=")
	return strings.TrimPrefix(name, "test."), value, has
}

// run returns the arguments to run: every test anew, and reported one by one.
func (c command) run() []string {
	return slices.Concat([]string{c.program}, c.before, []string{"-json", "-count=1"}, c.after)
}

// list returns the arguments to ask for the source files of packages.
func (c command) list(packages []string) []string {
	return slices.Concat([]string{c.program, "list"}, c.chdir,
		[]string{"-e", "-find", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,IgnoredGoFiles"}, c.build, []string{"--"}, packages)
}
