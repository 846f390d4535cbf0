package filestore_test

import (
	"bufio"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// 64 processes count one document up; each number is written by one of them.
func TestProcessesLoseNoUpdate(t *testing.T) {
	const processes, each = 64, 1
	s := newStore(t, filestore.Options{})
	var mu sync.Mutex
	seen := make(map[string]bool)
	var wg sync.WaitGroup
	for range processes {
		cmd := childOf(t, "count", s.Dir(), "one", strconv.Itoa(each))
		wg.Go(func() {
			out, err := cmd.Output()
			if !assert.NoError(t, err) {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for number := range strings.FieldsSeq(string(out)) {
				assert.False(t, seen[number], "two processes wrote %s", number)
				seen[number] = true
			}
		})
	}
	wg.Wait()
	assert.Len(t, seen, processes*each)
	d, err := filestore.NewDocument[counter](s, "counters", "one")
	require.NoError(t, err)
	last, err := d.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, processes*each, last.Seq)
}

// 24 processes report one pause, and 24 pauses of one turn: it is continued once, and as often as the cap allows.
func TestProcessesShareTheCap(t *testing.T) {
	const processes = 24
	for name, tt := range map[string]struct {
		run  func(i int) string
		want map[string]int
	}{
		"one run":   {func(int) string { return "run" }, map[string]int{"continue": 1, "suppress": processes - 1}},
		"many runs": {func(i int) string { return strconv.Itoa(i) }, map[string]int{"continue": 3, "deliver": processes - 3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, filestore.Options{})
			var mu sync.Mutex
			got := make(map[string]int)
			var wg sync.WaitGroup
			for i := range processes {
				cmd := childOf(t, "handle", s.Dir(), tt.run(i), "step "+tt.run(i))
				wg.Go(func() {
					out, err := cmd.Output()
					assert.NoError(t, err)
					mu.Lock()
					got[strings.TrimSpace(string(out))]++
					mu.Unlock()
				})
			}
			wg.Wait()
			assert.Equal(t, tt.want, got)
		})
	}
}

// kill ends a child the hard way once it has said as many lines, and returns the last number it said.
func kill(t *testing.T, cmd *exec.Cmd, after int) int {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(out)
	for range after {
		_, err := in.ReadString('\n')
		require.NoError(t, err)
	}
	require.NoError(t, cmd.Process.Kill())
	last := lastNumber(t, in)
	require.Error(t, cmd.Wait())
	return last
}

// A process that is killed while it writes leaves the old state or the new one, and no lock.
func TestKilledWhileWriting(t *testing.T) {
	s := newStore(t, filestore.Options{OnSetAside: func(_, what string) { t.Error(what) }})
	for round := range 20 {
		last := kill(t, childOf(t, "count", s.Dir(), "s", "0"), 1+round%7)
		d, err := filestore.NewDocument[counter](s, "counters", "s")
		require.NoError(t, err)
		v, err := d.Load(t.Context())
		require.NoError(t, err)
		assert.GreaterOrEqual(t, v.Seq, last, "what was said to be written is there")
		require.Equal(t, v.Seq, v.Again, "half of an update")
		require.NoError(t, d.Update(t.Context(), func(v counter) (counter, error) { return v, nil }), "the lock is free")
	}
	names, err := filepath.Glob(filepath.Join(s.Dir(), "counters", "*"))
	require.NoError(t, err)
	assert.Len(t, names, 1, "an update takes away what a killed one left")
}

// A process that is killed while it appends leaves whole lines, but for one that is its own.
func TestKilledWhileAppending(t *testing.T) {
	s := newStore(t, filestore.Options{JournalSize: 60_000})
	for round := range 10 {
		said := kill(t, childOf(t, "journal", s.Dir(), strconv.Itoa(round), "0"), 5+round%5)
		require.NoError(t, journal(s, `{"who":"parent"}`), "the lock is free")
		broken, last := 0, -1
		for line, err := range filestore.ReadJournal(t.Context(), s.Dir(), 0) {
			require.NoError(t, err)
			var l struct {
				Who string
				N   int
			}
			if json.Unmarshal(line, &l) != nil {
				broken++
			} else if l.Who == strconv.Itoa(round) {
				last = l.N
			}
		}
		assert.LessOrEqual(t, broken, 1+round)
		assert.GreaterOrEqual(t, last, said, "what was said to be written is there")
	}
}
