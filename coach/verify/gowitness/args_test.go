package gowitness

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCommandsThatAreGoTest(t *testing.T) {
	for in, want := range map[string]string{
		"go test":       "go test FLAGS",
		"go test ./...": "go test FLAGS ./...",
		"/usr/local/go/bin/go test -race -tags a,b -v ./...": "/usr/local/go/bin/go test FLAGS -race -tags a,b -v ./...",
		"go1.25.3 test .":                  "go1.25.3 test FLAGS .",
		"go.exe test":                      "go.exe test FLAGS",
		"go -C sub test ./...":             "go -C sub test FLAGS ./...",
		"go test -C=sub --tags=x ./...":    "go test -C=sub FLAGS --tags=x ./...",
		"go test -run -race ./...":         "go test FLAGS -run -race ./...",
		"go test . -run TestA -args -C=no": "go test FLAGS . -run TestA -args -C=no",
	} {
		words := strings.Fields(in)
		require.True(t, IsGoTest(words), in)
		assert.Equal(t, want, strings.Join(slices.Insert(words, testWord(words), "FLAGS"), " "))
	}
}

func TestCommandsThatAreNot(t *testing.T) {
	for _, in := range []string{"", "go", "test", "go build ./...", "go vet", "gotest ./...", "go run test", "make test",
		"go -C",
		"go -C test", "gofmt test", "sudo go test", "go tool test"} {
		assert.False(t, IsGoTest(strings.Fields(in)), in)
	}
}
