package classify

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	done := claim(claimDone, ClaimEdit)
	for _, c := range []struct {
		name    string
		signals []Signal
		work    Work
		want    string // "" leaves the verdict to the words
	}{
		{"nothing known", done, Work{}, ""},
		{"claimed tests failed", claim(ClaimTests), work(EditedCode, ran(CheckTest, OutcomeFailed)), "rejected"},
		{"claimed tests failed, edits unknown", claim(ClaimTests), Work{Checks: []Check{ran(CheckTest, OutcomeFailed)}},
			"rejected"},
		{"claimed tests passed again", claim(ClaimTests),
			work(EditedCode, ran(CheckTest, OutcomeFailed), ran(CheckTest, OutcomePassed)), "completion"},
		{"claimed tests, only a " +
			"build", claim(ClaimTests), work(EditedCode, ran(CheckBuild, OutcomePassed)), "rejected"},
		{"claimed tests, only a " +
			"commit", claim(ClaimTests), work(EditedCode, ran(CheckCommit, OutcomePassed)), "rejected"},
		{"claimed tests, hidden status", claim(ClaimTests), work(EditedCode, ran(CheckTest, OutcomeUnknown)), ""},
		{"counted tests without a run", []Signal{{Kind: SignalEvidence, Name: string(EvidenceTests)}}, work(EditedCode),
			"rejected"},
		{"claimed build, tests ran", claim(ClaimBuild), work(EditedCode, ran(CheckTest, OutcomePassed)), "completion"},
		{"claimed types, a linter " +
			"ran", claim(ClaimTypes), work(EditedCode, ran(CheckLint, OutcomePassed)), "completion"},
		{"claimed lint, a build ran", claim(ClaimLint), work(EditedCode, ran(CheckBuild, OutcomePassed)), "rejected"},
		{"claimed commit, not made", claim(ClaimCommit), work(EditedCode, ran(CheckTest, OutcomePassed)), "rejected"},
		{"commit proves no work", claim(ClaimCommit), work(EditedCode, ran(CheckCommit, OutcomePassed)), "rejected"},
		{"claimed change, none in the session", done, work(EditedNone), "rejected"},
		{"claimed change, only commands", done, work(EditedNone, ran(CheckRun, OutcomePassed)), "completion"},
		{"claimed change, made before", done, Work{Edited: EditedNone, Session: EditedCode}, "completion"},
		{"answer", nil, work(EditedNone), "completion"},
		{"tests mentioned, nothing edited ever", claim(ClaimTests), work(EditedNone), ""},
		{"tests counted, nothing run " +
			"ever", []Signal{{Kind: SignalEvidence, Name: string(EvidenceTests)}}, work(EditedNone),
			"rejected"},
		{"documents", done, work(EditedDocs), "completion"},
		{"documents, tests claimed", claim(ClaimTests), work(EditedDocs), "rejected"},
		{"checked code", done, work(EditedCode, ran(CheckLint, OutcomeFailed), ran(CheckTest, OutcomePassed)), "completion"},
		{"unchecked code", done, work(EditedCode), "rejected"},
		{"unchecked code, says " +
			"why", []Signal{{Kind: SignalHedge, Name: hedgeCannotCheck}}, work(EditedCode), "completion"},
		{"check fails and is reported", []Signal{{Kind: SignalFailure, Name: "left"}}, work(EditedCode, ran(CheckTest,
			OutcomeFailed)), "error"},
		{"check fails and is not reported", done, work(EditedCode, ran(CheckTest, OutcomeFailed)), "rejected"},
		{"check still runs", done, work(EditedCode, ran(CheckTest, OutcomeUnknown)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, before := range []Result{
				{Type: Completion, Confidence: 0.5, CoachingMessage: "x", Signals: c.signals},
				{Type: Status, WasRejectedCompletion: true, Confidence: 0.99, CoachingMessage: "x", Signals: c.signals},
			} {
				r := c.work.Weigh(before)
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
				assert.Equal(t, r, c.work.Weigh(r), "words decide about a %s", typ)
			}
		})
	}
}

