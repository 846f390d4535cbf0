package transcript

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var formats = []Format{claude, codex, gemini, cursor, copilot}

var update = flag.Bool("update", false, "rewrite the golden files")

// sourceOf returns the source of a golden file, named HOST-WHAT.txtar.
func sourceOf(t testing.TB, name string, data []byte) Source {
	format, what, _ := strings.Cut(filepath.Base(name), "-")
	file := filepath.Join(t.TempDir(), "transcript.jsonl")
	if half, ok := bytes.CutSuffix(data, []byte("…\n")); ok {
		data = half // txtar ends every section with a newline
	}
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return Source{
		Format:   Format(format),
		Path:     file,
		Dir:      "/home/ada/shop",
		Subagent: strings.HasPrefix(what, "subagent."),
	}
}

// golden calls f for each file of testdata: a comment, a transcript and its trace.
func golden(t *testing.T, f func(t *testing.T, name string, a *txtar.Archive)) {
	names, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			require.NoError(t, err)
			require.Equal(t, "transcript", a.Files[0].Name)
			f(t, name, a)
		})
	}
}

// traceText writes a trace as JSON, without what is empty.
func traceText(t *testing.T, tr Trace) []byte {
	fields := map[string]any{
		"request":    tr.Request,
		"turn":       tr.Turn,
		"message":    tr.Message,
		"message_id": tr.MessageID,
		"mode":       tr.Mode,
	}
	for key, v := range fields {
		if v == "" {
			delete(fields, key)
		}
	}
	for key, v := range map[string]bool{
		"broke": tr.Broke, "continued": tr.Continued, "aborted": tr.Aborted, "behind": tr.Behind, "waits": tr.Waits,
	} {
		if v {
			fields[key] = v
		}
	}
	if tr.Continues > 0 {
		fields["continues"] = tr.Continues
	}
	if tr.Err != nil {
		fields["error"] = tr.Err.Error()
	} else {
		fields["work"] = tr.Work
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(fields))
	return b.Bytes()
}

// Each transcript of testdata says what its trace says.
func TestTraces(t *testing.T) {
	golden(t, func(t *testing.T, name string, a *txtar.Archive) {
		var s State
		got := traceText(t, s.look(t.Context(), sourceOf(t, name, a.Files[0].Data)))
		if *update {
			a.Files = []txtar.File{a.Files[0], {Name: "trace", Data: got}}
			require.NoError(t, os.WriteFile(name, txtar.Format(a), 0o600))
			return
		}
		require.Equal(t, string(a.Files[1].Data), string(got))
	})
}

// A transcript that is read piece by piece, with the state stored as JSON between, says the same as one that is read
// at once.
func TestReadInPieces(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	golden(t, func(t *testing.T, name string, a *txtar.Archive) {
		data := a.Files[0].Data
		whole := sourceOf(t, name, data)
		var once State
		want := once.look(t.Context(), whole)
		data, err := os.ReadFile(whole.Path)
		require.NoError(t, err)
		for _, step := range []int{1, 7, 40} {
			src := sourceOf(t, name, nil)
			f, err := os.OpenFile(src.Path, os.O_WRONLY|os.O_APPEND, 0)
			require.NoError(t, err)
			stored := []byte("{}")
			var got Trace
			for lines := bytes.SplitAfter(data, []byte("\n")); len(lines) > 0; {
				n := min(step, len(lines))
				_, err := f.Write(bytes.Join(lines[:n], nil))
				require.NoError(t, err)
				lines = lines[n:]
				var s State
				require.NoError(t, json.Unmarshal(stored, &s))
				got = s.look(t.Context(), src)
				stored, err = json.Marshal(s)
				require.NoError(t, err)
			}
			require.NoError(t, f.Close())
			require.Equal(t, string(traceText(t, want)), string(traceText(t, got)), "%d lines at a time", step)
		}
	})
}
