package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// geminiScene makes up a session of Gemini CLI, message by message.
type geminiScene struct {
	*rand.Rand
	ids []string
	n   int
}

func (s *geminiScene) id() string {
	if len(s.ids) > 0 && s.IntN(8) == 0 {
		return s.known()
	}
	s.n++
	s.ids = append(s.ids, fmt.Sprintf("m%d", s.n))
	return s.ids[len(s.ids)-1]
}

func (s *geminiScene) known() string {
	if len(s.ids) == 0 || s.IntN(20) == 0 {
		return "nobody"
	}
	return s.ids[max(0, len(s.ids)-1-s.IntN(12))]
}

func (s *geminiScene) pick(list ...string) string { return list[s.IntN(len(list))] }

func (s *geminiScene) result() []any {
	said := s.pick("Output: ok  \tshop/auth\t0.2s\nExit Code: 0", "Output: --- FAIL: TestLogin\nFAIL\nExit Code: 1", "Output: \nCommand moved to background (PID: 7).")
	return []any{map[string]any{"functionResponse": map[string]any{"response": map[string]any{"output": said}}}}
}

func (s *geminiScene) call() map[string]any {
	call := map[string]any{"id": fmt.Sprint("t", s.IntN(6)), "status": s.pick("success", "success", "error", "cancelled", "executing"), "result": s.result()}
	switch s.IntN(8) {
	case 0:
		call["name"], call["args"] = "replace", map[string]any{"file_path": s.pick("auth.go", "README.md")}
	case 1, 2:
		call["name"], call["args"] = "run_shell_command", map[string]any{"command": "go test ./..."}
	default:
		call["name"], call["args"] = "run_shell_command", map[string]any{"command": "ls -l"}
	}
	return call
}

func (s *geminiScene) message() map[string]any {
	if s.IntN(4) == 0 {
		return map[string]any{"id": s.id(), "type": "user", "content": []any{map[string]any{"text": s.pick("Fix the login redirect.", "And the logout?", "continue", "Please continue.")}}}
	}
	m := map[string]any{"id": s.id(), "type": s.pick("gemini", "gemini", "gemini", "gemini", "info"), "content": s.pick("", "All tests pass and the login redirect is fixed.", "All 12 tests pass.", "I am reading auth.go now. Next I will run the tests.")}
	var calls []any
	for range s.IntN(3) {
		calls = append(calls, s.call())
	}
	if len(calls) > 0 {
		m["toolCalls"] = calls
	}
	return m
}

// line is a message, or one of the lines that change what stands before them.
func (s *geminiScene) line() map[string]any {
	switch s.IntN(24) {
	case 0:
		return map[string]any{"$rewindTo": s.known()}
	case 1:
		var list []any
		for range s.IntN(5) {
			list = append(list, s.message())
		}
		return map[string]any{"$set": map[string]any{"messages": list}}
	case 2:
		return map[string]any{"$patch": map[string]any{"removeIds": []string{s.known(), s.known()}}}
	case 3, 4:
		update := map[string]any{"id": s.known()}
		if s.IntN(2) == 0 {
			update["content"] = "All 42 tests pass."
		} else {
			var changes []any
			for id := range 6 {
				change := s.call()
				change["id"] = fmt.Sprint("t", id)
				if s.IntN(2) == 0 {
					delete(change, "args")
					delete(change, "name")
				}
				changes = append(changes, change)
			}
			update["toolCalls"] = changes[s.IntN(6):]
		}
		return map[string]any{"$patch": map[string]any{"updates": []any{update}}}
	case 5, 6:
		return map[string]any{"$set": map[string]any{"lastUpdated": "2026-11-02T10:00:00Z"}}
	}
	return s.message()
}

func jsonOf(t testing.TB, v any) []byte {
	data, err := json.Marshal(v)
	require.NoError(t, err)
	return data
}

