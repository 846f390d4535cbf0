package classifytest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
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
			sc := &scope{name: cs.Name}
			ctx := context.WithValue(t.Context(), scopeKey{}, sc)
			report, err := evaluate.Evaluate(ctx, c, []evaluate.Case{cs}, evaluate.Options{})
			if err != nil {
				t.Fatalf("classifytest: %v", err)
			}
			if len(sc.said) > 0 { // there is no verdict on the prompt as it is now
				t.Fatal(strings.Join(sc.said, "\n"))
			}
			o := report.Outcomes[0]
			faults := o.Faults()
			for _, s := range o.Result.Signals {
				if n := len(cs.Input.Text); s.Start < 0 || s.Start >= s.End || s.End > n {
					faults = append(faults, fmt.Sprintf("the signal %s is outside the text: bytes %d to %d of %d", s.Kind, s.Start,
						s.End, n))
				}
			}
			if len(faults) > 0 {
				t.Error(strings.Join(faults, "\n") + describe(cs, o))
			} else {
				t.Logf("%s, confidence %.2f: %s", o.Verdict.Label(), o.Verdict.Confidence, plaintext.Line(o.Result.Reason, 100))
			}
		})
	}
}

// scope is one case of Run, on its way through the context to the cassettes.
type scope struct {
	name string
	mu   sync.Mutex
	said []string // complaints of the cassettes, which fail the case even if a fallback answers
}

type scopeKey struct{}

func scopeOf(ctx context.Context) *scope {
	sc, _ := ctx.Value(scopeKey{}).(*scope)
	return sc
}

func (s *scope) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.said, text) { // a client that tries again
		s.said = append(s.said, text)
	}
}

// describe sets a wrong verdict against what was wanted, with what led to it.
func describe(c evaluate.Case, o evaluate.Outcome) string {
	var b strings.Builder
	row := func(name, text string) {
		if text != "" && text != `""` {
			fmt.Fprintf(&b, "\n  %-10s %s", name, text)
		}
	}
	row("want", fmt.Sprintf("%s, %s", o.Want.Label(), o.Want.Action))
	row("got", fmt.Sprintf("%s, %s, confidence %.2f", o.Verdict.Label(), o.Verdict.Action, o.Verdict.Confidence))
	row("source", o.Result.Source)
	row("fallback", o.Verdict.Fallback)
	row("reason", plaintext.Line(o.Result.Reason, 100))
	row("message", quote(o.Result.CoachingMessage, 300))
	row("request", quote(c.Input.Request, 200))
	row("text", quote(c.Input.Text, 200))
	for _, signal := range o.Signals() {
		row("signal", signal)
	}
	return b.String()
}

// quote puts at most n characters of a text on one line, in quotes.
func quote(text string, n int) string { return strconv.Quote(plaintext.Line(text, n)) }
