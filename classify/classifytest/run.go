package classifytest

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// Option changes what [Run] expects.
type Option func(*options)

type options struct {
	threshold float64
}

// Threshold is the confidence at or above which a status is continued, instead of [classify.DefaultThreshold].
// [evaluate.NoGate] continues every status.
func Threshold(confidence float64) Option { return func(o *options) { o.threshold = confidence } }

// Run judges every case in a subtest of its name, one after another, and fails it with what differs: the type, whether it is
// a rejected completion, the action that follows at the threshold, what the case asks of the coaching message, and what the
// contract of [classify.Classifier] asks of any result. A request that [Cassettes] had no answer for fails its case whatever
// the classifier makes of it, also where a fallback answered.
//
// Cases come from [evaluate.LoadCases]. A list without cases fails t.
func Run(t *testing.T, c classify.Classifier, cases []evaluate.Case, opts ...Option) {
	t.Helper()
	o := options{threshold: classify.DefaultThreshold}
	for _, set := range opts {
		set(&o)
	}
	if len(cases) == 0 {
		t.Fatal("classifytest: there are no cases to run")
	}
	missed := false // some case before had no cassette
	for i, cs := range cases {
		t.Run(subtest(cs.Name, i), func(t *testing.T) {
			if !cs.Want.Type.Valid() {
				t.Fatalf("classifytest: case %q wants no type, or one that does not exist: %.20q", cs.Name, string(cs.Want.Type))
			}
			sc := &scope{name: cs.Name}
			in := cs.Input
			in.Criteria, in.Evidence = slices.Clone(in.Criteria), slices.Clone(in.Evidence)
			r, err := c.Classify(context.WithValue(t.Context(), scopeKey{}, sc), in)
			if said := sc.take(); len(said) > 0 { // there is no verdict on the prompt as it is now
				missed = true
				t.Fatal(strings.Join(said, "\n"))
			}
			wrong := o.wrong(cs, r, err)
			if !same(in.Criteria, cs.Input.Criteria) || !same(in.Evidence, cs.Input.Evidence) {
				wrong = append(wrong, "the classifier changed its input")
			}
			switch {
			case err != nil && missed:
				t.Errorf("no verdict, as requests before had no cassette, which this reports: %v", err)
			case err != nil:
				t.Error(strings.Join(wrong, "\n"))
			case len(wrong) > 0:
				t.Error(o.describe(cs, r, wrong))
			default:
				t.Logf("%s, confidence %.2f: %s", kind(r.Type, r.WasRejectedCompletion), r.Confidence, clip(oneLine(r.Reason), 0))
			}
		})
	}
}

// same reports whether two lists are alike; none is an empty one.
func same[T any](a, b []T) bool { return len(a) == 0 && len(b) == 0 || reflect.DeepEqual(a, b) }

// subtest makes a subtest's name of a case's: without slashes, which -run takes for levels.
func subtest(name string, i int) string {
	name = strings.NewReplacer("/", "-", "\\", "-").Replace(oneLine(name))
	if name == "" {
		return fmt.Sprintf("case-%d", i+1)
	}
	if r := []rune(name); len(r) > 80 {
		name = string(r[:80])
	}
	return name
}

// scope is one case of Run, on its way through the context to the transport.
type scope struct {
	name string
	mu   sync.Mutex
	said []string // what went wrong in the transport, whatever the classifier makes of it
}

type scopeKey struct{}

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