// replayedFar is what a transcript gives that is read back so far.
func replayedFar(t testing.TB, data []byte, far reach, unmarked bool) []Moment {
	tr, err := OpenTranscript(bytes.NewReader(data), int64(len(data)), sceneSession)
	require.NoError(t, err)
	require.Equal(t, Gemini, tr.Format)
	tr.far, tr.unmarked = far, unmarked
	var moments []Moment
	_, err = tr.Replay(t.Context(), func(string) (Loop, error) { return newLoop(t), nil }, func(m Moment) error {
		moments = append(moments, m)
		return nil
	})
	require.NoError(t, err)
	return moments
}

// Whatever is changed, said again or taken back in a session, however far is read: reading the marked lines gives what reading
// all of them does.
func TestMarksOfGeminiSkipNothing(t *testing.T) {
	pauses, shown := 0, 0
	for seed := range uint64(150) {
		s := geminiScene{Rand: rand.New(rand.NewPCG(seed, 8))}
		data := []byte(`{"sessionId":"g1","projectHash":"h","kind":"main"}` + "\n")
		for range 10 + s.IntN(120) {
			data = append(append(data, jsonOf(t, s.line())...), '\n')
			if s.IntN(20) == 0 {
				data = append(data, s.pick("\n", "\r\n", `{"new":true}`+"\n")...)
			}
		}
		for _, far := range []reach{farReach, {int64(200 + s.IntN(6000)), 3 + s.IntN(60)}} {
			marked, all := replayedFar(t, data, far, false), replayedFar(t, data, far, true)
			require.Empty(t, cmp.Diff(all, marked), "seed %d, %v", seed, far)
			for _, m := range marked {
				pauses++
				shown += len(m.Output.Evidence)
			}
		}
	}
	require.Greater(t, pauses, 500)
	require.Greater(t, shown, 100, "too few pauses at which tests count")
}

// The forms in which a session that is one object may stand in a file.
func objectForms(t *testing.T, session map[string]any) map[string][]byte {
	forms := map[string][]byte{"sorted, on one line": jsonOf(t, session)}
	for name, indent := range map[string]string{"2 spaces": "  ", "4 spaces": "    ", "tabs": "\t", "no indent": ""} {
		data, err := json.MarshalIndent(session, "", indent)
		require.NoError(t, err)
		forms["sorted, "+name] = append(data, '\n')
	}
	for name, data := range maps.Clone(forms) { // what Gemini CLI writes has the messages last
		var v struct {
			Session  any `json:"sessionId"`
			Hash     any `json:"projectHash"`
			Messages any `json:"messages"`
			Summary  any `json:"summary"`
		}
		require.NoError(t, json.Unmarshal(data, &v))
		var plain bytes.Buffer
		switch name {
		case "sorted, on one line":
			plain.Write(jsonOf(t, v))
		case "sorted, 2 spaces":
			plain.Write(indented(t, v))
		default:
			continue
		}
		forms[name[len("sorted, "):]] = plain.Bytes()
		forms["CRLF, BOM, "+name] = append([]byte("\ufeff"), bytes.ReplaceAll(plain.Bytes(), []byte("\n"), []byte("\r\n"))...)
	}
	return forms
}

// A session that is one object gives what its messages give line by line, in whatever form it stands in the file.
func TestReplayOfOneObject(t *testing.T) {
	for seed := range uint64(25) {
		s := geminiScene{Rand: rand.New(rand.NewPCG(seed, 9))}
		var messages []any
		lines := []byte(`{"sessionId":"g1","projectHash":"h"}` + "\n")
		for range 1 + s.IntN(60) {
			m := s.message()
			messages = append(messages, m)
			lines = append(append(lines, jsonOf(t, m)...), '\n')
		}
		want := replayedFar(t, lines, farReach, true)
		session := map[string]any{"sessionId": "g1", "projectHash": "h", "messages": messages, "summary": "a \"sum\\\" of ]}", "directories": []any{"/w"}}
		for name, data := range objectForms(t, session) {
			got := replayedFar(t, data, farReach, false)
			line := 0
			for i := range got {
				require.GreaterOrEqual(t, got[i].Line, line)
				line = got[i].Line
			}
			ignored := cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Line" }, cmp.Ignore())
			require.Empty(t, cmp.Diff(want, got, ignored), "seed %d, %s", seed, name)

			far := reach{int64(200 + s.IntN(9000)), 3 + s.IntN(200)}
			require.Empty(t, cmp.Diff(replayedFar(t, data, far, true), replayedFar(t, data, far, false)), "seed %d, %s, %v", seed, name, far)
		}
	}
}

