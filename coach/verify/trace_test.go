package verify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

var (
	noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	key  = []byte("0123456789abcdef0123456789abcdef")
)

// round is the events of one review.
func round(t *testing.T, s *situation) verify.Trace {
	t.Helper()
	r := s.review()
	d, overrides := r.Record(s.decision)
	return append(verify.Trace{r.Started(noon)}, r.Recorded(noon.Add(time.Minute), d, overrides)...)
}

func written(t *testing.T, trace verify.Trace) []byte {
	t.Helper()
	b, _, err := trace.Append(key, "")
	require.NoError(t, err)
	return b
}

func TestTraceIsReadAsItWasWritten(t *testing.T) {
	s := good()
	trace := round(t, s)
	s.decision.Requirements[0].Status = verify.NotMet
	trace = append(trace, round(t, s)...)
	require.Len(t, trace, 5, "an approval has no feedback")
	b := written(t, trace[:2])
	first, last, size, err := verify.ReadTrace(bytes.NewReader(b), key)
	require.NoError(t, err)
	require.Len(t, first, 2)
	require.EqualValues(t, len(b), size)
	more, _, err := trace[2:].Append(key, last)
	require.NoError(t, err)
	b = append(b, more...)
	require.Equal(t, 5, bytes.Count(b, []byte("\n")))
	read, _, _, err := verify.ReadTrace(bytes.NewReader(append(b, `{"time":"2026`...)), key)
	require.NoError(t, err, "a process died while it wrote the last line")
	require.Empty(t, cmp.Diff(trace.History("T1"), read, cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b verify.Status) bool { return a.String() == b.String() })))
	require.Empty(t, trace.History("T2"))

	resumed := read[0].Start.Resume()
	d, overrides := resumed.Record(good().decision)
	require.Empty(t, overrides)
	require.Equal(t, verify.Approve, d.Verdict)
}

func TestEditedTraceIsAnError(t *testing.T) {
	s := good()
	b := string(written(t, append(round(t, s), round(t, s)...)))
	lines := strings.SplitAfter(b, "\n")
	for name, text := range map[string]string{
		"another status":     strings.Replace(b, `"met"`, `"not_met"`, 1),
		"a line left out":    lines[0] + lines[2] + lines[3],
		"the first left out": lines[1] + lines[2],
		"in another order":   lines[1] + lines[0],
		"a line twice":       lines[0] + lines[0],
		"another signature":  strings.Replace(b, `"mac":"`, `"mac":"0`, 1),
	} {
		_, _, _, err := verify.ReadTrace(strings.NewReader(text), key)
		require.ErrorIs(t, err, verify.ErrTraceEdited, name)
	}
	_, _, _, err := verify.ReadTrace(strings.NewReader(b), []byte("another key"))
	require.ErrorIs(t, err, verify.ErrTraceEdited)
}

func TestTraceThatCannotBeRead(t *testing.T) {
	line := string(written(t, verify.Trace{{Name: verify.DecisionMade, Task: "T"}}))
	for _, bad := range []string{"x", "null", "[]", "{}", `{"signed":{"event":""}}`, `{"signed":{"event":7}}`, "\x00", line[:20], strings.Repeat("[", 20_000)} {
		got, _, _, err := verify.ReadTrace(strings.NewReader(line+bad+"\n"+line), key)
		require.ErrorContains(t, err, "line 2", "%q", bad)
		require.Nil(t, got)
	}
	_, _, err := verify.Trace{{Name: verify.ValidateStart, Start: &verify.Started{Report: verify.Report{Text: strings.Repeat("x", 17<<20)}}}}.Append(key, "")
	require.ErrorContains(t, err, "longer than 16 MiB")
}

// Wherever a process dies, its whole lines are read, and nothing else.
func TestTraceTornAnywhere(t *testing.T) {
	b := written(t, verify.Trace{{Name: verify.ValidateStart, Task: "T"}, {Name: verify.DecisionMade, Task: "T"}})
	for n := range len(b) {
		got, _, size, err := verify.ReadTrace(bytes.NewReader(b[:n]), key)
		require.NoError(t, err, "torn at %d", n)
		require.Len(t, got, bytes.Count(b[:n], []byte("\n")))
		require.EqualValues(t, bytes.LastIndexByte(b[:n], '\n')+1, size)
	}
}

