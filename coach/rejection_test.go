package coach

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func fieldsOf(r classify.Result, in Context) fields { return collect(r, in) }

func TestRejectionQuotes(t *testing.T) {
	signal := func(kind classify.SignalKind, name string, words string, weight float64) classify.Signal {
		start := strings.Index(output, words)
		require.GreaterOrEqual(t, start, 0, words)
		return classify.Signal{Kind: kind, Name: name, Start: start, End: start + len(words), Weight: weight}
	}
	moved := signal(classify.SignalClaim, "done", "I moved the cart total", 1)
	fixed := signal(classify.SignalClaim, "done", "Rounding is fixed", 2)
	pass := signal(classify.SignalClaim, "tests", "All tests pass", 0.5)
	period := strings.Index(output, ".\n")
	for _, c := range []struct {
		name     string
		signals  []classify.Signal
		evidence []classify.Evidence
		want     string
	}{
		{"heaviest", []classify.Signal{moved, fixed}, nil, "Rounding is fixed"},
		{"heaviest, other order", []classify.Signal{fixed, moved}, nil, "Rounding is fixed"},
		{"first among equals", []classify.Signal{{Kind: "claim", Start: fixed.Start, End: fixed.End, Weight: 1}, moved}, nil, "I moved the cart total"},
		{"certain thing without evidence first", []classify.Signal{moved, fixed, pass}, nil, "All tests pass"},
		{"certain thing with evidence not", []classify.Signal{moved, fixed, pass}, []classify.Evidence{{Kind: classify.EvidenceTests}}, "Rounding is fixed"},
		{"unusable spans don't hide others", []classify.Signal{moved, {Kind: "claim", Start: 5, End: 5, Weight: 9}, {Kind: "claim", Start: -1, End: 4, Weight: 9},
			{Kind: "claim", Start: 3, End: len(output) + 1, Weight: 9}, {Kind: "claim", Start: 9, End: 2, Weight: 9}}, nil, "I moved the cart total"},
		{"neither do words that are only marks", []classify.Signal{{Kind: "claim", Start: period, End: period + 2, Weight: 3}, moved,
			{Kind: "claim", Start: fixed.Start, End: fixed.Start, Weight: 2}, fixed, {Kind: "claim", Start: period, End: period + 1, Weight: 2}}, nil, "Rounding is fixed"},
		{"the first in the list of two at one place", []classify.Signal{{Kind: "claim", Start: moved.Start, End: moved.Start, Weight: 1}, moved,
			{Kind: "claim", Start: moved.Start, End: moved.Start + 7, Weight: 1}}, nil, "I moved the cart total"},
		{"none", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rejected
			r.Signals = c.signals
			assert.Equal(t, c.want, fieldsOf(r, Context{Text: output, Evidence: c.evidence}).Claim)
			assert.Empty(t, fieldsOf(r, Context{}).Claim, "no text, no quote")
		})
	}
}

func TestExcerpt(t *testing.T) {
	for in, want := range map[string]string{
		"- **Fixed** the login.":             "Fixed the login",
		"## Done!":                           "Done",
		"> all *good*:":                      "all *good",
		`prints "hello" now`:                 "prints 'hello' now",
		"“quoted”":                           "quoted",
		"`go test` passes":                   "`go test` passes",
		"a\n\tb":                             "a b",
		"[System Coach] done":                "(System Coach) done",
		"\x1b[32mdone\x1b[0m":                "done",
		"...":                                "",
		"\u200b":                             "",
		strings.Repeat("x", 61):              strings.Repeat("x", 59) + "…",
		strings.Repeat("**", 5000) + "done!": "…",
	} {
		assert.Equal(t, want, excerpt(in, 0, len(in)), "%q", in)
	}
	assert.Equal(t, "n", excerpt("naïve", 0, 3)[:1])
	assert.NotContains(t, excerpt("naïve", 0, 3), "\ufffd", "a span inside a character is narrowed")
	assert.NotContains(t, excerpt("naïve", 3, 5), "\ufffd")
}

func TestRejectionSaysItOnce(t *testing.T) {
	r := found(rejected, "claim/done/It should be fine", "hedge//should be fine", "gap//It should be fine on mobile", "promise//It should be fine on mobile")
	f := fieldsOf(r, Context{Text: output})
	assert.Equal(t, []string{"", "", "It should be fine on mobile", ""}, []string{f.Claim, f.Hedge, f.Gap, f.Promise})
}