// What a hook finds in the file as Gemini CLI indents it is what is found there later.
func TestOneObjectIsReadBackAsByTheHook(t *testing.T) {
	for seed := range uint64(60) {
		s := geminiScene{Rand: rand.New(rand.NewPCG(seed, 10))}
		var messages []any
		for range 1 + s.IntN(60) {
			messages = append(messages, s.message())
		}
		data := indented(t, struct {
			Session  string `json:"sessionId"`
			Messages []any  `json:"messages"`
		}{"g1", messages})
		d := newDocument(bytes.NewReader(data), int64(len(data)), &lines{})
		m := newMarks(farReach)
		m.named = newNamed()
		for d.scan() {
			one := geminiSession{document: true}
			var es []entry
			one.entries(d.text, d.at, func(e entry) { es = append(es, e) })
			m.named.about = one.about
			m.add(es, mark{d.at, len(d.text), d.first})

			prefix := bytes.NewReader(data[:d.next])
			want := look(prefix, d.next, &geminiScript{}, project{}, isOurs)
			again := &geminiElement{}
			before := func(c *collector, at int64) bool { return m.back(prefix, again, c, at, d.next, d.last) }
			got := lookWith(before, &records{r: prefix, list: m.named.list, reach: farReach, size: d.next, last: d.last}, again, project{}, isOurs)
			require.Empty(t, cmp.Diff(want, got), "seed %d, line %d", seed, d.no)
		}
		require.Empty(t, d.fault)
	}
}

// A change of a call before the human's last words counts: it may make a test run of the call, or tell how one ended.
func TestMarksOfGeminiReadChanges(t *testing.T) {
	const passed = `"status":"success","result":[{"functionResponse":{"response":{"output":"Output: ok  \tshop/auth\t0.2s\nExit Code: 0"}}}]`
	for name, tt := range map[string]struct {
		call, change string
		absent       bool
	}{
		"its command":  {`"name":"run_shell_command","args":{"command":"ls"},` + passed, `"args":{"command":"go test ./..."}`, false},
		"its end":      {`"name":"run_shell_command","args":{"command":"go test ./..."},"status":"executing"`, passed, false},
		"nothing":      {`"name":"run_shell_command","args":{"command":"go test ./..."},"status":"executing"`, `"status":"executing"`, true},
		"another call": {`"name":"run_shell_command","args":{"command":"ls"},"status":"executing"`, passed, true},
	} {
		t.Run(name, func(t *testing.T) {
			data := []byte(`{"sessionId":"g1","projectHash":"h"}
{"id":"u1","type":"user","content":"Fix it."}
{"id":"g1","type":"gemini","content":"","toolCalls":[{"id":"t1",` + tt.call + `}]}
{"$patch":{"updates":[{"id":"g1","toolCalls":[{"id":"t1",` + tt.change + `}]}]}}
{"id":"g2","type":"gemini","content":"It is fixed."}
{"id":"u2","type":"user","content":"Is it?"}
{"id":"g3","type":"gemini","content":"Yes, all 42 tests pass."}
`)
			marked := replayedFar(t, data, farReach, false)
			require.Len(t, marked, 2)
			if tt.absent {
				require.Len(t, marked[1].Output.Evidence, 1)
				require.True(t, marked[1].Output.Evidence[0].Absent)
			} else {
				require.Empty(t, marked[1].Output.Evidence)
			}
			require.Empty(t, cmp.Diff(replayedFar(t, data, farReach, true), marked))
		})
	}
}
