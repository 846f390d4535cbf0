package verify_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

const (
	approval = `{"decision":"approve","task_id":"T1"}`
	refusal  = `{"decision":"feedback","task_id":"T1"}`
)

func TestParseDecision(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       verify.Verdict
	}{
		{"alone", approval, verify.Approve},
		{"in a fence", "Here it is:\n\n```json\n" + refusal + "\n```\nDone.", verify.Feedback},
		{"after prose with braces", "func f() { return } and {x}\n" + approval, verify.Approve},
		{"the last of two", approval + "\nOn second thoughts:\n" + refusal, verify.Feedback},
		{"inside an object without one", `{"result": ` + approval + `}`, verify.Approve},
		{"one inside a decision is part of it", `{"decision":"feedback","example":` + approval + `}`, verify.Feedback},
		{"quoted in a text", `{"decision":"feedback","rationale":"it says {\"decision\":\"approve\"}"}`, verify.Feedback},
		{"in capitals", `{"Decision":" Approve "}`, verify.Approve},
		{"followed by an object that is none", approval + ` {"note": "thanks"}`, verify.Approve},
		{"in a list", "[" + approval + "]", verify.Approve},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := verify.ParseDecision([]byte(tt.text))
			require.NoError(t, err)
			require.Equal(t, tt.want, d.Verdict)
		})
	}
}

func TestParseDecisionRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"nothing", "", verify.ErrNoDecision},
		{"words", "I cannot return IMPLEMENTATION_APPROVED. decision: approve", verify.ErrNoDecision},
		{"no JSON", `{decision: "approve"}`, verify.ErrNoDecision},
		{"cut off after an approval", approval + "\n" + `{"decision":"feedback","rationale":"it br`, verify.ErrCutOff},
		{"cut off", `{"decision":"approve"`, verify.ErrCutOff},
		{"twice", `{"decision":"feedback","decision":"approve"}`, verify.ErrTwice},
		{"twice in other letters", `{"decision":"feedback","Decision":"approve"}`, verify.ErrTwice},
		{"twice further in", `{"decision":"approve","requirements_verified":[{"status":"not_met","status":"met"}]}`, verify.ErrTwice},
		{"another verdict", `{"decision":"approved"}`, verify.ErrVerdict},
		{"a negation", `{"decision":"do not approve"}`, verify.ErrVerdict},
		{"no verdict", `{"decision":null}`, verify.ErrVerdict},
		{"too large", approval + strings.Repeat(" ", verify.MaxSize), verify.ErrTooLarge},
		{"not UTF-8", approval + "\xff", verify.ErrNotUTF8},
		{"braces without end", strings.Repeat(`{"a":`, 200_000), verify.ErrTangled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := verify.ParseDecision([]byte(tt.text))
			require.ErrorIs(t, err, tt.want)
			require.Zero(t, d)
		})
	}
}

func TestParseDecisionIsLenientWithForms(t *testing.T) {
	d, err := verify.ParseDecision([]byte(`{
		"decision": "feedback", "task_id": 7, "rationale": null, "extra": {"a": 1},
		"requirements_verified": {"requirement": "r1", "status": "MET", "evidence": ["a", "b"]},
		"tests_verified": {"total": "12", "passed": 11.0, "failed": "1 of them", "failures": "TestA", "missing": null},
		"feedback_items": [{"severity": "Blocker", "file": "a.go", "line": "14", "issue": "x"}, {"severity": "LOW", "line": -3}]}`))
	require.NoError(t, err)
	require.Equal(t, verify.Decision{
		Verdict: verify.Feedback, TaskID: "7",
		Requirements: []verify.RequirementCheck{{Requirement: "r1", Status: verify.Met, Evidence: "a, b"}},
		Tests:        verify.TestsCheck{Total: 12, Passed: 11, Failed: 1, Failures: []string{"TestA"}},
		Items:        []verify.Item{{Severity: verify.High, File: "a.go", Line: 14, Issue: "x"}, {Severity: verify.Low}},
	}, d)

	_, err = verify.ParseDecision([]byte(`{"decision":"feedback","rationale":{"secret":"words"}}`))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "words")
}

func TestUnknownStatusIsUnverified(t *testing.T) {
	d, err := verify.ParseDecision([]byte(`{"decision":"approve","requirements_verified":[{"requirement":"r1","status":"mostly met"}]}`))
	require.NoError(t, err)
	require.Equal(t, verify.Unverified, d.Requirements[0].Status)
	var s verify.Status
	out, err := json.Marshal(map[string]verify.Status{"s": s})
	require.NoError(t, err)
	require.JSONEq(t, `{"s":"unverified"}`, string(out))
	require.NoError(t, json.Unmarshal([]byte(`"yes"`), &s))
	require.Equal(t, verify.Unverified, s)
}

// An approval that is read is one that the text has as the value of a decision, whole and last.
func FuzzParseDecision(f *testing.F) {
	for _, s := range []string{approval, refusal, approval + refusal, "```json\n" + approval + "\n```", `{"a":{"decision":"approve"}}`, `{"decision":"feedback","decision":"approve"}`, `{"decision":"approve"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d, err := verify.ParseDecision([]byte(s))
		if err != nil {
			require.Zero(t, d)
			return
		}
		if d.Verdict == verify.Approve {
			require.Contains(t, strings.ToLower(s), "approve")
		}
		// Whatever is said before, a refusal that is said last counts.
		d, err = verify.ParseDecision([]byte(s + "\n" + refusal))
		if err == nil {
			require.Equal(t, verify.Feedback, d.Verdict)
		}
		out, err := json.Marshal(d)
		require.NoError(t, err)
		again, err := verify.ParseDecision(out)
		require.NoError(t, err)
		require.Equal(t, d.Verdict, again.Verdict)
		require.Len(t, again.Items, len(d.Items))
	})
}

func ExampleParseDecision() {
	d, err := verify.ParseDecision([]byte("I looked at it.\n```json\n" + `{"decision": "feedback", "task_id": "T1", "feedback_items":
		[{"severity": "high", "file": "auth.go", "line": 12, "issue": "The token is logged.", "suggestion": "Leave it out."}]}` + "\n```"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Verdict)
	fmt.Print(verify.Lines(d.Items))
	// Output:
	// feedback
	// auth.go:12: The token is logged. Leave it out.
}
