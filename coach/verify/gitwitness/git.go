package gitwitness

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

const (
	callTimeout = time.Minute // of one call of git
	maxAnswer   = 64 << 20    // bytes of its output that are read
	maxSource   = 4 << 20     // bytes of a file, or of the lines that git grep finds
)

// hardening keeps git from running, fetching or believing what the repository's settings say: the agent can write them.
var hardening = sync.OnceValue(func() []string {
	args := []string{"--no-pager", "--no-optional-locks", "--no-replace-objects",
		"-c", "core.hooksPath=" + os.DevNull, // post-index-change runs when an index is written
		"-c", "core.ignoreCase=" + strconv.FormatBool(runtime.GOOS != "linux")}
	for _, setting := range lex().Settings {
		args = append(args, "-c", setting)
	}
	return args
})

// failure is an error that ends a look. Check and must raise it, and catch returns it.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](x T, err error) T {
	check(err)
	return x
}

// catch is deferred by functions whose error may be a failure.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case failure:
		*err = r.error
	default:
		panic(r)
	}
}

// exitError is a call of git that ended with another status than 0; with -1 if it was stopped.
type exitError struct {
	error
	status int
}

// exited reports whether err is a call of git that ended with that status.
func exited(err error, status int) bool {
	e, ok := errors.AsType[exitError](err)
	return ok && e.status == status
}

// git runs git commands in one folder, until its context ends.
type git struct {
	ctx context.Context
	dir string
	env []string // beside that of all calls: the index, settings that switch filters off
}

func (g git) with(env ...string) git {
	g.env = slices.Concat(g.env, env)
	return g
}

// limited runs git with arguments, the first of which is the command. It returns at most max bytes of the standard
// output, and whether there were more.
func (g git) limited(max int, stdin string, args ...string) (text []byte, over bool, err error) {
	env, _ := cmdwitness.Environment{Clean: true}.Of(os.Environ())
	out := answer{max: max}
	cmd := cmdwitness.Command{
		Args:    slices.Concat([]string{"git"}, hardening(), args),
		Dir:     g.dir,
		Env:     slices.Concat(env, lex().Environment, []string{"GIT_GRAFT_FILE=" + os.DevNull}, g.env),
		Timeout: callTimeout,
		Keep:    4096,
		Stdout:  &out,
		Stdin:   strings.NewReader(stdin),
		Brief:   true,
	}
	r, err := cmdwitness.Run(g.ctx, cmd)
	if err == nil && (r.Why != "" || r.Exit != 0) {
		if m := lex().Complaint.Find(r.Output); m != nil {
			r.Output = m[1] // the first
		}
		said := plaintext.MaskedLine(strings.TrimSpace(r.Output), 200)
		why := cmp.Or(r.Why, said, fmt.Sprintf("it ended with status %d", r.Exit))
		err = exitError{fmt.Errorf("git %s: %s", args[0], why), r.Exit}
	}
	return out.text.Bytes(), out.over, err
}

// answer keeps up to max bytes. The buffer is not embedded: io.Copy would fill it by its ReadFrom, past the limit.
type answer struct {
	text bytes.Buffer
	max  int
	over bool
}

func (a *answer) Write(p []byte) (int, error) {
	part := p[:min(len(p), a.max-a.text.Len())]
	a.over = a.over || len(part) < len(p)
	a.text.Write(part)
	return len(p), nil
}

// run returns the whole output of a command.
func (g git) run(stdin string, args ...string) (string, error) {
	text, over, err := g.limited(maxAnswer, stdin, args...)
	if err == nil && over {
		err = fmt.Errorf("git %s: its answer is larger than %d MiB", args[0], maxAnswer>>20)
	}
	return string(text), err
}

// line is run for an answer of one line.
func (g git) line(args ...string) (string, error) {
	out, err := g.run("", args...)
	return strings.TrimRight(out, "\r\n"), err
}

// names is run for an answer of names that end with a zero byte.
func (g git) names(args ...string) ([]string, error) {
	out, err := g.run("", args...)
	return zeroSplit(out), err
}

func zeroSplit(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00")
}

// blob returns the content of a file; "" if it cannot be read whole.
func (g git) blob(object string) string {
	text, over, err := g.limited(maxSource, "", "cat-file", "blob", object)
	if err != nil || over {
		return ""
	}
	return string(text)
}

// filtersOff returns variables that switch every filter driver off. Clean filters are commands that would run when a
// file is compared with what is recorded.
func (g git) filtersOff() []string {
	var env []string
	for _, key := range must(g.names("config", "--list", "-z", "--name-only")) {
		value := ""
		if strings.HasSuffix(key, ".required") {
			value = "false"
		}
		if strings.HasPrefix(key, "filter.") {
			env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", len(env)/2, key),
				fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", len(env)/2, value))
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(env)/2))
}

var errNoCommit = errors.New("there is no such commit")

// commit returns the full name of the commit that rev names. A rev that looks like a hash is one: a branch of that name
// does not stand for it. The error is errNoCommit, or says what went wrong.
func (g git) commit(rev string) (string, error) {
	isHash := lex().HexName.Match(rev)
	if len(rev) > 256 || !isHash && !lex().RefName.Match(rev) || strings.Contains(rev, "..") {
		return "", errors.New("it is not the name of a commit")
	}
	name, err := g.line("rev-parse", "--verify", "--end-of-options", rev+"^{commit}")
	switch says := fmt.Sprint(err); {
	case strings.Contains(says, "ambiguous"),
		err == nil && isHash && !strings.HasPrefix(name, strings.ToLower(rev)): // an annotated tag, or a branch of that name
		err = errors.New("more than one commit can be meant")
	case lex().UnknownName.Match(says):
		err = errNoCommit
	}
	return name, err
}

// baseline is commit for what the host names.
func (g git) baseline(rev string) string {
	name, err := g.commit(rev)
	if err != nil {
		check(fmt.Errorf("the baseline: %w", err))
	}
	return name
}
