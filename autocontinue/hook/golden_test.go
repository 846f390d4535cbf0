package hook

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

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden runs f on every file of a folder. F returns the sections that the file is to have beside those it was given.
func golden(t *testing.T, pattern string, f func(t *testing.T, host Host, given map[string][]byte) map[string][]byte) {
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".txtar")
		t.Run(base, func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			require.NoError(t, err)
			host, _, _ := strings.Cut(base, "-")
			given := make(map[string][]byte)
			for _, file := range a.Files {
				given[file.Name] = file.Data
			}
			got := f(t, Host(host), given)
			if *update {
				var kept []txtar.File
				for _, file := range a.Files {
					if strings.HasPrefix(file.Name, "given/") {
						kept = append(kept, file)
					}
				}
				for _, section := range []string{"error", "event", "trace", "output", "answer", "continue", "stop", "stalled"} {
					if data, ok := got[section]; ok {
						kept = append(kept, txtar.File{Name: section, Data: data})
					}
				}
				a.Files = kept
				require.NoError(t, os.WriteFile(name, txtar.Format(a), 0o666))
				return
			}
			for section, data := range got {
				require.Equal(t, string(given[section]), string(data), section)
			}
			for section := range given {
				require.True(t, strings.HasPrefix(section, "given/") || got[section] != nil, "%s has a section %q that nothing fills", name, section)
			}
		})
	}
}

func indented(t *testing.T, v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(v))
	return b.Bytes()
}

// The payload of each file of testdata/events is read, and what is made of it compared.
func TestEvents(t *testing.T) {
	golden(t, "testdata/events/*.txtar", func(t *testing.T, host Host, given map[string][]byte) map[string][]byte {
		var m Memory
		if raw := given["given/memory"]; raw != nil {
			require.NoError(t, json.Unmarshal(raw, &m))
		}
		e, err := host.Read(given["given/payload"])
		if err != nil {
			require.ErrorIs(t, err, ErrPayload)
			return map[string][]byte{"error": []byte(err.Error() + "\n")}
		}
		got := map[string][]byte{"event": indented(t, e)}
		if e.Kind.IsPause() {
			got["output"] = indented(t, e.Output(transcript.Trace{}, m))
		}
		if a := e.Answer(autocontinue.Decision{Action: autocontinue.Continue, Message: "[System Coach] Show <it> & go on."}); a != nil && !e.Kind.IsPause() {
			got["answer"] = a
		} else if a != nil {
			got["continue"] = a
			got["stop"] = e.Answer(autocontinue.Decision{})
			got["stalled"] = e.Answer(autocontinue.Decision{Reason: autocontinue.ReasonRepeat, Continues: 2, Note: "The <same> gap & again."})
		}
		return got
	})
}
