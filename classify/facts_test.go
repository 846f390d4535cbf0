package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWeighWork(t *testing.T) {
	claim := func(names ...string) (list []Signal) {
		for _, n := range names {
			list = append(list, Signal{Kind: SignalClaim, Name: n})
		}
		return list
	}
	ran := func(k CheckKind, o CheckOutcome) Check { return Check{Kind: k, Outcome: o} }
	work := func(e Edited, checks ...Check) Work { return Work{Edited: e, Session: e, Checks: checks} }
	done := claim(ClaimDone, ClaimEdit)
	for _, c := range []struct {
		name    string
		signals []Signal
		work    Work
		want    string // "" leaves the verdict to the words
	}{
		{"nothing known", done, Work{}, ""},
		{"claimed tests failed", claim(ClaimTests), work(EditedCode, ran(CheckTest, OutcomeFailed)), "rejected"},
		{"claimed tests failed, edits unknown", claim(ClaimTests), Work{Checks: []Check{ran(CheckTest, OutcomeFailed)}}, "rejected"},
		{"claimed tests passed again", claim(ClaimTests),
			work(EditedCode, ran(CheckTest, OutcomeFailed), ran(CheckTest, OutcomePassed)), "completion"},
		{"claimed tests, only a build", claim(ClaimTests), work(EditedCode, ran(CheckBuild, OutcomePassed)), "rejected"},
		{"claimed tests, only a commit", claim(ClaimTests), work(EditedCode, ran(CheckCommit, OutcomePassed)), "rejected"},
		{"claimed tests, hidden status", claim(ClaimTests), work(EditedCode, ran(CheckTest, OutcomeUnknown)), ""},
		{"counted tests without a run", []Signal{{Kind: SignalEvidence, Name: string(EvidenceTests)}}, work(EditedCode), "rejected"},
		{"claimed build, tests ran", claim(ClaimBuild), work(EditedCode, ran(CheckTest, OutcomePassed)), "completion"},
		{"claimed types, a linter ran", claim(ClaimTypes), work(EditedCode, ran(CheckLint, OutcomePassed)), "completion"},
		{"claimed lint, a build ran", claim(ClaimLint), work(EditedCode, ran(CheckBuild, OutcomePassed)), "rejected"},
		{"claimed commit, not made", claim(ClaimCommit), work(EditedCode, ran(CheckTest, OutcomePassed)), "rejected"},
		{"commit proves no work", claim(ClaimCommit), work(EditedCode, ran(CheckCommit, OutcomePassed)), "rejected"},
		{"claimed change, none in the session", done, work(EditedNone), "rejected"},
		{"claimed change, only commands", done, work(EditedNone, ran(CheckRun, OutcomePassed)), "completion"},
		{"claimed change, made before", done, Work{Edited: EditedNone, Session: EditedCode}, "completion"},
		{"answer", nil, work(EditedNone), "completion"},
		{"tests mentioned, nothing edited ever", claim(ClaimTests), work(EditedNone), ""},
		{"documents", done, work(EditedDocs), "completion"},
		{"documents, tests claimed", claim(ClaimTests), work(EditedDocs), "rejected"},
		{"checked code", done, work(EditedCode, ran(CheckLint, OutcomeFailed), ran(CheckTest, OutcomePassed)), "completion"},
		{"unchecked code", done, work(EditedCode), "rejected"},
		{"unchecked code, says why", []Signal{{Kind: SignalHedge, Name: HedgeCannotCheck}}, work(EditedCode), "completion"},
		{"check fails and is reported", []Signal{{Kind: SignalFailure, Name: "left"}}, work(EditedCode, ran(CheckTest, OutcomeFailed)), "error"},
		{"check fails and is not reported", done, work(EditedCode, ran(CheckTest, OutcomeFailed)), "rejected"},
		{"check still runs", done, work(EditedCode, ran(CheckTest, OutcomeUnknown)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range []Result{
				{Type: Completion, Confidence: 0.5, CoachingMessage: "x", Signals: c.signals},
				{Type: Status, WasRejectedCompletion: true, Confidence: 0.99, CoachingMessage: "x", Signals: c.signals},
			} {
				r := WeighWork(before, c.work)
				switch c.want {
				case "":
					assert.Equal(t, before, r)
					continue
				case "rejected":
					assert.Equal(t, Status, r.Type)
					assert.Equal(t, "x", r.CoachingMessage)
				default:
					assert.Equal(t, OutputType(c.want), r.Type)
					assert.Empty(t, r.CoachingMessage)
				}
				assert.Equal(t, c.want == "rejected", r.WasRejectedCompletion)
				assert.Equal(t, max(0.9, before.Confidence), r.Confidence)
				assert.NotEmpty(t, r.Reason)
			}
			for _, typ := range []OutputType{Question, Blocker, Error, Status} {
				r := Result{Type: typ, Confidence: 0.7, Signals: c.signals}
				assert.Equal(t, r, WeighWork(r, c.work), "words decide about a %s", typ)
			}
		})
	}
}

