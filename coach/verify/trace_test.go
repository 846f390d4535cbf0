package verify_test

import (
	"bytes"
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
	var b bytes.Buffer
	_, err := trace.WriteTo(&b)
	require.NoError(t, err)
	require.Equal(t, 5, strings.Count(b.String(), "\n"))
	require.Contains(t, b.String(), `"event":"coach_validate_start"`)
	read, err := verify.ReadTrace(strings.NewReader(b.String() + "\n" + `{"time":"2026`))
	require.NoError(t, err, "a process died while it wrote the last line")
	require.Empty(t, cmp.Diff(trace.History("T1"), read, cmpopts.EquateEmpty()))

	resumed := read[0].Start.Resume()
	d, overrides := resumed.Record(good().decision)
	require.Empty(t, overrides)
	require.Equal(t, verify.Approve, d.Verdict)
}

func TestTraceThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"x\n", "{}\n", "\n[1]\n"} {
		_, err := verify.ReadTrace(strings.NewReader(text))
		require.ErrorContains(t, err, "line ")
		require.NotContains(t, err.Error(), "x\n")
	}
	trace, err := verify.ReadTrace(strings.NewReader(""))
	require.NoError(t, err)
	require.Empty(t, trace)
}

func TestVerifyContract(t *testing.T) {
	start := verify.Event{Name: verify.ValidateStart, Task: "T1"}
	decision := verify.Event{Name: verify.DecisionMade, Task: "T1"}
	for _, tt := range []struct {
		name  string
		trace verify.Trace
		want  string
	}{
		{"kept", verify.Trace{start, decision}, ""},
		{"kept twice", verify.Trace{start, decision, start, decision}, ""},
		{"nothing", nil, "validate_implementation was not called"},
		{"no decision", verify.Trace{start}, "record_decision was not called"},
		{"no review", verify.Trace{decision}, "event 1 is a decision without validate_implementation"},
		{"in the wrong order", verify.Trace{decision, start}, "event 1 is a decision"},
		{"two decisions of one review", verify.Trace{start, decision, decision}, "event 3 is a decision"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.trace.VerifyContract("validate_implementation", "record_decision")
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.want)
			}
		})
	}
	require.ErrorContains(t, verify.Trace{start}.VerifyContract("validate"), "no such step")
	require.Empty(t, verify.Trace{start, decision}.History("T2"))
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
	honesty := review.Observe(verify.Facts{Tests: []verify.TestFact{{
		Command: task.Commands[0], Status: verify.NotMet, Counted: true, Total: 12, Passed: 11, Failed: 1, Failures: []string{"TestLogin"},
	}}})
	fmt.Println(honesty.Claims, honesty.Checked, honesty.Discrepancies[0].Kind)
	decision, overrides := review.Record(verify.Decision{Verdict: verify.Approve, TaskID: "T1"})
	fmt.Println(decision.Verdict)
	for _, o := range overrides {
		fmt.Println("-", o)
	}
	// Output:
	// 2 1 test_result
	// feedback
	// - new failures: TestLogin
	// - critical discrepancy test_result: tests passed, 12 passed: 11 passed, 1 failed; TestLogin
}

// What can be read is written back as it is.
func FuzzReadTrace(f *testing.F) {
	f.Add("{\"time\":\"2026-01-02T12:00:00Z\",\"event\":\"coach_decision\",\"task_id\":\"T\"}\n\n{\"event\":\"x\"}")
	f.Add("{\"event\":\"coach_feedback\",\"items\":[{\"severity\":\"high\",\"issue\":\"x\"}]}\n{\"ev")
	f.Fuzz(func(t *testing.T, s string) {
		trace, err := verify.ReadTrace(strings.NewReader(s))
		if err != nil {
			require.Empty(t, trace)
			return
		}
		var b bytes.Buffer
		if _, err := trace.WriteTo(&b); err != nil {
			return // a time that JSON cannot have
		}
		again, err := verify.ReadTrace(&b)
		require.NoError(t, err)
		require.Len(t, again, len(trace))
		for i := range trace {
			require.Equal(t, trace[i].Name, again[i].Name)
			require.Equal(t, trace[i].Task, again[i].Task)
			require.Empty(t, cmp.Diff(trace[i].Items, again[i].Items, cmpopts.EquateEmpty()))
		}
	})
}
