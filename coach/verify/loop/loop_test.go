package loop_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/loop"
)

// ran is a witness of one run.
func ran(f verify.TestFact) verify.Witness {
	return verify.WitnessFunc(func(_ context.Context, q verify.Query) (verify.Facts, error) {
		f.Command = q.Commands[0]
		return verify.Facts{Tests: []verify.TestFact{f}}, nil
	})
}

func verifier(t *testing.T, cfg loop.Config) *loop.Verifier {
	t.Helper()
	v, err := loop.New(cfg)
	require.NoError(t, err)
	return v
}

func TestConfigurationsThatMakeNoSense(t *testing.T) {
	fine := ran(verify.TestFact{})
	for _, cfg := range []loop.Config{{}, {Witnesses: []verify.Witness{nil}}, {Witnesses: []verify.Witness{fine}, Commands: [][]string{{}}}, {Witnesses: []verify.Witness{fine}, Commands: [][]string{{""}}}} {
		_, err := loop.New(cfg)
		require.Error(t, err)
	}
}

const done = "Fixed the login redirect. All 12 tests pass:\n\n```\n$ go test ./...\nok  \texample.org/login\t0.012s\n12 passed, 0 failed\n```\n"

// handle puts the output through a loop with the heuristic.
func handle(t *testing.T, cfg loop.Config, out autocontinue.Output) autocontinue.Decision {
	t.Helper()
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic, Verifier: verifier(t, cfg), Plans: cfg.Plans})
	require.NoError(t, err)
	out.Session = "s"
	d, err := ac.Handle(t.Context(), out)
	require.NoError(t, err)
	return d
}

func TestFalseCompletionIsCoached(t *testing.T) {
	d := handle(t, loop.Config{Commands: [][]string{goTest}, Witnesses: []verify.Witness{ran(verify.TestFact{
		Status: verify.NotMet, Counted: true, Total: 12, Passed: 11, Failed: 1, Failures: []string{"TestLogout"}})}}, autocontinue.Output{Text: done})
	require.Equal(t, autocontinue.Continue, d.Action)
	require.Equal(t, autocontinue.ReasonRejectedCompletion, d.Reason)
	require.Equal(t, coach.TierVerify, d.Tier)
	require.Contains(t, d.Message, "New failures: TestLogout.")
}

func TestTrueCompletionIsDelivered(t *testing.T) {
	d := handle(t, loop.Config{Commands: [][]string{goTest}, Witnesses: []verify.Witness{ran(verify.TestFact{Status: verify.Met, Counted: true, Total: 12, Passed: 12})}},
		autocontinue.Output{Text: done})
	require.Equal(t, autocontinue.OutcomeCompleted, d.Outcome)
	require.Equal(t, autocontinue.Verified, d.Verified)
}

func TestWhatCannotBeSeenIsDelivered(t *testing.T) {
	d := handle(t, loop.Config{Commands: [][]string{goTest}, Witnesses: []verify.Witness{ran(verify.TestFact{Why: "go is not installed"})}}, autocontinue.Output{Text: done})
	require.Equal(t, autocontinue.OutcomeCompleted, d.Outcome)
	require.Equal(t, autocontinue.Unverified, d.Verified)
	require.Contains(t, d.Note, "It could not be verified. Tests are required but unverified: `go test ./...`: go is not installed.")
}

func TestNothingToVerify(t *testing.T) {
	never := verify.WitnessFunc(func(context.Context, verify.Query) (verify.Facts, error) {
		t.Error("nothing is claimed, so nothing is looked at")
		return verify.Facts{}, nil
	})
	v, err := verifier(t, loop.Config{Witnesses: []verify.Witness{never}}).Verify(t.Context(), autocontinue.Output{Session: "s", Text: "A mutex guards the map."}, classify.Result{})
	require.NoError(t, err)
	require.Zero(t, v)
}

func TestWitnessThatFails(t *testing.T) {
	fails := verify.WitnessFunc(func(context.Context, verify.Query) (verify.Facts, error) {
		return verify.Facts{}, errors.New("no disk")
	})
	out := autocontinue.Output{Session: "s", Text: "Updated a.go."}
	v, err := verifier(t, loop.Config{Witnesses: []verify.Witness{fails}}).Verify(t.Context(), out, classify.Result{})
	require.NoError(t, err)
	require.Equal(t, autocontinue.Unverified, v.Status)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = verifier(t, loop.Config{Witnesses: []verify.Witness{fails}}).Verify(ctx, out, classify.Result{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestPlanThatCannotBeRead(t *testing.T) {
	fine := ran(verify.TestFact{Status: verify.Met, Counted: true, Total: 1, Passed: 1})
	for _, cfg := range []loop.Config{
		{Plans: fstest.MapFS{}},
		{Plans: fstest.MapFS{"plan.md": {Data: []byte("# no criteria")}}},
		{},
		{Plans: fstest.MapFS{"plan.md": {Data: []byte("## Success Criteria\n- x\n")}}, BasePlans: fstest.MapFS{"plan.md": {Data: []byte("# none")}}},
	} {
		cfg.Witnesses, cfg.Commands = []verify.Witness{fine}, [][]string{goTest}
		v, err := verifier(t, cfg).Verify(t.Context(), autocontinue.Output{Session: "s", Text: "All tests pass.", PlanFile: "plan.md"}, classify.Result{})
		require.NoError(t, err)
		require.Contains(t, v.Note, "The plan could not be read")
		require.Equal(t, autocontinue.Unverified, v.Status, "what the plan asks for is not known")
	}
}

func ExampleNew() {
	tests := verify.WitnessFunc(func(_ context.Context, q verify.Query) (verify.Facts, error) {
		return verify.Facts{Tests: []verify.TestFact{{Command: q.Commands[0], Status: verify.NotMet, Why: "it does not build"}}}, nil
	})
	v, err := loop.New(loop.Config{Witnesses: []verify.Witness{tests}, Commands: [][]string{{"go", "test", "./..."}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: heuristic, Verifier: v})
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := ac.Handle(context.Background(), autocontinue.Output{Session: "s", Text: "All 12 tests pass: 12 passed, 0 failed, exit code 0."})
	fmt.Println(d.Action, d.Reason, d.Tier, err)
	// Output: continue rejected_completion verify <nil>
}
