package filestore_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
)

// collector collects what is set aside.
type collector struct {
	mu   sync.Mutex
	list []string
}

func (a *collector) add(kind, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, kind+": "+what)
}

// damages are the ways in which the file of a session can be unreadable. Each is given its path and what stood in it.
var damages = []struct {
	name, why string
	do        func(t *testing.T, path string, content []byte)
}{
	{"cut short", "unexpected end of JSON input", func(t *testing.T, path string, content []byte) {
		write(t, path, content[:len(content)/2])
	}},
	{"empty", "it is empty", func(t *testing.T, path string, _ []byte) { write(t, path, nil) }},
	{"no JSON", "invalid character", func(t *testing.T, path string, _ []byte) { write(t, path, []byte("\x00\xff")) }},
	{"null", "it has no format", func(t *testing.T, path string, _ []byte) { write(t, path, []byte("null")) }},
	{"more behind it", "invalid character", func(t *testing.T, path string, content []byte) {
		write(t, path, append(content, content...))
	}},
	{"another's", "it belongs to another document", func(t *testing.T, path string, content []byte) {
		i := bytes.Index(content, []byte(`"key":"`)) + len(`"key":"`)
		content[i] ^= 1
		write(t, path, content)
	}},
	{"no value", "it has no value", edit("value", "")},
	{"a state that no version wrote", "a count below zero", edit("value", `{"state":{"version":4,"continues":-1}}`)},
	{"no format", "it has no format", edit("format", "")},
	{"too large", "it is too large", func(t *testing.T, path string, _ []byte) {
		require.NoError(t, os.Truncate(path, 1<<30)) // takes no space
	}},
	{"a folder", "it is not a regular file", func(t *testing.T, path string, _ []byte) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.Mkdir(path, 0o700))
	}},
	{"a folder that is not empty", "it is not a regular file", func(t *testing.T, path string, _ []byte) {
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.MkdirAll(filepath.Join(path, "a", "b"), 0o700))
	}},
	{"a link", "it is not a regular file", func(t *testing.T, path string, content []byte) {
		target := filepath.Join(t.TempDir(), "target")
		write(t, target, content)
		require.NoError(t, os.Remove(path))
		link(t, target, path)
		t.Cleanup(func() {
			got, err := os.ReadFile(target)
			assert.NoError(t, err)
			assert.Equal(t, content, got, "what the link led to is as it was")
		})
	}},
	{"a link to nothing", "it is not a regular file", func(t *testing.T, path string, _ []byte) {
		require.NoError(t, os.Remove(path))
		link(t, filepath.Join(t.TempDir(), "gone"), path)
	}},
}

// edit replaces one field of the file, or takes it away.
func edit(field, value string) func(t *testing.T, path string, content []byte) {
	return func(t *testing.T, path string, content []byte) {
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(content, &fields))
		require.Contains(t, fields, field)
		delete(fields, field)
		if value != "" {
			fields[field] = json.RawMessage(value)
		}
		b, err := json.Marshal(fields)
		require.NoError(t, err)
		write(t, path, b)
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("this machine makes no symbolic links:", err)
	}
}

// Load takes an unreadable file for none. Update sets it aside, says so once, and the session starts afresh.
func TestUnreadableFilesAreSetAside(t *testing.T) {
	for _, first := range []string{"load", "update"} {
		for _, damage := range damages {
			t.Run(first+" "+damage.name, func(t *testing.T) {
				var moved collector
				s := newStore(t, filestore.Options{Host: "claude", OnSetAside: moved.add})
				require.NoError(t, s.Update(t.Context(), "the session", increment))
				path := onlyFile(t, s, "sessions")
				content, err := os.ReadFile(path)
				require.NoError(t, err)
				damage.do(t, path, content)
				was, err := os.Lstat(path)
				require.NoError(t, err)

				if first == "load" {
					assert.Zero(t, seqOf(t, s, "the session"))
				}
				require.NoError(t, s.Update(t.Context(), "the session", increment))
				assert.Equal(t, 1, seqOf(t, s, "the session"), "afresh")

				require.Len(t, moved.list, 1)
				to := onlyFile(t, s, "aside")
				assert.Contains(t, moved.list[0], "sessions: "+path+" could not be read (")
				assert.Contains(t, moved.list[0], damage.why)
				assert.Contains(t, moved.list[0], " set aside as "+to)
				is, err := os.Lstat(to)
				require.NoError(t, err)
				assert.True(t, os.SameFile(was, is), "it is kept as it was")
			})
		}
	}
}