func TestRejectionFailureStandsInForGap(t *testing.T) {
	f := fieldsOf(found(rejected, "failure//is not covered"), Context{Text: output})
	assert.Equal(t, "is not covered", f.Gap)
	f = fieldsOf(found(rejected, "failure//is not covered", "gap//currency switch"), Context{Text: output})
	assert.Equal(t, "currency switch", f.Gap)
}

func TestFailedEvidence(t *testing.T) {
	fail := func(k classify.EvidenceKind, text string) classify.Evidence {
		return classify.Evidence{Kind: k, Text: text, Failed: true}
	}
	ok := classify.Evidence{Kind: classify.EvidenceTests, Text: "42 passed"}
	for _, c := range []struct {
		name     string
		evidence []classify.Evidence
		want     string
	}{
		{"none", nil, ""},
		{"only success", []classify.Evidence{ok}, ""},
		{"failed", []classify.Evidence{fail(classify.EvidenceTests, "2 failed")}, "2 failed"},
		{"failed after success", []classify.Evidence{ok, fail(classify.EvidenceTests, "2 failed")}, "2 failed"},
		{"repaired", []classify.Evidence{fail(classify.EvidenceTests, "2 failed"), ok}, ""},
		{"another kind repairs nothing", []classify.Evidence{fail(classify.EvidenceExitCode, "exit 1"), ok}, "exit 1"},
		{"test results before others", []classify.Evidence{fail(classify.EvidenceExitCode, "exit 1"), fail(classify.EvidenceTests, "2 failed")}, "2 failed"},
		{"no words", []classify.Evidence{fail(classify.EvidenceTests, " ")}, "a failing test run"},
		{"quotes", []classify.Evidence{fail(classify.EvidenceTests, "say \"no\"\n[System Coach]")}, "say 'no' (System Coach)"},
	} {
		assert.Equal(t, c.want, fieldsOf(rejected, Context{Evidence: c.evidence}).Failed, c.name)
		assert.Empty(t, fieldsOf(rejected, Context{Evidence: c.evidence}).Absent, c.name)
	}
	none := classify.Evidence{Kind: classify.EvidenceTests, Text: "no test run", Absent: true}
	both := none
	both.Text, both.Failed = " ", true
	for name, c := range map[string]struct {
		evidence []classify.Evidence
		want     string
	}{
		"absent":          {[]classify.Evidence{none}, "no test run"},
		"no words":        {[]classify.Evidence{both}, "no test run"},
		"since a success": {[]classify.Evidence{ok, none}, "no test run"},
		"seen later":      {[]classify.Evidence{none, ok}, ""},
	} {
		f := fieldsOf(rejected, Context{Evidence: c.evidence})
		assert.Equal(t, c.want, f.Absent, name)
		assert.Empty(t, f.Failed, name)
	}
	m := BuildCoachingMessage(status, Context{Evidence: []classify.Evidence{fail(classify.EvidenceTests, "2 failed")}})
	assert.Equal(t, plain, m.Text, "an honest status is not contradicted")
}

func TestRejectionAsksForWhatIsMissing(t *testing.T) {
	for _, c := range []struct {
		name         string
		signals      []string
		evidence     []classify.Evidence
		lacks, proof string
	}{
		{"anything", []string{"claim/done/Rounding is fixed"}, nil, "test output, exit code, commit or PR link",
			"the test command with its pass and fail counts, the command you ran with its exit code, the commit hash or the PR link (any one of them will do)"},
		{"one", []string{"claim/tests/All tests pass"}, nil, "test output", "the test command with its pass and fail counts"},
		{"two", []string{"claim/tests/All tests pass", "claim/commit/I moved"}, nil, "test output or commit",
			"the test command with its pass and fail counts and the commit hash"},
		{"the rest", []string{"claim/tests/All tests pass", "claim/pull_request/I moved"},
			[]classify.Evidence{{Kind: classify.EvidenceTests}}, "PR link", "the PR link"},
		{"none", []string{"claim/tests/All tests pass", "hedge//should be"},
			[]classify.Evidence{{Kind: classify.EvidenceTests}}, "", "a check that settles it, with its command and output"},
	} {
		f := fieldsOf(found(rejected, c.signals...), Context{Text: output, Evidence: c.evidence})
		assert.Equal(t, c.lacks, f.Lacks, c.name)
		assert.Equal(t, c.proof, f.Proof, c.name)
	}
}

// Whatever can be missing has a name here.
func TestEveryKindOfEvidenceHasWords(t *testing.T) {
	var have []classify.EvidenceKind
	for _, k := range kinds {
		have = append(have, k.kind)
		assert.NotContains(t, []string{k.lacks, k.proof, k.fails}, "")
	}
	assert.Equal(t, classify.EvidenceKinds(), have)
}
