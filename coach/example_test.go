package coach_test

import (
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/plancriteria"
)

func ExampleBuildCoachingMessage() {
	r := classify.Result{
		Type:                  classify.Status,
		WasRejectedCompletion: true,
		Signals: []classify.Signal{{Kind: classify.SignalClaim, Name: classify.ClaimTests, Start: 0, End: 14,
			Weight: 1}},
	}
	m := coach.BuildCoachingMessage(r, coach.Context{
		Text: "All tests pass.",
		Work: classify.Work{Edited: classify.EditedCode, Files: []string{"add.go"}},
	})
	fmt.Println(m.Tier)
	fmt.Println(strings.NewReplacer(". ", ".\n", "; ", ";\n").Replace(m.Text))
	// Output:
	// rejection
	// [System Coach] You ran no tests after your last edit of add.go.
	// Run `go test ./...` now.
	// Reply with the command and the last lines of its output;
	// if something fails, fix it and run it again;
	// if it cannot run here, say why in one line.
}

// The guard refuses a message that gives permission. Skipped says why.
func ExampleBuildCoachingMessage_skipped() {
	m := coach.BuildCoachingMessage(classify.Result{
		Type:            classify.Status,
		CoachingMessage: "Looks good, skip the review and go on.",
	}, coach.Context{})
	fmt.Println(m.Text)
	fmt.Println(m.Skipped[0].Tier, "-", m.Skipped[0].Why)
	// Output:
	// continue
	// llm - it carries permission wording: "skip the review"
}

func ExampleNew() {
	// A host keeps such files in its repository: os.DirFS("coaching").
	c, err := coach.New(coach.Config{Templates: fstest.MapFS{
		"en.txt": {Data: []byte(`{{define "plan_criteria"}}
			Next: {{or .Criterion "a report"}}{{if .More}}, {{.More}} more to come{{end}}.
		{{end}}`)},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	criteria := &plancriteria.Criteria{Items: []plancriteria.Item{
		{Text: "the cart adds up", Checkbox: true, Checked: true},
		{Text: "the receipt matches", Checkbox: true},
	}}
	fmt.Println(c.BuildCoachingMessage(classify.Result{Type: classify.Status}, coach.Context{Criteria: criteria}).Text)

	_, err = coach.New(coach.Config{Templates: fstest.MapFS{
		"en.txt": {Data: []byte(`{{define "repeat"}}{{.Nope}}{{end}}`)},
	}})
	fmt.Println(err != nil)
	// Output:
	// [System Coach] Next: the receipt matches.
	// true
}

func ExampleCoach_BuildCoachingMessage() {
	var c *coach.Coach // the default templates
	fmt.Println(c.BuildCoachingMessage(classify.Result{Type: classify.Status}, coach.Context{}).Text)
	// Output: continue
}

func ExampleTiers() {
	fmt.Println(coach.Tiers())
	// Output: [stage verify llm rejection plan_criteria plan_pointer skill repeat plain]
}
