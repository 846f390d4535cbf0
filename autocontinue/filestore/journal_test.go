package filestore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// linesOf returns the journal's lines; an error fails the test.
func linesOf(t testing.TB, dir string) []string {
	t.Helper()
	var lines []string
	for line, err := range filestore.ReadJournal(t.Context(), dir, 0) {
		require.NoError(t, err)
		lines = append(lines, string(line))
	}
	return lines
}

func appendLine(t testing.TB, s *filestore.Store, line string) {
	t.Helper()
	require.NoError(t, journal(s, line))
}

func TestJournal(t *testing.T) {
	s := newStore(t, filestore.Options{})
	assert.Empty(t, linesOf(t, s.Dir()))
	appendLine(t, s, `{"n":1}`)
	n, err := s.Journal().Write([]byte("{\"n\":2}\n"))
	require.NoError(t, err)
	assert.Equal(t, 8, n)
	assert.Equal(t, []string{`{"n":1}`, `{"n":2}`}, linesOf(t, s.Dir()))

	for _, bad := range []string{"", "\n", "a\nb", "a\n\n"} {
		assert.Error(t, journal(s, bad), "%q", bad)
	}
	require.ErrorIs(t, journal(s, strings.Repeat("x", 16<<20)), filestore.ErrTooLarge)
	assert.Len(t, linesOf(t, s.Dir()), 2)
}

// It is what the library's own journal writes to.
func TestJournalOfDecisions(t *testing.T) {
	s := newStore(t, filestore.Options{})
	j := autocontinue.NewJournal(s.Journal())
	for i := range 3 {
		require.NoError(t, j.Observe(t.Context(), autocontinue.Event{Session: fmt.Sprint("s\n", i), Preview: "a\u2028b <c>"}))
	}
	lines := linesOf(t, s.Dir())
	require.Len(t, lines, 3)
	var e autocontinue.Event
	require.NoError(t, json.Unmarshal([]byte(lines[2]), &e))
	assert.Equal(t, "s\n2", e.Session)
}

func TestProcessesShareTheJournal(t *testing.T) {
	s := newStore(t, filestore.Options{})
	var wg sync.WaitGroup
	for i := range 16 {
		cmd := childOf(t, "journal", s.Dir(), fmt.Sprint(i), "20")
		wg.Go(func() { assert.NoError(t, cmd.Run()) })
	}
	wg.Wait()
	next := make(map[string]int)
	for _, line := range linesOf(t, s.Dir()) {
		var l struct {
			Who string
			N   int
		}
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		assert.Equal(t, next[l.Who], l.N, "the lines of a process are in order")
		next[l.Who]++
	}
	assert.Len(t, next, 16)
	for who, n := range next {
		assert.Equal(t, 20, n, who)
	}
}

// A journal that grows too large is begun anew; the one before it is kept, and no more.
func TestJournalIsBounded(t *testing.T) {
	s := newStore(t, filestore.Options{JournalSize: 100})
	for i := range 50 {
		appendLine(t, s, fmt.Sprintf(`{"n":%d}`, 1000+i)) // 11 bytes with the line break, so 9 to a file
	}
	lines := linesOf(t, s.Dir())
	assert.Len(t, lines, 9+5)
	for i, line := range lines {
		assert.Equal(t, fmt.Sprintf(`{"n":%d}`, 1036+i), line)
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), "journal*"))
	require.NoError(t, err)
	assert.Len(t, names, 2)
	for _, name := range names {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(100))
	}
	appendLine(t, s, strings.Repeat("x", 500))
	assert.Len(t, linesOf(t, s.Dir()), 5+1, "a line larger than that has a file of its own")
}

// What a killed process left of its line is ended, so that it takes no other line with it.
func TestHalfALine(t *testing.T) {
	for name, tt := range map[string]struct {
		left        string
		alone, next []string
	}{
		"a part": {"{\"n\":1}\n{\"n\":", []string{`{"n":1}`}, []string{`{"n":1}`, `{"n":`, `{"n":3}`}},
		"all but the break": {"{\"n\":1}\n{\"n\":2}", []string{`{"n":1}`, `{"n":2}`},
			[]string{`{"n":1}`, `{"n":2}`, `{"n":3}`}},
		"nothing but it": {"{", nil, []string{`{`, `{"n":3}`}},
		"blank lines":    {"\n \n\r\n", nil, []string{`{"n":3}`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, filestore.Options{})
			write(t, filepath.Join(s.Dir(), "journal.jsonl"), []byte(tt.left))
			assert.Equal(t, tt.alone, linesOf(t, s.Dir()))
			appendLine(t, s, `{"n":3}`)
			assert.Equal(t, tt.next, linesOf(t, s.Dir()))
		})
	}
}

// A line that is too large to be one of ours is told of, and those behind it are read.
func TestALineTooLarge(t *testing.T) {
	s := newStore(t, filestore.Options{JournalSize: 100 << 20})
	path := filepath.Join(s.Dir(), "journal.jsonl")
	write(t, path, []byte("{\"n\":1}\n"))
	require.NoError(t, os.Truncate(path, 20<<20)) // zeros, which take no space
	appendLine(t, s, `{"n":2}`)
	var got []string
	for line, err := range filestore.ReadJournal(t.Context(), s.Dir(), 0) {
		if errors.Is(err, filestore.ErrTooLarge) {
			assert.ErrorContains(t, err, "the line at byte 8 of "+path)
			assert.Nil(t, line)
			got = append(got, "error")
			continue
		}
		require.NoError(t, err)
		got = append(got, string(line))
	}
	assert.Equal(t, []string{`{"n":1}`, "error", `{"n":2}`}, got)
}

