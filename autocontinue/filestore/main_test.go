package filestore_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
)

// The test binary is its own children: what a child does is named by this variable, its arguments follow the binary.
const childVariable = "FILESTORE_TEST_CHILD"

var children = map[string]func(s *filestore.Store, args []string) error{
	"count":   countChild,
	"handle":  handleChild,
	"journal": journalChild,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childVariable)
	if name == "" {
		os.Exit(m.Run())
	}
	child, ok := children[name]
	if !ok {
		child = systemChildren[name]
	}
	s, err := filestore.New(os.Args[1], filestore.Options{LockTimeout: time.Minute})
	if err == nil {
		err = child(s, os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// childOf returns the command of a child that works in dir.
func childOf(t testing.TB, name, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{dir}, args...)...)
	cmd.Env = append(os.Environ(), childVariable+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}

// counter is a document that takes a while to write.
type counter struct {
	Seq, Again int
	Filler     string
}

// countChild counts a document up, N times or, for 0, until it is killed, and says each number it wrote.
func countChild(s *filestore.Store, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	d, err := filestore.NewDocument[counter](s, "counters", args[0])
	if err != nil {
		return err
	}
	for i := 0; n == 0 || i < n; i++ {
		var seq int
		err := d.Update(context.Background(), func(v counter) (counter, error) {
			seq = v.Seq + 1
			return counter{seq, seq, strings.Repeat("x", 20_000)}, nil
		})
		if err != nil {
			return err
		}
		fmt.Println(seq)
	}
	return nil
}

// handleChild handles an output of a session, with the run and the text that it is given, and says what was decided.
func handleChild(s *filestore.Store, args []string) error {
	progress := classify.Result{Type: classify.Status, Confidence: 1}
	a, err := autocontinue.New(autocontinue.Config{Store: s, Classifier: classify.ClassifierFunc(
		func(context.Context, classify.Input) (classify.Result, error) { return progress, nil })})
	if err != nil {
		return err
	}
	d, err := a.Handle(context.Background(), autocontinue.Output{Session: "s", Turn: "t", Run: args[0], Text: args[1]})
	fmt.Println(d.Action)
	return err
}

// journalChild appends lines that say who wrote them, N or, for 0, until it is killed.
func journalChild(s *filestore.Store, args []string) error {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	j := s.Journal()
	for i := 0; n == 0 || i < n; i++ {
		line := fmt.Appendf(nil, `{"who":%q,"n":%d,"filler":%q}`, args[0], i, strings.Repeat("y", 5000))
		if _, err := j.Write(append(line, '\n')); err != nil {
			return err
		}
		fmt.Println(i)
	}
	return nil
}

// lastNumber reads the numbers that a child says until the pipe ends, and returns the last whole one.
func lastNumber(t testing.TB, from io.Reader) int {
	t.Helper()
	last := 0
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return last
		}
		last, err = strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
	}
}

func newStore(t testing.TB, opts filestore.Options) *filestore.Store {
	t.Helper()
	s, err := filestore.New(t.TempDir(), opts)
	require.NoError(t, err)
	return s
}

// other returns a second store of the same folder, as another process has it.
func other(t testing.TB, s *filestore.Store, opts filestore.Options) *filestore.Store {
	t.Helper()
	o, err := filestore.New(s.Dir(), opts)
	require.NoError(t, err)
	return o
}

// journal appends a line.
func journal(s *filestore.Store, line string) error {
	_, err := s.Journal().Write([]byte(line))
	return err
}

func increment(s autocontinue.State) (autocontinue.State, error) {
	s.Seq++
	return s, nil
}

func seqOf(t testing.TB, s *filestore.Store, session string) int {
	t.Helper()
	state, err := s.Load(t.Context(), session)
	require.NoError(t, err)
	return state.Seq
}
