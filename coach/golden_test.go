package coach

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

var (
	status   = classify.Result{Type: classify.Status, Confidence: 0.9}
	rejected = classify.Result{Type: classify.Status, Confidence: 0.9, WasRejectedCompletion: true}
)

// found returns a rejected completion of text with signals, each "kind/name/words of the text".
func found(text string, signals ...string) classify.Result {
	r := rejected
	for _, s := range signals {
		p := strings.SplitN(s, "/", 3)
		start := strings.Index(text, p[2])
		if start < 0 {
			panic("not in the text: " + p[2])
		}
		r.Signals = append(r.Signals, classify.Signal{
			Kind: classify.SignalKind(p[0]), Name: p[1], Start: start, End: start + len(p[2]), Weight: 1,
		})
	}
	return r
}

func coached(r classify.Result, msg string) classify.Result {
	r.CoachingMessage = msg
	return r
}

// plan makes criteria of lines: "[x] ticked", "[ ] open", "prose item", two spaces a level.
func plan(lines ...string) *plancriteria.Criteria {
	c := &plancriteria.Criteria{Heading: "Success Criteria", Text: strings.Join(lines, "\n")}
	for _, l := range lines {
		text := strings.TrimLeft(l, " ")
		it := plancriteria.Item{Depth: (len(l) - len(text)) / 2, Text: text}
		if rest, ok := strings.CutPrefix(text, "[ ] "); ok {
			it.Text, it.Checkbox = rest, true
		} else if rest, ok := strings.CutPrefix(text, "[x] "); ok {
			it.Text, it.Checkbox, it.Checked = rest, true, true
		}
		c.Items = append(c.Items, it)
	}
	return c
}

var (
	cart = plan("[x] Totals are computed on the server", "[ ] `go test ./cart/...` passes",
		"[ ] Rounding follows ISO 4217")
	build = &skills.Skill{Name: "do-build", Trigger: "/do-build", Description: "build what the plan describes",
		EvidenceHint: "passing tests, commit hashes, and a PR link"}
	edited = classify.Work{Edited: classify.EditedCode, Session: classify.EditedCode, Files: []string{"cart/total.go"}}
)

// ran returns edited work after which a command ran.
func ran(kind classify.CheckKind, command string, outcome classify.CheckOutcome) classify.Work {
	w := edited
	w.Checks = []classify.Check{{Command: command, Kind: kind, Outcome: outcome}}
	return w
}

// behaviour is one case: what is known, and the tier that must speak.
type behaviour struct {
	name string
	tier Tier
	r    classify.Result
	in   Context
}

