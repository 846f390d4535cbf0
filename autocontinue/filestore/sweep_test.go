package filestore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const day = 24 * time.Hour

// folder is a store whose clock and whose files' dates the test sets.
type folder struct {
	*Store
	t   *testing.T
	now time.Time
}

func newFolder(t *testing.T) *folder {
	f := &folder{t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	var err error
	f.Store, err = New(t.TempDir(), Options{NoSync: true, Now: func() time.Time { return f.now }})
	require.NoError(t, err)
	return f
}

// use counts a session up, and gives its file the date of the clock.
func (f *folder) use(session string) {
	f.t.Helper()
	require.NoError(f.t, f.Update(f.t.Context(), session, func(s autocontinue.State) (autocontinue.State, error) {
		s.Continues++
		return s, nil
	}))
	require.NoError(f.t, os.Chtimes(f.file(session), f.now, f.now))
}

func (f *folder) file(session string) string {
	f.t.Helper()
	d, err := f.session(session)
	require.NoError(f.t, err)
	return f.path(d.file())
}

// sweepAll sweeps all folders of sessions, often enough to see each file.
func (f *folder) sweepAll() {
	f.t.Helper()
	root, err := f.open(f.t.Context(), true)
	require.NoError(f.t, err)
	defer root.Close()
	dirs, err := os.ReadDir(f.path(sessionKind))
	require.NoError(f.t, err)
	for _, dir := range dirs {
		for range 4 {
			f.sweep(root, sessionKind+"/"+dir.Name())
		}
	}
}

// count returns how often a session was counted up, 0 for one that was removed.
func (f *folder) count(session string) int {
	f.t.Helper()
	s, err := f.Load(f.t.Context(), session)
	require.NoError(f.t, err)
	return s.Continues
}

// However many sessions there are, none in use is removed: their counts would start again.
func TestManySessions(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	const sessions = 400
	f := newFolder(t)
	for i := range sessions {
		f.use(fmt.Sprint(i))
	}
	f.now = f.now.Add(29 * day)
	f.sweepAll()
	f.now = f.now.Add(day)
	f.sweepAll()
	for i := range sessions {
		require.Equal(t, 1, f.count(fmt.Sprint(i)))
	}
}

// A session goes when it looked too old at two looks, a day apart.
func TestOldSessions(t *testing.T) {
	f := newFolder(t)
	for _, s := range []string{"old", "used again", "young"} {
		f.use(s)
	}
	f.now = f.now.Add(20 * day)
	f.use("young")
	f.now = f.now.Add(11 * day)
	f.sweepAll()
	f.now = f.now.Add(23 * time.Hour)
	f.use("used again")
	f.sweepAll()
	assert.Equal(t, 1, f.count("old"), "the looks are less than a day apart")
	f.now = f.now.Add(time.Hour)
	f.sweepAll()
	for s, want := range map[string]int{"old": 0, "used again": 2, "young": 2} {
		assert.Equal(t, want, f.count(s), s)
	}
}

// Whatever a clock does, and whatever date a file has, a session in use stays.
func TestWrongClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	year1990 := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, wrong := range map[string]func(f *folder, now time.Time){
		"the file has a wrong date": func(f *folder, _ time.Time) {
			require.NoError(f.t, os.Chtimes(f.file("s"), year1990, year1990))
		},
		"it was used at a wrong time": func(f *folder, now time.Time) {
			f.now = year1990
			f.use("s")
			f.now = now
		},
		"it was used a month too early": func(f *folder, now time.Time) {
			f.now = now.Add(-40 * day)
			f.use("s")
			f.now = now
		},
		"the clock went backwards": func(f *folder, _ time.Time) { f.now = year1990 },
		"the clock was ahead for an hour": func(f *folder, now time.Time) {
			f.now = now.Add(100 * 365 * day)
			f.sweepAll()
			f.now = f.now.Add(time.Hour)
			f.sweepAll()
			f.now = now
		},
		"it was used in the future": func(f *folder, now time.Time) {
			f.now = now.Add(100 * 365 * day)
			f.use("s")
			f.now = now
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			f.use("s")
			now := f.now
			wrong(f, now)
			before := f.count("s")
			for range 20 { // an hour at a time
				f.sweepAll()
				f.now = f.now.Add(time.Hour)
			}
			assert.Equal(t, before, f.count("s"))
			f.now = now.Add(day)
			f.use("s")
			f.sweepAll()
			assert.Equal(t, before+1, f.count("s"))
		})
	}
}

// Temporary files of killed processes go, too. What is not ours stays.
func TestOtherFiles(t *testing.T) {
	f := newFolder(t)
	f.use("s")
	dir := filepath.Dir(f.file("s"))
	temp := strings.Repeat("0", 32) + ".tmp"
	hexa := strings.Repeat("2", 31)
	foreign := []string{
		"notes.txt",
		hexa + ".tmp",
		hexa + "22.tmp",
		hexa + "A.tmp",
		hexa + "2.tmp.tmp",
		hexa + "2tmp",
		hexa + "2.txt",
	}
	for _, name := range append(foreign, temp) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), f.now, f.now))
	}
	f.sweepAll()
	assert.FileExists(t, filepath.Join(dir, temp))
	f.now = f.now.Add(31 * day)
	f.sweepAll()
	assert.NoFileExists(t, filepath.Join(dir, temp))
	f.now = f.now.Add(2 * day)
	f.sweepAll()
	for _, name := range foreign {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.Zero(t, f.count("s"))
}

// A new session sweeps its folder.
func TestNewSessionsSweep(t *testing.T) {
	f := newFolder(t)
	f.use("s")
	folder := filepath.Dir(f.file("s"))
	for i := 0; f.count("s") > 0; i++ {
		require.Less(t, i, 20_000)
		if filepath.Dir(f.file(fmt.Sprint(i))) == folder {
			f.now = f.now.Add(31 * day)
			f.use(fmt.Sprint(i))
		}
	}
}

// BenchmarkNewSessions measures new sessions in a folder of that many.
func BenchmarkNewSessions(b *testing.B) {
	for _, sessions := range []int{100, 100_000} {
		b.Run(fmt.Sprint(sessions), func(b *testing.B) {
			s, err := New(b.TempDir(), Options{NoSync: true})
			require.NoError(b, err)
			count := func(s autocontinue.State) (autocontinue.State, error) { s.Seq++; return s, nil }
			for i := range sessions {
				require.NoError(b, s.Update(b.Context(), fmt.Sprint(i), count))
			}
			for n := 0; b.Loop(); n++ {
				require.NoError(b, s.Update(b.Context(), fmt.Sprint("new ", n), count))
			}
		})
	}
}
