package classifytest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// fake is a testing.TB that keeps what it is told instead of failing.
type fake struct {
	testing.TB
	name string

	mu      sync.Mutex
	said    []string
	logged  []string
	cleanup []func()
}

func newFake(t *testing.T, name string) *fake {
	f := &fake{TB: t, name: name}
	t.Cleanup(f.end)
	return f
}

func (f *fake) Name() string { return f.name }
func (f *fake) Helper()      {}
func (f *fake) Failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.said) > 0
}

func (f *fake) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = append(f.said, fmt.Sprintf(format, args...))
}

func (f *fake) Logf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logged = append(f.logged, fmt.Sprintf(format, args...))
}

func (f *fake) Error(args ...any)                 { f.Errorf("%s", fmt.Sprint(args...)) }
func (f *fake) Fatal(args ...any)                 { f.Errorf("%s", fmt.Sprint(args...)); runtime.Goexit() }
func (f *fake) Fatalf(format string, args ...any) { f.Errorf(format, args...); runtime.Goexit() }
func (f *fake) Cleanup(do func())                 { f.cleanup = append(f.cleanup, do) }

// run runs a test on f to its end.
func (f *fake) run(test func()) *fake {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer f.end()
		test()
	}()
	<-done
	return f
}

func (f *fake) end() {
	for len(f.cleanup) > 0 {
		last := len(f.cleanup) - 1
		do := f.cleanup[last]
		f.cleanup = f.cleanup[:last]
		do()
	}
}

// text is all that f was told.
func (f *fake) text() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.said, "\n")
}
