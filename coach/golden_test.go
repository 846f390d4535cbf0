package coach

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// output is an agent's report in which the golden cases point at words.
const output = `I moved the cart total to the server and renamed the helper.
Rounding is fixed. All tests pass. It should be fine on mobile too.
The currency switch is not covered yet; I'll report back once the suite ran.`

var (
	status   = classify.Result{Type: classify.Status, Confidence: 0.9}
	rejected = classify.Result{Type: classify.Status, Confidence: 0.9, WasRejectedCompletion: true}
)

// found returns r with signals, each "kind/name/words of output".
func found(r classify.Result, signals ...string) classify.Result {
	for _, s := range signals {
		p := strings.SplitN(s, "/", 3)
		start := strings.Index(output, p[2])
		if start < 0 {
			panic("not in the output: " + p[2])
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
	c := &plancriteria.Criteria{Heading: "Success Criteria", Level: 2, Text: strings.Join(lines, "\n")}
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
	cart  = plan("[x] Totals are computed on the server", "[ ] `go test ./cart/...` passes", "[ ] Rounding follows ISO 4217")
	build = &skills.Skill{Name: "do-build", Trigger: "/do-build", Description: "build what the plan describes",
		EvidenceHint: "passing tests, commit hashes, and a PR link"}
)

func withPlan(in Context) Context {
	in.PlanFile, in.Criteria = "docs/cart.md", cart
	return in
}

func withSkill(in Context) Context {
	in.Skill = build
	return in
}

func TestGolden(t *testing.T) {
	type golden struct {
		name string
		r    classify.Result
		in   Context
	}
	here := Context{Text: output}
	findings := Context{Feedback: "The commit 9f1c2aa does not exist.\n- The suite was not run after the last edit.\n- cart.go does not build.\n"}
	long := plan()
	for i := range 40 {
		long.Items = append(long.Items, plancriteria.Item{Text: fmt.Sprintf("Page %d shows the total within one second", i+1)})
	}
	ran := []classify.Evidence{{Kind: classify.EvidenceTests, Text: "go test ./cart: 2 failed, 40 passed", Failed: true}}

	none := []classify.Evidence{{Kind: classify.EvidenceTests, Text: "no test run since the last edit", Absent: true}}

	tiers := map[Tier][]golden{
		TierVerify: {
			{"one finding", rejected, Context{Feedback: "The commit 9f1c2aa does not exist."}},
			{"findings", rejected, findings},
			{"findings, with plan and skill", rejected, withPlan(withSkill(findings))},
		},
		TierLLM: {
			{"progress", coached(status, "Name the two call sites you still want to move."), here},
			{"rejected", coached(found(rejected, "claim/tests/All tests pass"), "Paste the summary of the run you mention."), here},
			{"rejected, with plan", coached(rejected, "Paste the summary of the run you mention."), withPlan(here)},
			{"rejected, with skill", coached(rejected, "Paste the summary of the run you mention."), withSkill(here)},
		},
		TierRejection: {
			{"claim and hedge", found(rejected, "claim/done/Rounding is fixed", "hedge//It should be fine"), here},
			{"claim and hedge, with plan", found(rejected, "claim/done/Rounding is fixed", "hedge//It should be fine"), withPlan(here)},
			{"claim and hedge, with skill", found(rejected, "claim/done/Rounding is fixed", "hedge//It should be fine"), withSkill(here)},
			{"claim and hedge, with unreadable plan", found(rejected, "claim/done/Rounding is fixed", "hedge//It should be fine"), Context{Text: output, PlanFile: "docs/cart.md"}},
			{"claim", found(rejected, "claim/done/Rounding is fixed"), here},
			{"claim of something certain", found(rejected, "claim/done/Rounding is fixed", "claim/tests/All tests pass"), here},
			{"claim and hedge beside a test run", found(rejected, "claim/done/Rounding is fixed", "hedge//It should be fine"),
				Context{Text: output, Evidence: []classify.Evidence{{Kind: classify.EvidenceTests, Text: "42 passed"}}}},
			{"claim against what the host saw", found(rejected, "claim/tests/All tests pass"), Context{Text: output, Evidence: ran}},
			{"claim of what the host did not see", found(rejected, "claim/tests/All tests pass"), Context{Text: output, Evidence: none}},
			{"hedge", found(rejected, "hedge//It should be fine"), here},
			{"gap", found(rejected, "gap//is not covered yet"), here},
			{"claim and gap", found(rejected, "claim/done/Rounding is fixed", "gap//is not covered yet"), here},
			{"promise", found(rejected, "promise//I'll report back"), here},
			{"nothing pinned down", rejected, here},
			{"everything", found(rejected, "claim/tests/All tests pass", "hedge//It should be fine", "gap//is not covered yet", "promise//I'll report back"),
				withPlan(withSkill(Context{Text: output, Evidence: ran}))},
		},
		TierPlanCriteria: {
			{"open", status, withPlan(here)},
			{"open, with skill", status, withPlan(withSkill(here))},
			{"open, without file", status, Context{Criteria: cart}},
			{"many", status, Context{PlanFile: "docs/cart.md", Criteria: long}},
			{"all ticked", status, Context{PlanFile: "docs/cart.md", Criteria: plan("[x] It builds", "[x] It is documented")}},
			{"prose", status, Context{PlanFile: "docs/cart.md", Criteria: &plancriteria.Criteria{
				Heading: "Definition of Done", Text: "\nThe cart shows the same total\neverywhere.\n"}}},
		},
		TierPlanPointer: {
			{"plan", status, Context{PlanFile: "docs/cart.md"}},
			{"plan, with skill", status, withSkill(Context{PlanFile: "docs/cart.md"})},
		},
		TierSkill: {
			{"skill", status, withSkill(here)},
			{"only a hint", status, Context{Skill: &skills.Skill{EvidenceHint: "a screenshot of the page."}}},
			{"only a description", status, Context{Skill: &skills.Skill{Name: "tidy", Description: "tidy up the imports"}}},
		},
		TierRepeat: {
			{"status", status, here},
			{"status, with request", status, Context{Text: output, Request: "Move the cart total to the server."}},
		},
		TierPlain: {
			{"status", status, here},
			{"empty output", status, Context{}},
		},
	}
	for _, tier := range Tiers() {
		t.Run(string(tier), func(t *testing.T) {
			var b strings.Builder
			for _, g := range tiers[tier] {
				for g.in.Attempt = 1; g.in.Attempt <= 3; g.in.Attempt++ {
					want := tier
					if tier == TierRepeat && g.in.Attempt == 1 {
						want = TierPlain
					} else if tier == TierPlain && g.in.Attempt > 1 {
						want = TierRepeat
					}
					m := BuildCoachingMessage(g.r, g.in)
					require.Equal(t, want, m.Tier, g.name)
					require.Empty(t, m.Skipped, g.name)
					fmt.Fprintf(&b, "# %s, attempt %d\n%s\n\n", g.name, g.in.Attempt, m.Text)
				}
			}
			file := filepath.Join("testdata", string(tier)+".txt")
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