// A state of a newer version is neither an empty one nor thrown away.
func TestNewerVersionsAreLeftAlone(t *testing.T) {
	for name, change := range map[string]func(*testing.T, string, []byte){
		"of the file":  edit("format", "2"),
		"of the state": edit("value", `{"state":{"version":99,"shape":[]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, filestore.Options{OnSetAside: func(_, what string) { t.Error(what) }})
			require.NoError(t, s.Update(t.Context(), "s", increment))
			path := onlyFile(t, s, "sessions")
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			change(t, path, content)
			newer, err := os.ReadFile(path)
			require.NoError(t, err)

			_, err = s.Load(t.Context(), "s")
			require.ErrorIs(t, err, autocontinue.ErrStateVersion)
			assert.ErrorContains(t, err, path)
			require.ErrorIs(t, s.Update(t.Context(), "s", increment), autocontinue.ErrStateVersion)
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, newer, got)
		})
	}
}

// However often files are unreadable, few are kept, the latest.
func TestFewAreKeptAside(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var moved collector
	s := newStore(t,
		filestore.Options{OnSetAside: moved.add, Now: func() time.Time { now = now.Add(time.Second); return now }})
	for i := range 20 {
		require.NoError(t, s.Update(t.Context(), "s", increment))
		write(t, onlyFile(t, s, "sessions"), fmt.Append(nil, i))
	}
	require.NoError(t, s.Update(t.Context(), "s", increment))
	require.Len(t, moved.list, 20)
	names, err := filepath.Glob(filepath.Join(s.Dir(), "aside", "*"))
	require.NoError(t, err)
	require.Len(t, names, 8)
	for i, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(12+i), string(content))
	}
}

// What a killed process left of a write is no hindrance, whatever it is.
func TestLeftovers(t *testing.T) {
	for name, leave := range map[string]func(t *testing.T, tmp string){
		"half a file": func(t *testing.T, tmp string) { write(t, tmp, []byte(`{"format":1,"ke`)) },
		"a folder":    func(t *testing.T, tmp string) { require.NoError(t, os.Mkdir(tmp, 0o700)) },
		"a link": func(t *testing.T, tmp string) {
			target := filepath.Join(t.TempDir(), "target")
			write(t, target, []byte("precious"))
			link(t, target, tmp)
			t.Cleanup(func() {
				got, err := os.ReadFile(target)
				assert.NoError(t, err)
				assert.Equal(t, "precious", string(got))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, filestore.Options{})
			require.NoError(t, s.Update(t.Context(), "s", increment))
			path := onlyFile(t, s, "sessions")
			leave(t, strings.TrimSuffix(path, ".json")+".tmp")
			assert.Equal(t, 1, seqOf(t, s, "s"))
			require.NoError(t, s.Update(t.Context(), "s", increment))
			assert.Equal(t, 2, seqOf(t, s, "s"))
			assert.Equal(t, path, onlyFile(t, s, "sessions"))
		})
	}
}

// A folder in the wrong shape is an error that says which, and nothing outside it is touched.
func TestFoldersThatCannotBeUsed(t *testing.T) {
	outside := t.TempDir()
	for name, spoil := range map[string]func(t *testing.T, dir string){
		"a file":                         func(t *testing.T, dir string) { write(t, dir, []byte("x")) },
		"sessions is a file":             func(t *testing.T, dir string) { write(t, sub(t, dir, "sessions"), []byte("x")) },
		"sessions is a link that leaves": func(t *testing.T, dir string) { link(t, outside, sub(t, dir, "sessions")) },
		"locks is a link that leaves":    func(t *testing.T, dir string) { link(t, outside, sub(t, dir, "locks")) },
		"a lock is a link that leaves": func(t *testing.T, dir string) {
			locks := sub(t, dir, "locks")
			require.NoError(t, os.Mkdir(locks, 0o700))
			for n := range 64 {
				link(t, filepath.Join(outside, "lock"), filepath.Join(locks, fmt.Sprintf("%02x", n)))
			}
		},
		"the folder is a link to nowhere": func(t *testing.T, dir string) { link(t, filepath.Join(outside, "nowhere"), dir) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			spoil(t, dir)
			s, err := filestore.New(dir, filestore.Options{})
			require.NoError(t, err)
			err = s.Update(t.Context(), "s", increment)
			require.ErrorIs(t, err, autocontinue.ErrUnavailable)
			assert.ErrorContains(t, err, dir)
			left, err := os.ReadDir(outside)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func sub(t *testing.T, dir, name string) string {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o700))
	return filepath.Join(dir, name)
}

// A folder by way of links is as good as any: people move their home folders.
func TestFolderBehindALink(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	link(t, t.TempDir(), dir)
	s, err := filestore.New(dir, filestore.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), "s", increment))
	assert.Equal(t, 1, seqOf(t, s, "s"))
}

func TestNoRights(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		t.Skip("there is nothing that root may not do")
	}
	s := newStore(t, filestore.Options{})
	require.NoError(t, s.Update(t.Context(), "s", increment))
	require.NoError(t, os.Chmod(filepath.Join(s.Dir(), "sessions"), 0))
	t.Cleanup(func() { os.Chmod(filepath.Join(s.Dir(), "sessions"), 0o700) })
	_, err := s.Load(t.Context(), "s")
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	require.ErrorIs(t, err, os.ErrPermission)
	require.ErrorIs(t, s.Update(t.Context(), "s", increment), os.ErrPermission)
}
