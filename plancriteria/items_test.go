package plancriteria_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

func TestItems(t *testing.T) {
	type item = plancriteria.Item
	tests := []struct {
		name, section string
		want          []item // Start and End are checked against spans
		spans         []string
	}{
		{"prose", "It works.\n", nil, nil},
		{
			"checkboxes", "- [ ] a\n- [x] b\n- [X] c\n- d\n",
			[]item{{Text: "a", Checkbox: true}, {Text: "b", Checkbox: true, Checked: true}, {Text: "c", Checkbox: true, Checked: true}, {Text: "d"}},
			[]string{"- [ ] a", "- [x] b", "- [X] c", "- d"},
		},
		{
			"no checkboxes", "- [x](u) a\n- [x]b\n- [-] c\n- \\[x] d\n- [] e\n- a [x] f\n- [x]: g\n",
			[]item{{Text: "[x](u) a"}, {Text: "[x]b"}, {Text: "[-] c"}, {Text: "\\[x] d"}, {Text: "[] e"}, {Text: "a [x] f"}, {Text: "[x]: g"}},
			nil,
		},
		{
			"markers", "* a\n\n+ b\n\n7. c\n8. [x] d\n\n1) e\n",
			[]item{{Text: "a"}, {Text: "b"}, {Text: "c"}, {Text: "d", Checkbox: true, Checked: true}, {Text: "e"}},
			[]string{"* a", "+ b", "7. c", "8. [x] d", "1) e"},
		},
		{
			"nesting", "- a\n  1. b\n     - [ ] c\n  2. d\n- e\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}, {Text: "c", Checkbox: true, Depth: 2}, {Text: "d", Depth: 1}, {Text: "e"}},
			[]string{"- a", "1. b", "- [ ] c", "2. d", "- e"},
		},
		{
			"nesting on one line", "- 1. - a\n", []item{{Text: "a", Depth: 2}}, []string{"- a"},
		},
		{
			"nesting by tabs", "-\ta\n\t-\tb\n\t\t-\tc\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}, {Text: "c", Depth: 2}},
			[]string{"-\ta", "-\tb", "-\tc"},
		},
		{
			"several lines", "- [ ] a\n  **b**\nc  \n  d\n  - e\n",
			[]item{{Text: "a **b** c d", Checkbox: true}, {Text: "e", Depth: 1}},
			[]string{"- [ ] a\n  **b**\nc  \n  d", "- e"},
		},
		{
			"several paragraphs", "- a\n\n  b\n\n  - c\n\n  d\n",
			[]item{{Text: "a b"}, {Text: "c", Depth: 1}},
			[]string{"- a\n\n  b", "- c"},
		},
		{
			"text below its marker", "-\n  a\n1.\n   [x] b\n",
			[]item{{Text: "a"}, {Text: "b", Checkbox: true, Checked: true}},
			[]string{"-\n  a", "1.\n   [x] b"},
		},
		{
			"markup as written", "- `go test` passes, see [CI](https://ci/1) &amp; *\"all\"*  <!-- x -->\n",
			[]item{{Text: "`go test` passes, see [CI](https://ci/1) &amp; *\"all\"*"}}, nil,
		},
		{
			"comment in front", "- <!-- id:1 --> a\n- <!-- id:2\n  -->\n  [x] b\n- `<!-- c -->`\n- <!-- d\n  --> e\n- <!--> f\n",
			[]item{{Text: "a"}, {Text: "b", Checkbox: true, Checked: true}, {Text: "`<!-- c -->`"}, {Text: "e"}, {Text: "f"}},
			[]string{"- <!-- id:1 --> a", "- <!-- id:2\n  -->\n  [x] b", "- `<!-- c -->`"},
		},
		{
			"headings in items", "- ## a ##\n- b\n  ---\n  c\n",
			[]item{{Text: "a"}, {Text: "b c"}}, []string{"- ## a", "- b\n  ---\n  c"},
		},
		{
			"other blocks in items", "- a\n  ```\n  - x\n  ```\n  > - y\n\n  - b\n- ```\n  - z\n  ```\n- > - q\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}}, []string{"- a", "- b"},
		},
		{
			"no lists of the plan", "> - a\n\n```\n- b\n```\n\n    - c\n\n<!--\n- d\n-->\n<div>\n- e\n</div>\n\n- f\n",
			[]item{{Text: "f"}}, []string{"- f"},
		},
		{
			"without words", "-\n- [ ]\n- [x] \n- <!-- a -->\n-\n  - [ ] b\n",
			[]item{{Text: "b", Checkbox: true, Depth: 1}}, []string{"- [ ] b"},
		},
		{
			"under sub-headings", "### Must\n- a\n  - b\n### Should\n- c\n",
			[]item{{Text: "a"}, {Text: "b", Depth: 1}, {Text: "c"}}, nil,
		},
		{
			"beyond ASCII", "- [ ] größer — 日本語\n  - é\n",
			[]item{{Text: "größer — 日本語", Checkbox: true}, {Text: "é", Depth: 1}},
			[]string{"- [ ] größer — 日本語", "- é"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan := "\ufeff# Plan\n- no\n## Success Criteria\n" + tt.section + "## Next\n- no\n"
			got, err := plancriteria.Extract([]byte(plan))
			require.NoError(t, err)
			require.Equal(t, tt.section, got.Text)
			require.Empty(t, cmp.Diff(tt.want, got.Items, cmpopts.IgnoreFields(plancriteria.Item{}, "Start", "End")))
			for i, span := range tt.spans {
				require.Equal(t, span, plan[got.Items[i].Start:got.Items[i].End])
			}
		})
	}
}

func TestOpen(t *testing.T) {
	require.Empty(t, plancriteria.Criteria{}.Open())
	c := plancriteria.Criteria{Items: []plancriteria.Item{{Text: "a", Checkbox: true, Checked: true}, {Text: "b", Checkbox: true}, {Text: "c"}}}
	require.Equal(t, c.Items[1:], c.Open())
	c.Open()[0].Text = "changed"
	require.Equal(t, "b", c.Items[1].Text, "the items are not shared")
}