func TestReadingEnds(t *testing.T) {
	s := newStore(t, filestore.Options{})
	for range 3 {
		appendLine(t, s, "{}")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []error
	for _, err := range filestore.ReadJournal(ctx, s.Dir(), 0) {
		got = append(got, err)
		cancel()
	}
	assert.Equal(t, []error{nil, context.Canceled}, got)
	for range filestore.ReadJournal(t.Context(), s.Dir(), 0) {
		break
	}
	for range filestore.ReadJournal(t.Context(), s.Dir(), time.Millisecond) {
		break
	}
}

// follower follows a journal in the background.
type follower struct {
	t     *testing.T
	lines chan string
	stop  func()
}

func follow(t *testing.T, dir string) *follower {
	ctx, cancel := context.WithCancel(t.Context())
	f := &follower{t: t, lines: make(chan string, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for line, err := range filestore.ReadJournal(ctx, dir, time.Millisecond) {
			if err != nil {
				f.lines <- err.Error()
				continue
			}
			f.lines <- string(line)
		}
	}()
	f.stop = func() { cancel(); <-done }
	t.Cleanup(f.stop)
	return f
}

// want waits for the lines that come next.
func (f *follower) want(lines ...string) {
	f.t.Helper()
	for _, want := range lines {
		require.Equal(f.t, want, <-f.lines)
	}
}

func TestFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not there yet")
	s, err := filestore.New(dir, filestore.Options{JournalSize: 40})
	require.NoError(t, err)
	f := follow(t, dir)
	appendLine(t, s, "1")
	f.want("1")
	appendLine(t, s, "2")
	appendLine(t, s, "3")
	f.want("2", "3")
	for i := range 100 { // one after another, so that at most one rotation comes between two looks
		line := fmt.Sprint("line ", i)
		appendLine(t, s, line)
		f.want(line)
	}

	path := filepath.Join(dir, "journal.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	for _, part := range []string{"one li", "ne in th", "ree parts\nand", " another\n"} {
		_, err := file.WriteString(part)
		require.NoError(t, err)
	}
	require.NoError(t, file.Close())
	f.want("one line in three parts", "and another")

	f.stop()
	assert.Empty(t, f.lines, "nothing came twice")
}

// What is there when following begins is read first, the older file included.
func TestFollowBeginsWithWhatIsThere(t *testing.T) {
	s := newStore(t, filestore.Options{JournalSize: 40})
	for i := range 9 {
		appendLine(t, s, fmt.Sprint("line ", i))
	}
	want := linesOf(t, s.Dir())
	require.Len(t, want, 5+4)
	f := follow(t, s.Dir())
	f.want(want...)
	f.stop()
	assert.Empty(t, f.lines)
}

func TestFollowAJournalThatIsTakenAway(t *testing.T) {
	s := newStore(t, filestore.Options{})
	path := filepath.Join(s.Dir(), "journal.jsonl")
	f := follow(t, s.Dir())
	appendLine(t, s, "a long first line")
	f.want("a long first line")
	write(t, path, nil) // emptied
	appendLine(t, s, "second")
	f.want("second")
	require.NoError(t, os.RemoveAll(s.Dir()))
	appendLine(t, s, "third")
	f.want("third")
}

// Two new journals between two looks take nothing away: the file of the look before is still open, and the other two are
// there.
func TestFollowOverTwoNewJournals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, filestore.Options{JournalSize: 40})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var got []string
		go func() {
			for line, err := range filestore.ReadJournal(ctx, s.Dir(), time.Minute) {
				assert.NoError(t, err)
				got = append(got, string(line))
			}
		}()
		appendLine(t, s, "line 0")
		synctest.Wait()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"line 0"}, got)
		want := slices.Clone(got)
		for i := range 12 { // five a file
			line := fmt.Sprint("line ", i+1)
			appendLine(t, s, line)
			want = append(want, line)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, want, got)
	})
}

// A process that rotates all the time loses a reader nothing but what two rotations took away.
func TestReadWhileItIsWritten(t *testing.T) {
	s := newStore(t, filestore.Options{JournalSize: 500})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 2000 {
			assert.NoError(t, journal(s, fmt.Sprint(1000+i)))
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		lines := linesOf(t, s.Dir())
		for i, line := range lines {
			var first, n int
			_, err := fmt.Sscan(lines[0], &first)
			require.NoError(t, err)
			_, err = fmt.Sscan(line, &n)
			require.NoError(t, err)
			require.Equal(t, first+i, n, "a gap, or a line twice")
		}
	}
}

func ExampleReadJournal() {
	dir, err := os.MkdirTemp("", "sidecoach")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	store, err := filestore.New(dir, filestore.Options{})
	if err != nil {
		panic(err)
	}
	observer := autocontinue.NewJournal(store.Journal()) // for Config.Observer
	ctx := context.Background()
	if err := observer.Observe(ctx, autocontinue.Event{Session: "chat 7"}); err != nil {
		fmt.Println(err)
	}
	for line, err := range filestore.ReadJournal(ctx, dir, 0) {
		if err != nil {
			fmt.Println(err)
			continue
		}
		var e autocontinue.Event
		err := json.Unmarshal(line, &e)
		fmt.Println(e.Session, err)
	}
	// Output: chat 7 <nil>
}
