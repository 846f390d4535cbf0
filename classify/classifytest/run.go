package classifytest

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Run judges each case in a subtest of its name, one after another. It fails the subtest with what differs: the type,
// whether it is a rejected completion, the action that follows at [classify.DefaultThreshold], what the case asks of
// the coaching message, and what the contract of [classify.Classifier] asks of any result. A request without a cassette
// (see [Replay]) fails its case, also if a fallback answered. A list without cases fails t.
func Run(t *testing.T, c classify.Classifier, cases []evaluate.Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("classifytest: there are no cases to run")
	}
	for i, cs := range cases {
		cs.Name = cmp.Or(cs.Name, fmt.Sprintf("case-%d", i+1))
		// -run takes a slash as the beginning of another level.
		t.Run(strings.NewReplacer("/", "-", "\\", "-").Replace(plaintext.Line(cs.Name, 80)), func(t *testing.T) {
			ctx := context.WithValue(t.Context(), scopeKey{}, scope{t, cs.Name})
			report, err := evaluate.Evaluate(ctx, c, []evaluate.Case{cs}, evaluate.Options{})
			if err != nil {
				t.Fatalf("classifytest: %v", err)
			}
			if t.Failed() { // a cassette did not fit: there is no verdict on the prompt as it is now
				return
			}
			o := report.Outcomes[0]
			if faults := o.Faults(); len(faults) > 0 {
				t.Error(strings.Join(faults, "\n") + describe(cs, o))
			} else {
				t.Logf("%s, confidence %.2f: %s", o.Verdict.Label(), o.Verdict.Confidence, plaintext.Line(o.Result.Reason, 100))
			}
		})
	}
}

// scope is one case of Run, on its way through the context to the cassettes, which fail it even if a fallback answers.
type scope struct {
	testing.TB
	name string
}

type scopeKey struct{}

// describe says what led to a wrong verdict.
func describe(c evaluate.Case, o evaluate.Outcome) (text string) {
	rows := [][2]string{
		{"source", o.Result.Source}, {"fallback", o.Verdict.Fallback}, {"reason", plaintext.Line(o.Result.Reason, 100)},
		{"message", plaintext.Line(o.Result.CoachingMessage, 300)}, {"request", plaintext.Line(c.Input.Request, 200)},
		{"text", plaintext.Line(c.Input.Text, 200)},
	}
	for _, signal := range o.Signals() {
		rows = append(rows, [2]string{"signal", signal})
	}
	for _, row := range rows {
		if row[1] != "" {
			text += fmt.Sprintf("\n  %-10s %s", row[0], row[1])
		}
	}
	return text
}