// The heuristic lets facts decide about the claims that it reads, and about nothing else.
func TestHeuristicWeighsWork(t *testing.T) {
	passed := Work{Edited: EditedCode, Session: EditedCode, Checks: []Check{{Kind: CheckTest, Outcome: OutcomePassed}}}
	failed := Work{Edited: EditedCode, Session: EditedCode, Checks: []Check{{Kind: CheckTest, Outcome: OutcomeFailed}}}
	unchecked := Work{Edited: EditedCode, Session: EditedCode}
	fixed := "I've fixed the login redirect in `auth.go`. It should work now."
	tests := "Fixed the redirect.\n\n```\n$ go test ./...\n12 passed\n```"
	for _, c := range []struct {
		text     string
		work     Work
		want     OutputType
		rejected bool
	}{
		{fixed, Work{}, Status, true},
		{fixed, unchecked, Status, true},
		{fixed, passed, Completion, false},
		{tests, Work{}, Completion, false},
		{tests, failed, Status, true},
		{tests, unchecked, Status, true},
		{"I fixed the parser. Shall I delete the old table, or keep it?", unchecked, Question, false},
		{"Now I'll run the tests and look at the failure.", passed, Status, false},
	} {
		r := judge(t, Input{Text: c.text, Work: c.work})
		assert.Equal(t, c.want, r.Type, "%s %+v: %s", c.text, c.work, r.Reason)
		assert.Equal(t, c.rejected, r.WasRejectedCompletion, "%s %+v: %s", c.text, c.work, r.Reason)
	}
}

func TestSaysWhyUnchecked(t *testing.T) {
	for text, want := range map[string]bool{
		"Updated the handler. I couldn't run the tests because Docker isn't available here.":  true,
		"Updated the handler. Unable to run the suite in this sandbox, npm is not installed.": true,
		"Updated the handler. I did not run the tests.":                                       false,
		"Updated the handler. You can run the tests now.":                                     false,
	} {
		found := false
		for _, s := range judge(t, Input{Text: text}).Signals {
			found = found || s.Kind == SignalHedge && s.Name == HedgeCannotCheck
		}
		assert.Equal(t, want, found, text)
	}
}

// A claim that something was checked is not one of tests, unless it says so.
func TestClaimedChecks(t *testing.T) {
	for text, want := range map[string]string{
		"Fixed it, all tests pass.": ClaimTests, "I fixed it and verified it.": ClaimChecked, "Everything passes.": ClaimChecked,
		"Fixed it, and the linter is clean.": ClaimLint, "Fixed it. The build passes.": ClaimBuild, "Fixed it. tsc is clean.": ClaimTypes,
		"Committed and pushed to main.": ClaimPush, "Committed it.": ClaimCommit, "Opened a PR for it.": ClaimPullRequest,
		"Alles korrigiert, alle Tests laufen durch.": ClaimTests, "已修复，所有测试都通过了。": ClaimTests, "已验证。": ClaimChecked,
		"修正しました。テストはすべてパスしました。": ClaimTests, "Всё исправил, все тесты проходят.": ClaimTests,
	} {
		r := judge(t, Input{Text: text})
		assert.Contains(t, kinds(r, SignalClaim), want, "%s %+v", text, r.Signals)
		if want == ClaimChecked {
			assert.NotContains(t, kinds(r, SignalClaim), ClaimTests, text)
		}
	}
}
