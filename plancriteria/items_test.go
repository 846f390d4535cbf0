package plancriteria_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

func TestItems(t *testing.T) {
	type item = plancriteria.Item
	tests := []struct {
		name, section string
		want          []item
	}{
		{"prose", "It works.\n", nil},
		{
			"checkboxes", "- [ ] a\n- [x] b\n- [X] c\n- d\n",
			[]item{{Text: "a", Checkbox: true}, {Text: "b", Checkbox: true, Checked: true}, {Text: "c", Checkbox: true,
				Checked: true}, {Text: "d"}},
		},
		{
			"no checkboxes", "- [x](u) a\n- [x]b\n- [-] c\n- \\[x] d\n- [] e\n- a [x] f\n- [x]: g\n",
			[]item{{Text: "[x](u) a"}, {Text: "[x]b"}, {Text: "[-] c"}, {Text: "\\[x] d"}, {Text: "[] e"}, {Text: "a [x] f"},
				{Text: "[x]: g"}},
		},
		{
			"markers", "* a\n\n+ b\n\n7. c\n8. [x] d\n\n1) e\n",
			[]item{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d", Checkbox: true, Checked: true}, {Text: "e"}},
		},
		{
			"nesting", "- a\n  1. b\n     - [ ] c\n  2. d\n- e\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}, {Text: "c", Checkbox: true, Depth: 2}, {Text: "d", Depth: 1},
				{Text: "e"}},
		},
		{
			"nesting on one line", "- 1. - a\n", []item{{Text: "a", Depth: 2}},
		},
		{
			"nesting by tabs", "-\ta\n\t-\tb\n\t\t-\tc\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}, {Text: "c", Depth: 2}},
		},
		{
			"several lines", "- [ ] a\n  **b**\nc  \n  d\n  - e\n",
			[]item{{Text: "a **b** c d", Checkbox: true}, {Text: "e", Depth: 1}},
		},
		{
			"several paragraphs", "- a\n\n  b\n\n  - c\n\n  d\n",
			[]item{{Text: "a b"}, {Text: "c", Depth: 1}},
		},
		{
			"text below its marker", "-\n  a\n1.\n   [x] b\n",
			[]item{{Text: "a"}, {Text: "b", Checkbox: true, Checked: true}},
		},
		{
			"markup as written", "- `go test` passes, see [CI](https://ci/1) &amp; *\"all\"*  <!-- x -->\n",
			[]item{{Text: "`go test` passes, see [CI](https://ci/1) &amp; *\"all\"*"}},
		},
		{
			"comment in front", "- <!-- id:1 --> a\n- <!-- id:2\n  -->\n  [x] b\n- `<!-- c -->`\n- <!-- d\n  --> e\n- <!--> f\n",
			[]item{{Text: "a"}, {Text: "b", Checkbox: true, Checked: true}, {Text: "`<!-- c -->`"}, {Text: "e"}, {Text: "f"}},
		},
		{
			"headings in items", "- ## a ##\n- b\n  ---\n  c\n",
			[]item{{Text: "a"}, {Text: "b c"}},
		},
		{
			"other blocks in items", "- a\n  ```\n  - x\n  ```\n  > - y\n\n  - b\n- ```\n  - z\n  ```\n- > - q\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}},
		},
		{
			"no lists of the plan", "> - a\n\n```\n- b\n```\n\n    - c\n\n<!--\n- d\n-->\n<div>\n- e\n</div>\n\n- f\n",
			[]item{{Text: "f"}},
		},
		{
			"without words", "-\n- [ ]\n- [x] \n- <!-- a -->\n-\n  - [ ] b\n",
			[]item{{Text: "b", Checkbox: true, Depth: 1}},
		},
		{
			"under sub-headings", "### Must\n- a\n  - b\n### Should\n- c\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}, {Text: "c"}},
		},
		{
			"beyond ASCII", "- [ ] größer — 日本語\n  - é\n",
			[]item{{Text: "größer — 日本語", Checkbox: true}, {Text: "é", Depth: 1}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := "\ufeff# Plan\n- no\n## Success Criteria\n" + tt.section + "## Next\n- no\n"
			got, err := plancriteria.Extract([]byte(plan))
			require.NoError(t, err)
			require.Equal(t, tt.section, got.Text)
			require.Empty(t, cmp.Diff(tt.want, got.Items))
		})
	}
}

func TestLeavesAndOpen(t *testing.T) {
	for section, want := range map[string]string{
		"- [ ] a\n- b\n": "a b",
		"- Backend\n  - [x] a\n  - [ ] b\n- [ ] c\n": "a b c",
		"- All\n  - Backend\n    - [x] a\n":          "a",
		"- a\n  - b\n":                               "a b",
		"- [x] a\n  - [ ] b\n":                       "a b",
	} {
		c, err := plancriteria.Extract([]byte("# Success Criteria\n" + section))
		require.NoError(t, err)
		var got []string
		for _, it := range c.Leaves() {
			got = append(got, it.Text)
		}
		require.Equal(t, want, strings.Join(got, " "))
	}
	require.Empty(t, plancriteria.Criteria{}.Open())
	c := plancriteria.Criteria{Items: []plancriteria.Item{{Text: "a", Checkbox: true, Checked: true}, {Text: "b",
		Checkbox: true}, {Text: "c"}}}
	require.Equal(t, c.Items[1:], c.Open())
	c.Open()[0].Text = "changed"
	require.Equal(t, "b", c.Items[1].Text, "the items are not shared")
}
