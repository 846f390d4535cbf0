package filestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
)

// typical is a state as a session has it after a few outputs, some 2 kB.
func typical() autocontinue.State {
	var s autocontinue.State
	for i := range 12 {
		id := strings.Repeat("x", i)
		o := autocontinue.Output{Session: "s", Turn: id[:i/4], Run: id, ID: id, Text: "Still on it " + id}
		r := classify.Result{Type: classify.Status, Confidence: 1}
		_, s = autocontinue.Decide(autocontinue.Policy{}, s, autocontinue.Facts{Output: o, Result: r})
	}
	return s
}

// BenchmarkLoadUpdate is what a decision costs. "x-bare" is how often the bare minimum fits into it that a crash does
// not tear: write, sync and rename a file as large; "x-unsynced" the same without the sync.
func BenchmarkLoadUpdate(b *testing.B) {
	b.Run("synced", func(b *testing.B) { loadUpdate(b, filestore.Options{}) })
	b.Run("not synced", func(b *testing.B) { loadUpdate(b, filestore.Options{NoSync: true}) })
}

func loadUpdate(b *testing.B, opts filestore.Options) {
	s := newStore(b, opts)
	state := typical()
	set := func(autocontinue.State) (autocontinue.State, error) { state.Seq++; return state, nil }
	require.NoError(b, s.Update(b.Context(), "s", set))
	data, err := os.ReadFile(onlyFile(b, s, "sessions"))
	require.NoError(b, err)
	synced, unsynced := bare(b, data, true), bare(b, data, false)
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Load(b.Context(), "s")
		require.NoError(b, err)
		require.NoError(b, s.Update(b.Context(), "s", set))
	}
	each := float64(b.Elapsed()) / float64(b.N)
	b.ReportMetric(float64(len(data)), "file-bytes")
	b.ReportMetric(each/float64(synced), "x-bare")
	b.ReportMetric(each/float64(unsynced), "x-unsynced")
}

// bare returns what it takes to replace a file.
func bare(b *testing.B, data []byte, sync bool) time.Duration {
	dir := b.TempDir()
	const rounds = 200
	start := time.Now()
	for range rounds {
		f, err := os.OpenFile(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		require.NoError(b, err)
		_, err = f.Write(data)
		require.NoError(b, err)
		if sync {
			require.NoError(b, f.Sync())
		}
		require.NoError(b, f.Close())
		require.NoError(b, os.Rename(f.Name(), filepath.Join(dir, "file")))
	}
	return time.Since(start) / rounds
}

func BenchmarkLoad(b *testing.B) {
	s := newStore(b, filestore.Options{})
	state := typical()
	require.NoError(
		b,
		s.Update(b.Context(), "s", func(autocontinue.State) (autocontinue.State, error) { return state, nil }),
	)
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Load(b.Context(), "s")
		require.NoError(b, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	s := newStore(b, filestore.Options{})
	line := []byte(`{"preview":"` + strings.Repeat("x", 3000) + `"}`)
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, s.Journal().Append(b.Context(), line))
	}
}
