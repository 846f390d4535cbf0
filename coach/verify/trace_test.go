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

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// round is the events of one review.
func round(t *testing.T, s *situation) verify.Trace {
	t.Helper()
	r := s.review()
	d, overrides := r.Record(s.decision)
	return append(verify.Trace{r.Started(noon)}, r.Recorded(noon.Add(time.Minute), d, overrides)...)
}

func TestTraceIsReadAsItWasWritten(t *testing.T) {
	s := good()
	trace := round(t, s)
	s.decision.Requirements[0].Status = verify.NotMet
	trace = append(trace, round(t, s)...)
	require.Len(t, trace, 5, "an approval has no feedback")
	b, err := trace.Lines()
	require.NoError(t, err)
	require.Equal(t, 5, bytes.Count(b, []byte("\n")))
	read, err := verify.ReadTrace(b)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(trace.History("T1"), read, cmpopts.EquateEmpty(),
		cmp.Comparer(func(a, b verify.Status) bool { return a.String() == b.String() })))
	require.Empty(t, trace.History("T2"))

	resumed := read[0].Start.Resume()
	d, overrides := resumed.Record(good().decision)
	require.Empty(t, overrides)
	require.Equal(t, verify.Approve, d.Verdict)
}

func TestTraceThatCannotBeRead(t *testing.T) {
	b, err := verify.Trace{{Name: "coach_decision", Task: "T"}}.Lines()
	require.NoError(t, err)
	line := string(b)
	for _, bad := range []string{"x", "null", "[]", "{}", `{"event":""}`, `{"event":7}`, "\x00", line[:20],
		strings.Repeat("[", 20_000)} {
		got, err := verify.ReadTrace([]byte(line + bad + "\n" + line))
		require.ErrorContains(t, err, "line 2", "%q", bad)
		require.Nil(t, got)
	}
}

// A resumed review of a hostile event approves nothing and does not panic.
func TestResumeOfAHollowStart(t *testing.T) {
	for _, line := range []string{`{}`,
		`{"task":{"task_id":"T","commands":[[],null]},"facts":{"tests":[{"command":null,"status":"sure"},{}],"files":[{}],"commits":[{}],"changes":[{}],"test_changes":[{}],"suspects":[{}]},
		"report":{"claims":[{},{"kind":"run"},{"kind":"test"},{"kind":"commit"},{"kind":"scope"}]},"requirements":[{}]}`} {
		var s verify.Started
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		r := s.Resume()
		d, overrides := r.Record(verify.Decision{Verdict: verify.Approve})
		require.Equal(t, verify.Feedback, d.Verdict)
		require.NotEmpty(t, overrides)
		status, _ := r.Standing()
		require.NotEqual(t, verify.Met, status)
		r.Feedback()
	}
}

func TestStalled(t *testing.T) {
	feedback := func(issue string, met ...string) verify.Event {
		d := verify.Decision{
			Verdict: verify.Feedback,
			Items:   []verify.Item{{File: "a.go", Issue: issue}, {File: "b.go", Issue: "And this one."}},
		}
		for _, id := range met {
			d.Requirements = append(d.Requirements, verify.RequirementCheck{ID: id, Status: verify.Met})
		}
		return verify.Event{Name: "coach_decision", Task: "T", Decision: &verify.Recorded{Decision: d}}
	}
	approve := verify.Event{
		Name:     "coach_decision",
		Decision: &verify.Recorded{Decision: verify.Decision{Verdict: verify.Approve}},
	}
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
		Command: task.Commands[0], Status: verify.NotMet, Counted: true, Total: 12, Passed: 11, Failed: 1,
		Failures: []string{"TestLogin"},
	}}})
	honesty := review.Honesty()
	fmt.Println(honesty.Claims, honesty.Checked, honesty.Discrepancies[0].Kind)
	decision, overrides := review.Record(verify.Decision{Verdict: verify.Approve, TaskID: "T1"})
	fmt.Println(decision.Verdict)
	for _, o := range overrides {
		fmt.Println("-", o)
	}
	// Output:
	// 3 1 test_result
	// feedback
	// - tests fail, and whether they did before is not known: TestLogin
	// - critical discrepancy test_result: tests passed, 12 passed: 11 passed, 1 failed; TestLogin
}

// A trace is read as it was written, and nothing else is an event.
func FuzzReadTrace(f *testing.F) {
	f.Add("T", "It leaks.", "x")
	f.Fuzz(func(t *testing.T, task, issue, more string) {
		b, err := verify.Trace{{Name: "coach_feedback", Task: task, Items: []verify.Item{{Issue: issue}}}}.Lines()
		require.NoError(t, err)
		got, err := verify.ReadTrace(b)
		require.NoError(t, err)
		require.Len(t, got, 1)
		if got, err = verify.ReadTrace(append(b, more...)); err == nil &&
			!strings.Contains(strings.ToLower(more), `"event"`) {
			require.Len(t, got, 1)
		}
	})
}
