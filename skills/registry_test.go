package skills_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/skills"
)

var (
	ship   = skills.Skill{Name: "ship", Trigger: "/ship", Phase: "release"}
	review = skills.Skill{Name: "review", Trigger: "/review", Phase: "release"}
)

func TestRegistryOrder(t *testing.T) {
	tests := []struct {
		name  string
		query skills.Query
		want  string // empty: none
	}{
		{"nothing known", skills.Query{}, ""},
		{"first in the registry, not in the text", skills.Query{Text: "/review then /ship"}, "ship"},
		{"first of the phase", skills.Query{Phase: "release"}, "ship"},
		{"a trigger beats an earlier one's phase", skills.Query{Text: "/review it", Phase: "release"}, "review"},
		{"phase when the text says nothing", skills.Query{Text: "go on", Phase: "release"}, "ship"},
		{"trigger in an unknown phase", skills.Query{Text: "/review", Phase: "party"}, "review"},
		{"unknown phase", skills.Query{Text: "go on", Phase: "party"}, ""},
		{"a trigger is no phase", skills.Query{Phase: "/ship"}, ""},
		{"a phase is no trigger", skills.Query{Text: "release"}, ""},
	}
	reg := skills.NewRegistry(ship, review)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := reg.Detect(tt.query)
			assert.Equal(t, tt.want != "", ok)
			assert.Equal(t, tt.want, got.Name)
		})
	}
}

// rule is a detector of a host.
type rule func(q skills.Query) (skills.Skill, bool)

func (r rule) Detect(q skills.Query) (skills.Skill, bool) { return r(q) }

func TestRegistryAsksTextThenPhase(t *testing.T) {
	var asked []string
	detector := func(name string) skills.Detector {
		return rule(func(q skills.Query) (skills.Skill, bool) {
			asked = append(asked, fmt.Sprintf("%s text=%s phase=%s", name, q.Text, q.Phase))
			return skills.Skill{}, false
		})
	}
	_, ok := skills.NewRegistry(detector("a"), detector("b")).Detect(skills.Query{Text: "x", Phase: "y"})
	require.False(t, ok)
	require.Equal(t, []string{"a text=x phase=", "b text=x phase=", "a text= phase=y", "b text= phase=y"}, asked)
}

func TestRegistryOfNothing(t *testing.T) {
	for _, reg := range []*skills.Registry{nil, {}, skills.NewRegistry()} {
		_, ok := reg.Detect(skills.Query{Text: "/ship", Phase: "release"})
		assert.False(t, ok)
	}
}

func TestRegistryNeverChanges(t *testing.T) {
	ds := []skills.Detector{ship, review}
	reg := skills.NewRegistry(ds...)
	ds[1] = nil

	for _, trigger := range []string{"/ship", "/review"} {
		_, ok := reg.Detect(skills.Query{Text: trigger})
		assert.True(t, ok, trigger)
	}
}

func TestRegistryIsADetector(t *testing.T) {
	inner := skills.NewRegistry(skills.Builtin()...)
	reg := skills.NewRegistry(ship, inner)
	got, ok := reg.Detect(skills.Query{Text: "/do-test", Phase: "release"})
	require.True(t, ok)
	require.Equal(t, "/do-test", got.Name)
}

func TestRegistryConcurrently(t *testing.T) {
	reg := skills.NewRegistry(skills.Builtin()...)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			got, ok := reg.Detect(skills.Query{Text: "a `b` /do-build", Phase: "plan"})
			assert.True(t, ok)
			assert.Equal(t, "build", got.Phase)
		})
	}
	wg.Wait()
}

func ExampleNewRegistry() {
	reg := skills.NewRegistry(append(skills.Builtin(),
		skills.Skill{Name: "/deploy", Trigger: "/deploy", Phase: "deploy", EvidenceHint: "the URL of the release"},
		rule(func(q skills.Query) (skills.Skill, bool) {
			return skills.Skill{Name: "hotfix", EvidenceHint: "the failing test, now passing"}, strings.HasPrefix(q.Text,
				"HOTFIX")
		}),
	)...)

	for _, request := range []string{"/deploy the login", "HOTFIX: the login loops", "what does docs/do-build say?"} {
		s, ok := reg.Detect(skills.Query{Text: request})
		fmt.Printf("%t %s %s\n", ok, s.Name, s.EvidenceHint)
	}
	// Output:
	// true /deploy the URL of the release
	// true hotfix the failing test, now passing
	// false
}

func ExampleRegistry_Detect() {
	reg := skills.NewRegistry(skills.Builtin()...)
	for _, q := range []skills.Query{
		{Phase: "build"},
		{Phase: "build", Text: "/do-test first, please"},
		{Text: "see docs/do-build"},
	} {
		s, ok := reg.Detect(q)
		fmt.Println(ok, s.Name)
	}
	// Output:
	// true /do-build
	// true /do-test
	// false
}

func ExampleSkill_Detect() {
	s := skills.Skill{Name: "/review", Trigger: "/review"}
	_, asked := s.Detect(skills.Query{Text: "Then (/review) it."})
	_, mentioned := s.Detect(skills.Query{Text: "`/review` is a skill"})
	fmt.Println(asked, mentioned)
	// Output: true false
}
