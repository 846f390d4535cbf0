package gowitness

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommandsThatAreGoTest(t *testing.T) {
	for _, tt := range []struct{ in, run, list string }{
		{"go test", "go test -json -count=1", "go list FLAGS -- p"},
		{"go test ./...", "go test -json -count=1 ./...", "go list FLAGS -- p"},
		{"/usr/local/go/bin/go test -race -tags a,b -v ./...", "/usr/local/go/bin/go test -json -count=1 -race -tags a,b -v ./...", "/usr/local/go/bin/go list FLAGS -race -tags a,b -- p"},
		{"go1.25.3 test .", "go1.25.3 test -json -count=1 .", "go1.25.3 list FLAGS -- p"},
		{"go.exe test", "go.exe test -json -count=1", "go.exe list FLAGS -- p"},
		{"go -C sub test ./...", "go -C sub test -json -count=1 ./...", "go list -C sub FLAGS -- p"},
		{"go test -C=sub --tags=x ./...", "go test -C=sub -json -count=1 --tags=x ./...", "go list -C=sub FLAGS --tags=x -- p"},
		{"go test . -run TestA -mod mod -args -tags z", "go test -json -count=1 . -run TestA -mod mod -args -tags z", "go list FLAGS -mod mod -- p"},
		{"go test -run -race ./...", "go test -json -count=1 -run -race ./...", "go list FLAGS -- p"},
	} {
		c, err := parse(strings.Fields(tt.in))
		require.NoError(t, err, tt.in)
		assert.Equal(t, tt.run, strings.Join(c.run(), " "))
		list := strings.Join(c.list([]string{"p"}), " ")
		assert.Equal(t, tt.list, strings.Replace(list, "-e -find -json=ImportPath,Dir,TestGoFiles,XTestGoFiles,IgnoredGoFiles", "FLAGS", 1))
		assert.True(t, IsGoTest(strings.Fields(tt.in)))
	}
}

func TestCommandsThatAreNot(t *testing.T) {
	for _, in := range []string{"", "go", "test", "go build ./...", "go vet", "gotest ./...", "go run test", "make test", "go -C", "go -C test", "gofmt test", "sudo go test", "go tool test"} {
		assert.False(t, IsGoTest(strings.Fields(in)), in)
	}
}

func TestTestsThatAreChosen(t *testing.T) {
	for in, tests := range map[string]string{ // that are meant to run, of TestA and TestB
		"go test ./...": "TestA TestB", "go test -v -short -race ./...": "TestA TestB", "go test -run TestA": "TestA", "go test --run=TestA": "TestA",
		"go test -test.run=TestA": "TestA", "go test -run TestB -run TestA": "TestA", "go test -run= .": "TestA TestB", "go test -skip TestB": "TestA",
		"go test -failfast": "TestA TestB", "go test -list .": "", "go test -c": "", "go test . -args -run x": "TestA TestB", "go test -timeout 1m -bench . .": "TestA TestB",
	} {
		c, err := parse(strings.Fields(in))
		require.NoError(t, err)
		var list []string
		for _, name := range []string{"TestA", "TestB"} {
			if !c.none && c.choice.takes(name) {
				list = append(list, name)
			}
		}
		assert.Equal(t, tests, strings.Join(list, " "), in)
	}
}

func TestFolders(t *testing.T) {
	for in, want := range map[string]string{"go test": "/w", "go -C a test": "/w/a", "go test -C=b": "/w/b", "go test -C /x": "/x"} {
		c, err := parse(strings.Fields(in))
		require.NoError(t, err)
		assert.Equal(t, want, strings.ReplaceAll((&runner{c, Options{Dir: "/w"}}).folder(), "\\", "/"), in)
	}
}