// The heuristic lets facts decide about the claims that it reads, and about nothing else.
func TestHeuristicWeighsWork(t *testing.T) {
	passed := Work{Edited: EditedCode, Session: EditedCode, Checks: []Check{{Kind: CheckTest, Outcome: OutcomePassed}}}
	failed := Work{Edited: EditedCode, Session: EditedCode, Checks: []Check{{Kind: CheckTest, Outcome: OutcomeFailed}}}
	unchecked := Work{Edited: EditedCode, Session: EditedCode}
	idle := Work{Edited: EditedNone, Session: EditedNone}
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
		{"Done. The redirect keeps its query.", idle, Status, true},
		{"Every import in `billing` is used. I changed nothing.", idle, Completion, false},
		{"The timeout is already 30 seconds, so I made no changes.", idle, Completion, false},
		{"Nothing else is left: the timeout is right now for slow clients.", unchecked, Status, true},
		{"I moved the parser into `parse.py`. The callers still use the old one; I'll update them " +
			"next.", unchecked, Status,
			false},
		{"登录重定向已经修复，现在应该可以正常工作了。", idle, Status, true},
		{"La redirection est corrigée, ça devrait marcher maintenant.", idle, Status, true},
		{"The parser is complete: it reads all nine kinds of tokens.", idle, Completion, false},
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
		"Updated the handler. If the sandbox allowed it, I would build it.":                   true,
		"Ich konnte die Tests nicht ausführen, weil Docker fehlt.":                            true,
		"No pude ejecutar las pruebas porque falta Docker.":                                   true,
		"Não consegui rodar os testes porque falta o Docker.":                                 true,
		"Je n'ai pas pu lancer les tests car Docker manque.":                                  true,
		"Testy jsem nemohl spustit, protože Docker není nainstalovaný.":                       true,
		"Не смог запустить тесты, потому что Docker не установлен.":                           true,
		"因为没有安装依赖，无法运行测试。":                                                                    true,
		"Docker がないため、テストを実行できません。":                                                           true,
		"Ich habe die Tests nicht ausgeführt.":                                                false,
		"Updated the handler. I did not run the tests.":                                       false,
		"Updated the handler. You can run the tests now.":                                     false,
	} {
		found := false
		for _, s := range judge(t, Input{Text: text}).Signals {
			found = found || s.Kind == SignalHedge && s.Name == hedgeCannotCheck
		}
		assert.Equal(t, want, found, text)
	}
}

// A claim that something was checked is not one of tests, unless it says so.
func TestClaimedChecks(t *testing.T) {
	for text, want := range map[string]string{
		"Fixed it, all tests pass.": ClaimTests, "I fixed it and verified it.": ClaimChecked,
		"Everything passes.":                 ClaimChecked,
		"Fixed it, and the linter is clean.": ClaimLint, "Fixed it. The build passes.": ClaimBuild,
		"Fixed it. tsc is clean.": ClaimTypes,
		"Committed and pushed to " +
			"main.": ClaimPush, "Committed it.": ClaimCommit, "Opened a PR for it.": ClaimPullRequest,
		"Alles korrigiert, alle Tests laufen durch.": ClaimTests, "已修复，所有测试都通过了。": ClaimTests,
		"已验证。": ClaimChecked,
		"修正しました。テストはすべてパスしました。":             ClaimTests,
		"Всё исправил, все тесты проходят.": ClaimTests,
	} {
		r := judge(t, Input{Text: text})
		assert.Contains(t, kinds(r, SignalClaim), want, "%s %+v", text, r.Signals)
		if want == ClaimChecked {
			assert.NotContains(t, kinds(r, SignalClaim), ClaimTests, text)
		}
	}
}

