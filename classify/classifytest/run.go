package classifytest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
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
// the coaching message, and what the contract of [classify.Classifier] asks of any result. A request that [Cassettes]
// had no answer for fails its case, also if a fallback answered. A list without cases fails t.
func Run(t *testing.T, c classify.Classifier, cases []evaluate.Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("classifytest: there are no cases to run")
	}
	for i, cs := range cases {
		t.Run(subtest(cs.Name, i), func(t *testing.T) {
			if !cs.Want.Type.Valid() {
				t.Fatalf("classifytest: case %q wants a type that does not exist: %.20q", cs.Name, string(cs.Want.Type))
			}
			sc := &scope{name: cs.Name}
			in := cs.Input
			in.Criteria, in.Evidence = slices.Clone(in.Criteria), slices.Clone(in.Evidence)
			r, err := c.Classify(context.WithValue(t.Context(), scopeKey{}, sc), in)
			if said := sc.take(); len(said) > 0 { // there is no verdict on the prompt as it is now
				t.Fatal(strings.Join(said, "\n"))
			}
			if err != nil {
				t.Fatalf("no verdict: %v", err)
			}
			wrong := faults(cs, r)
			if !same(in.Criteria, cs.Input.Criteria) || !same(in.Evidence, cs.Input.Evidence) {
				wrong = append(wrong, "the classifier changed its input")
			}
			if len(wrong) > 0 {
				t.Error(describe(cs, r, wrong))
				return
			}
			t.Logf("%s, confidence %.2f: %s", label(r.Type, r.WasRejectedCompletion), r.Confidence, plaintext.Line(r.Reason,
				100))
		})
	}
}

// same reports whether two lists are alike. A nil list is an empty one.
func same[T any](a, b []T) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }

// subtest makes the name of a subtest from a case's: without slashes, which -run takes as levels.
func subtest(name string, i int) string {
	name = strings.NewReplacer("/", "-", "\\", "-").Replace(plaintext.Line(name, 80))
	return cmp.Or(name, fmt.Sprintf("case-%d", i+1))
}

// scope is one case of Run, on its way through the context to the cassettes.
type scope struct {
	name string
	mu   sync.Mutex
	said []string // what the cassettes have to say, whatever the classifier makes of it
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

func (s *scope) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	said := s.said
	s.said = nil
	return said
}

// faults returns everything in which a verdict is not what its case wants, or not what a verdict may be.
func faults(c evaluate.Case, r classify.Result) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if !r.Type.Valid() {
		add("%.20q is not one of the five types", string(r.Type))
	}
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		add("the confidence %v is not a number from 0 to 1", r.Confidence)
	}
	if r.Type != classify.Status && r.WasRejectedCompletion {
		add("a %s is called a rejected completion; only a status can be one", r.Type)
	}
	for _, s := range r.Signals {
		if !within(s, c.Input.Text) {
			add("the signal %s is outside the text: bytes %d to %d of %d", s.Kind, s.Start, s.End, len(c.Input.Text))
		}
	}
	if len(all) > 0 {
		return all
	}
	switch want := c.Want; {
	case r.Type != want.Type || r.WasRejectedCompletion != want.WasRejectedCompletion:
		add("type: got %s, want %s", label(r.Type, r.WasRejectedCompletion), label(want.Type, want.WasRejectedCompletion))
	case action(r) != wantedAction(want):
		add("action: got %s, want %s; the confidence is %.2f, the threshold %.2f",
			action(r), wantedAction(want), r.Confidence, classify.DefaultThreshold)
	}
	if m := c.Want.Message; m != nil {
		all = append(all, m.Check(r.CoachingMessage)...)
	}
	return all
}

func action(r classify.Result) evaluate.Action {
	if r.Type == classify.Status && r.Confidence >= classify.DefaultThreshold {
		return evaluate.Continue
	}
	return evaluate.Deliver
}

// wantedAction is what a label asks for, by default what its type calls for.
func wantedAction(w evaluate.Want) evaluate.Action {
	if w.Action == "" && w.Type == classify.Status {
		return evaluate.Continue
	}
	return cmp.Or(w.Action, evaluate.Deliver)
}

// label names a type, and of a status which of the two.
func label(t classify.OutputType, rejected bool) string {
	switch {
	case rejected:
		return string(t) + " (rejected completion)"
	case t == classify.Status:
		return string(t) + " (progress)"
	}
	return string(t)
}

// describe sets a wrong verdict against what was wanted, with what led to it.
func describe(c evaluate.Case, r classify.Result, wrong []string) string {
	var b strings.Builder
	for _, w := range wrong {
		b.WriteString(w + "\n")
	}
	row := func(name, want, got string) { fmt.Fprintf(&b, "  %-11s %-30s %s\n", name, want, got) }
	row("", "want", "got")
	row("type", label(c.Want.Type, c.Want.WasRejectedCompletion), label(r.Type, r.WasRejectedCompletion))
	row("action", string(wantedAction(c.Want)), string(action(r)))
	row("confidence", fmt.Sprintf("(continues from %.2f)", classify.DefaultThreshold), fmt.Sprintf("%.2f", r.Confidence))
	fact := func(name, text string) {
		if text != "" && text != `""` {
			fmt.Fprintf(&b, "  %-11s %s\n", name, text)
		}
	}
	fact("source", r.Source)
	fact("fallback", plaintext.Line(r.Fallback, 100))
	fact("reason", plaintext.Line(r.Reason, 100))
	fact("message", quote(r.CoachingMessage, 300))
	fact("request", quote(c.Input.Request, 200))
	fact("text", quote(c.Input.Text, 200))
	for i, s := range strongest(r.Signals, c.Input.Text) {
		name := ""
		if i == 0 {
			name = "signals"
		}
		words := quote(c.Input.Text[s.Start:s.End], 60)
		fact(name, strings.TrimSuffix(fmt.Sprintf("%-9s %5.2f %s %s", s.Kind, s.Weight, words, s.Name), " "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// within reports whether a signal is a part of the text.
func within(s classify.Signal, text string) bool {
	return s.Start >= 0 && s.Start < s.End && s.End <= len(text)
}

// strongest returns the ten signals that count most, in the order of the text.
func strongest(all []classify.Signal, text string) []classify.Signal {
	list := slices.DeleteFunc(slices.Clone(all), func(s classify.Signal) bool { return !within(s, text) })
	slices.SortStableFunc(list, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	list = list[:min(len(list), 10)]
	slices.SortStableFunc(list, func(a, b classify.Signal) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

// quote puts at most n characters of a text on one line, in quotes.
func quote(text string, n int) string { return strconv.Quote(plaintext.Line(text, n)) }