// behaviours are the cases of the golden files. One case shows one rule.
func behaviours() []behaviour {
	const (
		tests  = "I moved the total to the server. All tests pass."
		build_ = "Validation:\n- `npm test` passed\n- `npm run build` passed"
		fixed  = "Fixed the rounding in `cart/total.go` and `cart/tax.go`."
		few    = "- Cart: 12 of my tests pass → all good"
		gap    = "The cart is done. Admin and settings still use the old shell."
	)
	var (
		claim   = found(tests, "claim/done/I moved", "claim/tests/All tests pass")
		blocked = found("Fixed it. I could not run npm here.", "hedge/cannot_check/could not run npm here")
		text    = func(s string) Context { return Context{Text: s} }
	)
	long := plan()
	for i := range 40 {
		long.Items = append(long.Items, plancriteria.Item{Text: fmt.Sprintf("Page %d shows the total within one second",
			i+1)})
	}
	rejection := func(name string, r classify.Result, in Context) behaviour {
		return behaviour{name, tierRejection, r, in}
	}
	return []behaviour{
		rejection("a check failed", claim, Context{Text: tests, Work: ran(classify.CheckTest, "go test ./...",
			classify.OutcomeFailed)}),
		rejection("a check failed whose command is not repeated", claim,
			Context{Text: tests, Work: ran(classify.CheckTest, "make deploy | tee log", classify.OutcomeFailed)}),
		rejection("the host saw a failure", claim,
			Context{Text: tests, Evidence: []classify.Evidence{{Kind: classify.EvidenceTests, Text: "2 failed", Failed: true}}}),
		rejection("the host saw no test run", claim,
			Context{Text: tests, Evidence: []classify.Evidence{{Kind: classify.EvidenceTests, Text: "no test run",
				Absent: true}}}),
		rejection("nothing ran after the last edit", claim, Context{Text: tests, Work: edited}),
		rejection("a build ran, but tests are claimed", claim,
			Context{Text: tests, Work: ran(classify.CheckBuild, "go build ./...", classify.OutcomePassed)}),
		rejection("no claim, and nothing ran", found(fixed, "claim/edit/Fixed"), Context{Text: fixed, Work: edited}),
		rejection("only a commit ran", found(fixed, "claim/edit/Fixed"),
			Context{Text: fixed, Work: ran(classify.CheckCommit, "git commit -m x", classify.OutcomePassed)}),
		rejection("a result that nobody saw", claim,
			Context{Text: tests, Work: ran(classify.CheckTest, "npm test", classify.OutcomeUnknown)}),
		rejection("a change is claimed, but no file was edited", found(fixed, "claim/edit/Fixed"),
			Context{Text: fixed, Work: classify.Work{Edited: classify.EditedNone, Session: classify.EditedNone}}),
		rejection("a commit is claimed that was not made", found("Committed.", "claim/commit/Committed"),
			Context{Text: "Committed.", Work: edited}),
		rejection("it says why it could not check", blocked, text("Fixed it. I could not run npm here.")),
		rejection("it admits an open part", found(gap, "gap/admitted/Admin and settings still use the old shell"), text(gap)),
		rejection("a plain claim of tests", claim, text(tests)),
		rejection("checks that it names itself", found(build_, "claim/build/passed"), text(build_)),
		rejection("a command that it says passed", found(build_, "claim/checked/`npm test` passed"), text(build_)),
		rejection("a claim of tests that is not one sentence", found(few, "claim/tests/12 of my tests pass"), text(few)),
		rejection("a claimed push", found("Done and pushed to main", "claim/push/pushed to main"),
			text("Done and pushed to main")),
		rejection("a claimed pull request", found("The PR is open", "claim/pull_request/PR is open"), text("The PR is open")),
		rejection("the plan's criterion", rejected, Context{Text: "Done.", PlanFile: "docs/cart.md", Criteria: cart}),
		rejection("the skill's hint", rejected, Context{Text: "Done.", Skill: build}),
		rejection("code", rejected, text(fixed)),
		rejection("tests", rejected, text("Added `cart/total_test.go`.")),
		rejection("interface", rejected, text("Made the banner blink in `src/index.css` and `src/Cart.tsx`.")),
		rejection("configuration", found("Set the port in `docker-compose.yml`.", "claim/edit/Set the port"),
			text("Set the port in `docker-compose.yml`.")),
		rejection("code that must be compiled", rejected, text("Changed `Tab50100.Cart.al`.")),
		rejection("a script", rejected, text("Changed `deploy.sh`.")),
		rejection("documents", rejected, text("Rewrote `README.md`.")),
		rejection("edits that another program applies", rejected,
			text("cart.py\n<<<<<<< SEARCH\nn = 1\n=======\nn = 2\n>>>>>>> REPLACE")),
		rejection("an app that only its maker's tool opens", rejected, text("Moved the button in `cart/index.wxml`.")),
		rejection("nothing to go by", rejected, text("Done! I've moved both.")),

		{"one finding", tierVerify, rejected, Context{Feedback: "The commit 9f1c2aa does not exist."}},
		{"findings", tierVerify, rejected, Context{PlanFile: "docs/cart.md", Criteria: cart, Skill: build,
			Feedback: "The commit 9f1c2aa does not exist.\n- The suite was not run after the last edit.\n" +
				"- cart.go does not build.\n"}},
		{"the judge's words", tierLLM, coached(claim, "Paste the summary of the run that you mention."), text(tests)},
		{"open criteria", tierPlanCriteria, status, Context{PlanFile: "docs/cart.md", Criteria: cart, Skill: build}},
		{"open criteria without a file", tierPlanCriteria, status, Context{Criteria: cart}},
		{"many criteria", tierPlanCriteria, status, Context{PlanFile: "docs/cart.md", Criteria: long}},
		{"ticked criteria", tierPlanCriteria, status, Context{PlanFile: "docs/cart.md", Criteria: plan("[x] It builds",
			"[x] It is documented")}},
		{"criteria in prose", tierPlanCriteria, status, Context{PlanFile: "docs/cart.md", Criteria: &plancriteria.Criteria{
			Heading: "Definition of Done", Text: "\nThe cart shows the same total\neverywhere.\n"}}},
		{"a plan without readable criteria", tierPlanPointer, status, Context{PlanFile: "docs/cart.md", Skill: build}},
		{"what is open of a goal", tierVerify, status, Context{Goal: true,
			Feedback: "`go test ./...` exits with 1: TestLogin fails.\n`docs/usage.md` does not mention `--json`."}},
		{"the next stage", tierStage, classify.Result{Type: classify.Completion, Confidence: 0.9},
			Context{Skill: build, Stage: true, PlanFile: "docs/cart.md", Criteria: cart}},
		{"a skill", tierSkill, status, Context{Skill: build}},
		{"a skill with only a hint", tierSkill, status,
			Context{Skill: &skills.Skill{EvidenceHint: "a screenshot of the page."}}},
		{"a skill with only a description", tierSkill, status, Context{Skill: &skills.Skill{Name: "tidy",
			Description: "tidy up the imports"}}},
		{"progress", tierPlain, status, text("Next I move the total.")},
	}
}

