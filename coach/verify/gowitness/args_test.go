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
		{"go -C sub test ./...", "go test -C sub -json -count=1 ./...", "go list -C sub FLAGS -- p"},
		{"go test -C=sub --tags=x ./...", "go test -C=sub -json -count=1 --tags=x ./...", "go list -C=sub FLAGS --tags=x -- p"},
		{"go test . -run TestA -mod mod -args -tags z", "go test -json -count=1 . -run TestA -mod mod -args -tags z", "go list FLAGS -mod mod -- p"},
		{"go test -run -race ./...", "go test -json -count=1 -run -race ./...", "go list FLAGS -- p"},
	} {
		c, ok := parse(strings.Fields(tt.in))
		require.True(t, ok, tt.in)
		assert.Equal(t, tt.run, strings.Join(c.run, " "))
		list := strings.Join(append(c.list, "p"), " ")
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
	for in, chosen := range map[string]bool{
		"go test ./...": false, "go test -v -short -race ./...": false, "go test -run TestA": true, "go test --run=TestA": true, "go test -test.run=TestA": true,
		"go test -skip TestB": true, "go test -failfast": false, "go test -list .": true, "go test -c": true, "go test . -args -run x": false, "go test -timeout 1m -bench . .": false,
	} {
		c, ok := parse(strings.Fields(in))
		require.True(t, ok)
		assert.Equal(t, chosen, c.chosen, in)
	}
	for in, want := range map[string]string{"go test": "", "go -C a test": "a", "go test -C=b": "b", "go test -C /x": "/x"} {
		c, _ := parse(strings.Fields(in))
		assert.Equal(t, want, c.folder, in)
	}
}
