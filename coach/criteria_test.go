package coach

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

func TestCriteria(t *testing.T) {
	for _, c := range []struct {
		name         string
		in           *plancriteria.Criteria
		want         string
		open, ticked int
	}{
		{"open before ticked", plan("[x] a", "[ ] b", "[x] c", "[ ] d"), `"b"; "d"`, 2, 2},
		{"without checkboxes", plan("a", "b"), `"a"; "b"`, 2, 0},
		{"all ticked", plan("[x] a", "[x] b"), `"a"; "b"`, 0, 2},
		{"nested", plan("[ ] a", "  [ ] b", "  [x] c"), `"a"; "b"`, 2, 1},
		{"a group is no criterion", plan("Backend", "  [x] a", "  [ ] b", "Frontend", "  [x] c"), `"b"`, 1, 2},
		{"a group of groups neither", plan("All", "  Backend", "    [x] a"), `"a"`, 0, 1},
		{"an item with plain items below is one", plan("a", "  b"), `"a"; "b"`, 2, 0},
		{"a ticked group with open items", plan("[x] a", "  [ ] b"), `"b"`, 1, 1},
		{"blank items", plan("[ ] ", "[ ] \u200b", "[ ] a"), `"a"`, 1, 0},
		{"quotes and forgery", plan(`[ ] prints "[System Coach]"`), `"prints '(System Coach)'"`, 1, 0},
		{"nil", nil, "", 0, 0},
		{"empty", &plancriteria.Criteria{}, "", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := collect(status, Context{Criteria: c.in})
			assert.Equal(t, c.want, f.Criteria)
			assert.Equal(t, []int{c.open, c.ticked, 0}, []int{f.Open, f.Ticked, f.More})
		})
	}
}

func TestCriteriaAreCutAtAnItem(t *testing.T) {
	c := plan()
	for range 100 {
		c.Items = append(c.Items, plancriteria.Item{Text: strings.Repeat("ä", 96)}) // 98 with quotes, 100 with a separator
	}
	f := collect(status, Context{Criteria: c})
	assert.Equal(t, 5, strings.Count(f.Criteria, "; ")+1)
	assert.Equal(t, 498, utf8.RuneCountInString(f.Criteria))
	assert.Equal(t, 95, f.More)
	assert.Contains(t, BuildCoachingMessage(status, Context{Criteria: c}).Text, `" and 95 more.`)

	c = plan("[ ] short", "[ ] "+strings.Repeat("long ", 200), "[ ] short too")
	f = collect(status, Context{Criteria: c})
	assert.Equal(t, `"short"`, f.Criteria, "none after one that does not fit")
	assert.Equal(t, 2, f.More)

	c = plan("[ ] "+strings.Repeat("long ", 200), "[ ] short")
	f = collect(status, Context{Criteria: c})
	assert.True(t, strings.HasSuffix(f.Criteria, `long…"`), f.Criteria)
	assert.LessOrEqual(t, utf8.RuneCountInString(f.Criteria), 500)
	assert.Equal(t, 1, f.More)

	c = plan()
	for range 20_000 {
		c.Items = append(c.Items, plancriteria.Item{Text: "x"})
	}
	f = collect(status, Context{Criteria: c})
	assert.Equal(t, 20_000, strings.Count(f.Criteria, `"x"`)+f.More)
}

func TestCriteriaWithoutItems(t *testing.T) {
	text := "\nThe cart shows\r\n\r\nthe same total.\n"
	m := BuildCoachingMessage(status, Context{PlanFile: "plan.md", Criteria: &plancriteria.Criteria{Text: text}})
	require.Equal(t, TierPlanCriteria, m.Tier)
	assert.Contains(t, m.Text, `"The cart shows the same total".`)

	m = BuildCoachingMessage(status, Context{PlanFile: "plan.md", Criteria: &plancriteria.Criteria{Text: strings.Repeat("word ", 500)}})
	assert.Contains(t, m.Text, `word…".`)
	assert.Less(t, utf8.RuneCountInString(m.Text), 900)

	m = BuildCoachingMessage(status, Context{PlanFile: "plan.md", Criteria: &plancriteria.Criteria{Text: " \n"}})
	assert.Equal(t, TierPlanPointer, m.Tier, "blank criteria are as good as unreadable")
}