// A resumed review of a hostile event approves nothing and does not panic.
func TestResumeOfAHollowStart(t *testing.T) {
	for _, line := range []string{`{}`, `{"task":{"task_id":"T","commands":[[],null]},"facts":{"tests":[{"command":null,"status":"sure"},{}],"files":[{}],"commits":[{}],"changes":[{}],"test_changes":[{}],"suspects":[{}]},
		"report":{"claims":[{},{"kind":"run"},{"kind":"test"},{"kind":"commit"},{"kind":"scope"}]},"requirements":[{}]}`} {
		var s verify.Started
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		r := s.Resume()
		d, overrides := r.Record(verify.Decision{Verdict: verify.Approve})
		require.Equal(t, verify.Feedback, d.Verdict)
		require.NotEmpty(t, overrides)
		status, _ := r.Standing()
		require.NotEqual(t, verify.Met, status)
		r.Seen()
	}
}

func TestStalled(t *testing.T) {
	feedback := func(issue string, met ...string) verify.Event {
		d := verify.Decision{Verdict: verify.Feedback, Items: []verify.Item{{File: "a.go", Issue: issue}, {File: "b.go", Issue: "And this one."}}}
		for _, id := range met {
			d.Requirements = append(d.Requirements, verify.RequirementCheck{ID: id, Status: verify.Met})
		}
		return verify.Event{Name: verify.DecisionMade, Task: "T", Decision: &verify.Recorded{Decision: d}}
	}
	approve := verify.Event{Name: verify.DecisionMade, Decision: &verify.Recorded{Decision: verify.Decision{Verdict: verify.Approve}}}
	same := feedback("The token is logged.")
	for _, tt := range []struct {
		name  string
		trace verify.Trace
		n     int
		want  bool
	}{
		{"too few", verify.Trace{same}, 2, false},
		{"twice", verify.Trace{same, same}, 2, true},
		{"twice, in other letters", verify.Trace{same, feedback("the token  is logged.")}, 2, true},
		{"twice of three", verify.Trace{same, same}, 3, false},
		{"three times", verify.Trace{same, same, same}, 3, true},
		{"other feedback between", verify.Trace{same, feedback("The session leaks."), same}, 2, false},
		{"a requirement newly met", verify.Trace{same, feedback("The token is logged.", "r1")}, 2, false},
		{"met before", verify.Trace{feedback("The token is logged.", "r1"), feedback("The token is logged.", "r1")}, 2, true},
		{"met, lost, and met again", verify.Trace{feedback("The token is logged.", "r1"), same, feedback("The token is logged.", "r1")}, 2, true},
		{"an approval", verify.Trace{approve, approve}, 2, false},
		{"n is no number of times", verify.Trace{same}, 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, verify.Stalled(tt.trace, tt.n)) })
	}
}

func ExampleReview() {
	report, err := verify.ParseReport([]byte("Updated auth.go. All 12 tests pass."))
	if err != nil {
		fmt.Println(err)
		return
	}
	task := verify.Task{ID: "T1", Commands: [][]string{{"go", "test", "./..."}}}
	review := verify.Begin(task, nil, report)
	// What a witness saw when it was asked review.Query():
	review.Observe(verify.Facts{Runs: []verify.Run{{
		Command: task.Commands[0], Status: verify.NotMet, Counted: true, Total: 12, Passed: 11, Failed: 1, Failures: []string{"TestLogin"},
	}}})
	honesty := review.Honesty()
	fmt.Println(honesty.Claims, honesty.Checked, honesty.Discrepancies[0].Kind)
	decision, overrides := review.Record(verify.Decision{Verdict: verify.Approve, TaskID: "T1"})
	fmt.Println(decision.Verdict)
	for _, o := range overrides {
		fmt.Println("-", o)
	}
	// Output:
	// 2 1 test_result
	// feedback
	// - tests fail, and whether they did before is not known: TestLogin
	// - critical discrepancy test_result: tests passed, 12 passed: 11 passed, 1 failed; TestLogin
}

// A trace that was signed is read as it was written, and no change of a byte goes unseen.
func FuzzReadTrace(f *testing.F) {
	f.Add("T", "It leaks.", 3)
	f.Fuzz(func(t *testing.T, task, issue string, at int) {
		b, _, err := verify.Trace{{Name: verify.FeedbackGiven, Task: task, Items: []verify.Item{{Issue: issue}}}}.Append(key, "")
		if err != nil {
			return
		}
		_, _, _, err = verify.ReadTrace(bytes.NewReader(b), key)
		require.NoError(t, err)
		end := bytes.LastIndex(b, []byte(`,"mac"`))
		if at = 10 + max(at, -at)%max(1, end-10); at < 10 || at >= end {
			return
		}
		b[at] ^= 1
		_, _, _, err = verify.ReadTrace(bytes.NewReader(b), key)
		require.Error(t, err)
	})
}