func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for language := range builtin() {
		t.Run(language, func(t *testing.T) {
			var b strings.Builder
			for _, g := range behaviours() {
				g.r.Language = language
				for g.in.Attempt = 1; g.in.Attempt <= 2; g.in.Attempt++ {
					want := g.tier
					if want == tierPlain && g.in.Attempt > 1 {
						want = tierRepeat
					}
					m := BuildCoachingMessage(g.r, g.in)
					require.Equal(t, want, m.Tier, g.name)
					require.Empty(t, m.Skipped, g.name)
					fmt.Fprintf(&b, "# %s: %s, attempt %d\n%s\n\n", m.Tier, g.name, g.in.Attempt, m.Text)
				}
			}
			file := filepath.Join("testdata", language+".txt")
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err, "go test ./coach -update writes it")
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s (-want +got), go test ./coach -update accepts it:\n%s", file, diff)
			}
		})
	}
}

// longestCases yields a case for each finding, ask and attempt that can be, with every other field as long as it gets,
// and cases with those fields empty that may be.
func longestCases() iter.Seq[*fields] {
	asks := []string{
		// what the output claims or names
		"command", "tests", "build", "types", "lint", "pull_request", "push", "commit",
		"finish", "possible", "criterion", "hint", "interface", "code", "compile",
		"script", "config", "docs", "read", "apply", "app", "any",
	}
	const own = 9
	long := func(n int) string { return strings.Repeat("x", n) }
	return func(yield func(*fields) bool) {
		for _, finding := range findings {
			for i, ask := range asks {
				if (finding == "unable") != (ask == "possible") ||
					(finding == "unchanged" || finding == "gap") != (ask == "finish") || finding == "claim" && i >= own ||
					(ask == "read" || ask == "apply") && finding != "" {
					continue
				}
				for attempt := 1; attempt <= 2; attempt++ {
					bare := fields{Attempt: attempt, Finding: finding, Ask: ask, Kind: "tests", Command: long(maxCommand - 8),
						Quote: long(maxClaim), Feedback: long(maxFeedback), Message: "Message.", Section: long(maxList),
						Plan: "plan", Hint: long(maxHint), Criterion: long(maxCriterion)}
					if finding == "gap" {
						bare.Quote = long(maxGap)
					}
					full := bare
					full.Second, full.File, full.Others = long(8), long(maxFile), long(maxOthers)
					full.Plan, full.Criteria, full.Open, full.More = long(maxPlan), long(maxList), 99, 99
					full.Ticked, full.Skill, full.Description = 99, long(maxSkill), long(maxHint)
					full.Goal = true
					ticked := full
					ticked.Open, ticked.Criterion = 0, ""
					push, pull, claimed := full, full, full
					push.Kind, pull.Kind = classify.ClaimPush, classify.ClaimPullRequest
					cases := []*fields{&bare, &full, &ticked, &push, &pull}
					if finding == "claim" {
						claimed.Quote, claimed.Claimed = "", long(maxCommand)
						cases = append(cases, &claimed)
					}
					for _, f := range cases {
						if !yield(f) {
							return
						}
					}
				}
			}
		}
	}
}

// In each language, a message with each field as long as it gets keeps its limit, is whole, and says another thing at
// the second attempt, unless the tier has only one. No wording of ours gives permission.
func TestDefaultTemplates(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	wide := regexp.MustCompile("[。、，；] ")
	for language := range builtin() {
		t.Run(language, func(t *testing.T) {
			said := make(map[string]int)
			for f := range longestCases() {
				for _, tier := range tiers[:len(tiers)-1] {
					if tier != tierRejection && (f.Finding != "" || f.Ask != "any") {
						continue // a finding changes nothing there
					}
					text, why := (*Coach)(nil).word(tier, language, f)
					require.Empty(t, why)
					limit := 350
					if tier == tierVerify || tier == tierLLM {
						limit = maxForeign
					}
					require.LessOrEqual(t, utf8.RuneCountInString(text), limit, text)
					require.True(t, strings.ContainsAny(text[len(text)-1:], ".") || strings.HasSuffix(text, "。"), text)
					assert.NotContains(t, text, "<no value>")
					require.NotRegexp(t, wide, text, "a space after a wide mark")
					if before, ok := said[text]; ok && tier != tierRepeat && tier != tierStage {
						require.Equal(t, before, f.Attempt, text)
					}
					said[text] = f.Attempt
				}
			}
			raw, err := templateFiles.ReadFile("templates/" + language + ".txt")
			require.NoError(t, err)
			assert.Empty(t, phrases("permission")(string(raw), &sources{}))
			assert.Equal(t, plaintext.Clean(string(raw)), string(raw))
		})
	}
}
