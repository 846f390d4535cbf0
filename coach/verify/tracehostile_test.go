package verify_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// Wherever a process dies, what it wrote whole is read, and nothing else.
func TestTraceTornAnywhere(t *testing.T) {
	s := good()
	r := s.review()
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	s.decision.Verdict = verify.Feedback
	d, overrides := r.Record(s.decision)
	var b bytes.Buffer
	_, err := append(verify.Trace{r.Started(at)}, r.Recorded(at, d, overrides)...).WriteTo(&b)
	require.NoError(t, err)
	whole, err := verify.ReadTrace(bytes.NewReader(b.Bytes()))
	require.NoError(t, err)
	for n := range b.Len() {
		got, err := verify.ReadTrace(bytes.NewReader(b.Bytes()[:n]))
		require.NoError(t, err, "torn at %d", n)
		lines := bytes.Count(b.Bytes()[:n], []byte("\n"))
		if n > 0 && json.Valid(b.Bytes()[bytes.LastIndexByte(b.Bytes()[:n], '\n')+1:n]) {
			lines++ // only its line end is missing
		}
		require.Equal(t, lines, len(got), "torn at %d", n)
		require.Equal(t, whole[:lines:lines], append(verify.Trace{}, got...))
	}
}

func TestTraceOfOthersIsRefused(t *testing.T) {
	good := `{"time":"2025-01-02T03:04:05Z","event":"coach_decision","task_id":"T"}` + "\n"
	for _, bad := range []string{"null", "[]", "1", `"x"`, "{}", `{"event":""}`, `{"event":7}`, "{", "\x00\x00", "\xff", good[:20], `{"event":"coach_decision","time":"soon"}`,
		`{"event":"coach_decision","decision":[]}`, `{"event":"coach_decision"}{"event":"coach_decision"}`, strings.Repeat("[", 20_000)} {
		got, err := verify.ReadTrace(strings.NewReader(good + bad + "\n" + good))
		require.ErrorContains(t, err, "line 2", "%q", bad)
		require.Nil(t, got)
	}
}

// A resumed review of a hostile event approves nothing and does not panic.
func TestResumeOfAHollowStart(t *testing.T) {
	for _, line := range []string{`{}`, `{"task":{"task_id":"T","commands":[[],null]},"facts":{"tests":[{"command":null,"status":"sure"},{}],"files":[{}],"commits":[{}],"changes":[{}],"test_files":[{}]},
		"report":{"files":[{}],"tests":[{}],"commits":[""]},"requirements":[{}]}`} {
		var s verify.Started
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		r := s.Resume()
		d, overrides := r.Record(verify.Decision{Verdict: verify.Approve})
		require.Equal(t, verify.Feedback, d.Verdict)
		require.NotEmpty(t, overrides)
		require.NotEqual(t, verify.Met, r.Standing())
		r.Seen()
	}
}

// What is written can be read again.
func TestTraceWritesNoLineThatItCannotRead(t *testing.T) {
	e := verify.Event{Name: verify.ValidateStart, Task: "T", Start: &verify.Started{Report: verify.Report{Text: strings.Repeat("x", 17<<20)}}}
	var b bytes.Buffer
	_, err := verify.Trace{e}.WriteTo(&b)
	require.ErrorContains(t, err, "longer than 16 MiB")
	require.Zero(t, b.Len())
}
