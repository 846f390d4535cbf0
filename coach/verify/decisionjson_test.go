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
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for _, tt := range []struct {
		name, text string
		want       error
	}{
		{"nothing", "", verify.ErrNoDecision},
		{"words", "I cannot return IMPLEMENTATION_APPROVED. decision: approve", verify.ErrNoDecision},
		{"no JSON", `{decision: "approve"}`, verify.ErrNoDecision},
		{"cut off after an approval", approval + "\n" + `{"decision":"feedback","rationale":"it br`,
			verify.ErrConflictingDecision},
		{"cut off", `{"decision":"approve"`, verify.ErrNoDecision},
		{"twice", `{"decision":"feedback","decision":"approve"}`, verify.ErrDuplicateKey},
		{"twice in other letters", `{"decision":"feedback","Decision":"approve"}`, verify.ErrDuplicateKey},
		{"twice further in", `{"decision":"approve","requirements_verified":[{"status":"not_met","status":"met"}]}`,
			verify.ErrDuplicateKey},
		{"another verdict", `{"decision":"approved"}`, verify.ErrVerdict},
		{"a negation", `{"decision":"do not approve"}`, verify.ErrVerdict},
		{"no verdict", `{"decision":null}`, verify.ErrVerdict},
		{"too large", approval + strings.Repeat(" ", (1<<20)), verify.ErrTooLarge},
		{"not UTF-8", approval + "\xff", verify.ErrNotUTF8},
		{"braces without end", strings.Repeat(`{"a":`, 200_000), verify.ErrNoDecision},
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
		"feedback_items": [{"severity": "Blocker", "file": "a.go", "line": "14", "issue": "x"}, {"severity": "LOW", "line":
	-3}]}`))
	require.NoError(t, err)
	require.Equal(t, verify.Decision{
		Verdict: verify.Feedback, TaskID: "7",
		Requirements: []verify.RequirementCheck{{Requirement: "r1", Status: verify.Met, Evidence: "a, b"}},
		Tests:        verify.TestsCheck{Total: 12, Passed: 11, Failed: 1, Failures: []string{"TestA"}},
		Items:        []verify.Item{{Severity: "high", File: "a.go", Line: 14, Issue: "x"}, {Severity: "low"}},
	}, d)

}

func TestUnknownStatusIsUnverified(t *testing.T) {
	d, err := verify.ParseDecision(
		[]byte(`{"decision":"approve","requirements_verified":[{"requirement":"r1","status":"mostly met"}]}`))
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
	for _, s := range []string{approval, refusal, approval + refusal, "```json\n" + approval + "\n```",
		`{"a":{"decision":"approve"}}`, `{"decision":"feedback","decision":"approve"}`, `{"decision":"approve"`} {
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
	d, err := verify.ParseDecision([]byte("I looked at it.\n```json\n" +
		`{"decision": "feedback", "task_id": "T1", "feedback_items": [{"severity": "high", "file": "auth.go", "line": 12,
		"issue": "The token is logged.", "suggestion": "Leave it out."}]}` + "\n```"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Verdict)
	fmt.Println(d.Items[0])
	// Output:
	// feedback
	// auth.go:12: The token is logged. Leave it out.
}

// No text in which a coach gives feedback is read as an approval because of what it quotes, how it is spelled or
// where it is cut or broken.
func TestFeedbackIsNotReadAsApproval(t *testing.T) {
	for _, tt := range []struct{ name, text string }{
		{"a key that folds to the same", `{"decision":"feedback","deci` + "\u017f" + `ion":"approve"}`},
		{"a key that folds to the same, escaped", `{"decision":"feedback","deci\u017Fion":"approve"}`},
		{"a status that folds to the same",
			`{"decision":"feedback","requirements_verified":[{"status":"not_met","` + "\u017f" + `tatus":"met"}]}`},
		{"cut off behind what it quotes", `{"decision":"feedback","example":` + approval},
		{"cut off behind what it quotes, before its decision", `{"task_id":"T1","example":` + approval + `,"deci`},
		{"cut off in a fence", "```json\n" + `{"decision":"feedback","was":` + approval + ",\n```"},
		{"no JSON before what it quotes", `{"decision":"feedback","score":NaN,"example":` + approval + `}`},
		{"no JSON behind what it quotes", `{"decision":"feedback","example":` + approval + `,"score":NaN}`},
		{"no JSON before its decision", `{"score":NaN,"example":` + approval + `,"decision":"feedback"}`},
		{"quotes that are not escaped", `{"decision":"feedback","rationale":"the report ends with ` + approval + `"}`},
		{"a line end in a text", "{\"decision\":\"feedback\",\"rationale\":\"it prints\n" + approval + "\"}"},
		{"a comment", "{\"decision\":\"feedback\", // not " + approval + "\n}"},
		{"a comma too many", `{"decision":"feedback","feedback_items":[{"issue":"x"},],"was":` + approval + `}`},
		{"too deep", `{"decision":"feedback","x":` + strings.Repeat("[", 10_001) + strings.Repeat("]",
			10_001) + `,"was":` + approval + `}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := verify.ParseDecision([]byte(tt.text))
			if err == nil {
				require.Equal(t, verify.Feedback, d.Verdict)
			} else {
				require.Zero(t, d)
			}
		})
	}
}

// What is no decision of another kind does not stand in the way of one.
func TestApprovalBesideOtherText(t *testing.T) {
	for _, text := range []string{
		`The form is {"decision": "approve" | "feedback", ...}.` + "\n" + approval,
		`{"note": oops} ` + approval,
		refusal + "\nFixed since.\n" + approval,
		approval + "\n" + `{"note":"tha`,
		`It prints {"level":"info",}.` + "\n```json\n" + approval + "\n```",
	} {
		d, err := verify.ParseDecision([]byte(text))
		require.NoError(t, err, "%s", text)
		require.Equal(t, verify.Approve, d.Verdict)
	}
}