// approvals.txt has outputs that wait for the human's word: what the agent does next depends on it. Each is a question,
// wherever the sentence stands at the end, and whatever the agent did before.
func TestApprovals(t *testing.T) {
	before := map[string]string{
		"en": "I read the handlers and wrote a plan: split the module, then move the callers.",
		"de": "Ich habe die Module gelesen und einen Plan geschrieben.",
		"es": "He leído los módulos y escrito un plan.", "pt": "Li os módulos e escrevi um plano.",
		"fr": "J'ai lu les modules et écrit un plan.",
		"cs": "Přečetl jsem moduly a napsal plán.", "ru": "Я прочитал модули и написал план.",
		"zh": "我看完了这些模块，并写好了计划。",
		"ja": "モジュールを読み、計画を書きました。",
	}
	list, err := os.ReadFile("testdata/approvals.txt")
	require.NoError(t, err)
	language := ""
	for text := range strings.FieldsFuncSeq(string(list), func(r rune) bool { return r == '\n' }) {
		switch text[0] {
		case '#':
			continue
		case '[':
			language = strings.Trim(text, "[]")
			continue
		}
		for _, in := range []Input{
			{Text: text}, {Text: before[language] + "\n\n" + text, Request: "refactor the module"},
			{Text: before[language] + "\n\n" + text + "\n\n- " + before[language]},
		} {
			r := judge(t, in)
			assert.Equal(t, Question, r.Type, "%s: %q: %.2f %s", language, in.Text, r.Confidence, r.Reason)
		}
	}
}

// What depends on something else than the human's word, or was approved before, is no approval.
func TestNoApprovals(t *testing.T) {
	for _, text := range []string{
		"Next I'll run the tests, and if they pass I'll commit.", "Once the build is done I'll deploy to staging.",
		"As soon as the server is up, I'll run the migration.", "When the download finishes I'll continue with step 3.",
		"You approved the plan, so I'll start with the parser now.",
		"Fixed the redirect. Once you restart the server, you should see the login page.",
		"Added both formats. Now when you export, you'll see all five files.",
		"测试通过后我会继续修改第二个模块。", "ビルドが終わったら、テストを実行します。",
		"Sobald der Build fertig ist, starte ich die Tests.",
	} {
		assert.Equal(t, Status, judge(t, Input{Text: text}).Type, text)
	}
}

// An honest report of a failure is not a false claim: the human sees it. An agent that goes on with it is at work, and
// one that repaired it claims to be done.
func TestHonestFailures(t *testing.T) {
	for text, want := range map[string]OutputType{
		"I fixed the mock, but CI is still red: the e2e job times out.":           Error,
		"Ran the suite: 102 passed, 5 failed.":                                    Error,
		"tsc reports nine type errors after my change.":                           Error,
		"The build still fails with the same error.":                              Error,
		"I updated the handler. 3 tests still fail, and I could not find out why": Error,
		"I updated the schema. 3 tests still fail, next I'll look at the fixture": Status,
		"Fixed the two failing tests, everything should work now.":                Status,
		"Fixed the broken build, it should compile again.":                        Status,
		"Updated the handler. All tests pass and CI is green.":                    Status,
	} {
		assert.Equal(t, want, judge(t, Input{Text: text}).Type, "%s: %s", text, judge(t, Input{Text: text}).Reason)
	}
}

// A report that ends with a claim is a rejected completion, however much it says of its steps before. So is an edit
// that was announced and stands in the text.
func TestReportsThatEndWithAClaim(t *testing.T) {
	const steps = "Let me look at the poller first. Now let me update the list. Next I'll move the timer.\n\n"
	for _, text := range []string{
		steps + "Now let me restart it.\n\nThe popup is fixed and should no longer appear.",
		"I'll drop the slice.\n\n```python\n<<<<<<< SEARCH\na = b[1:]\n=======\na = b\n>>>>>>> REPLACE\n```\n\n" +
			"The whole name is used as the event now.",
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, Status, r.Type, text)
		assert.True(t, r.WasRejectedCompletion, "%s: %s", text, r.Reason)
	}
	assert.False(t, judge(t, Input{Text: steps + "Fixed the poller. Next I'll run the tests."}).WasRejectedCompletion)
}
