package plancriteria_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

// plans are documents and what comes of them; they seed the fuzz target, too.
var plans = []struct {
	name, plan string
	text       string // the section, verbatim
	err        error
}{
	{name: "plain", plan: "# Plan\n\n## Success Criteria\n\n- [ ] a\n\n## Risks\n\nr\n", text: "\n- [ ] a\n\n"},
	{name: "last section", plan: "## Success Criteria\n\n- a", text: "\n- a"},
	{name: "prose", plan: "## Success Criteria\nIt works.\n", text: "It works.\n"},
	{name: "level 1", plan: "# Success Criteria\na\n## Sub\nb\n# Next\n", text: "a\n## Sub\nb\n"},
	{name: "level 6", plan: "###### Success Criteria\na\n##### Next\n", text: "a\n"},
	{name: "ends at an indented heading", plan: "## Success Criteria\na\n   ## Next\n", text: "a\n"},
	{name: "ends at a higher level", plan: "### Success Criteria\na\n# Next\n", text: "a\n"},
	{name: "ends at an empty heading", plan: "## Success Criteria\na\n##\nb\n", text: "a\n"},
	{name: "ends at an underlined heading", plan: "## Success Criteria\na\n\nNext\nstep\n---\nb\n", text: "a\n\n"},
	{name: "deeper headings belong to it", plan: "## Success Criteria\n### Must\na\n#### x\n### Should\nb\n## Next\n",
		text: "### Must\na\n#### x\n### Should\nb\n"},
	{name: "headings inside others do not end it",
		plan: "## Success Criteria\n> # q\n\n- # i\n\n```\n# f\n```\n<!--\n# c\n-->\na\n## Next",
		text: "> # q\n\n- # i\n\n```\n# f\n```\n<!--\n# c\n-->\na\n"},
	{name: "closing hashes", plan: "## Success Criteria ##\na\n", text: "a\n"},
	{name: "many closing hashes", plan: "## Success Criteria ######## \t\na\n", text: "a\n"},
	{name: "underlined with =", plan: "Success Criteria\n=====\na\n", text: "a\n"},
	{name: "underlined with -", plan: "Success Criteria\n-\na\n\n# Next\n", text: "a\n\n"},
	{name: "underlined over two lines", plan: "Success\nCriteria\n---  \na\n", text: "a\n"},
	{name: "underlined after a hash", plan: "#.\n\nSuccess Criteria\n---\n---\na\n", text: "---\na\n"},
	{name: "rule after the heading", plan: "## Success Criteria\n---\na\n", text: "---\na\n"},
	{name: "indented heading", plan: "   ## Success Criteria\na\n", text: "a\n"},
	{name: "tabs in the heading", plan: "##\tSuccess\tCriteria\t##\na\n", text: "a\n"},
	{name: "interrupts a paragraph", plan: "text\n## Success Criteria\na\n", text: "a\n"},
	{name: "after details", plan: "<details>\n\n## Success Criteria\na\n\n</details>\n", text: "a\n\n</details>\n"},

	{name: "front matter", plan: "---\ntitle: x\n---\n## Success Criteria\na\n", text: "a\n"},
	{name: "front matter ends with dots", plan: "--- \ntitle: x\n... \n## Success Criteria\na\n", text: "a\n"},
	{name: "front matter is not the plan",
		plan: "---\nnote: |\n  x\n# Success Criteria\n- no\n---\n## Success Criteria\na\n", text: "a\n"},
	{name: "front matter alone", plan: "---\n# Success Criteria\n- no\n---\n", err: plancriteria.ErrNoSection},
	{name: "front matter without end", plan: "---\ntitle: x\n\n## Success Criteria\na\n", text: "a\n"},
	{name: "front matter only at the start", plan: "\n---\n## Success Criteria\na\n\n---\n", text: "a\n\n---\n"},
	{name: "opened by a rule", plan: "---\n\n## Success Criteria\n\na\n\n---\n", text: "\na\n\n---\n"},
	{name: "empty front matter", plan: "---\n---\n## Success Criteria\na\n", text: "a\n"},
	{name: "four dashes are no front matter", plan: "----\n## Success Criteria\na\n\n----\n", text: "a\n\n----\n"},

	{name: "form feed before", plan: "a\n\n\f\n\n## Success Criteria\na\n", text: "a\n"},
	{name: "odd white space before", plan: "\v\n\n \f\n\u00a0\n\n\u2028\n\n\x00\n## Success Criteria\na\n", text: "a\n"},

	{name: "acceptance criteria serve", plan: "# Acceptance Criteria\na\n", text: "a\n"},
	{name: "definition of done serves", plan: "# definition of DONE\na\n", text: "a\n"},
	{name: "success comes first", plan: "# Acceptance Criteria\nb\n# Definition of Done\nc\n# Success Criteria\na\n",
		text: "a\n"},
	{name: "acceptance before done", plan: "# Definition of Done\nc\n# Acceptance Criteria\na\n", text: "a\n"},
	{name: "two that do not serve", plan: "# Acceptance Criteria\nb\n# Success Criteria\na\n# Acceptance Criteria\nb\n",
		text: "a\n"},
	{name: "empty success is no reason for another", plan: "# Success Criteria\n# Acceptance Criteria\na\n",
		err: plancriteria.ErrEmpty},

	{name: "two", plan: "# Success Criteria\na\n# Success Criteria\nb\n", err: plancriteria.ErrAmbiguous},
	{name: "two, one within", plan: "# Success Criteria\na\n## success criteria:\nb\n", err: plancriteria.ErrAmbiguous},
	{name: "two, one empty", plan: "# Success Criteria\n# Success Criteria\nb\n", err: plancriteria.ErrAmbiguous},
	{name: "two that would serve", plan: "# Acceptance Criteria\na\n# Acceptance Criteria\nb\n# Definition of Done\nc\n",
		err: plancriteria.ErrAmbiguous},

	{name: "no text", plan: "", err: plancriteria.ErrNoSection},
	{name: "byte order mark alone", plan: "\ufeff", err: plancriteria.ErrNoSection},
	{name: "no such heading", plan: "# Plan\n\n## Risks\n\nSuccess Criteria\n", err: plancriteria.ErrNoSection},
	{name: "in a fence", plan: "```\n## Success Criteria\n- a\n```\n", err: plancriteria.ErrNoSection},
	{name: "in an unclosed fence", plan: "~~~\n## Success Criteria\n- a\n", err: plancriteria.ErrNoSection},
	{name: "in a comment", plan: "<!--\n\n## Success Criteria\n- a\n-->\n", err: plancriteria.ErrNoSection},
	{name: "in an unclosed comment", plan: "<!--\n\n## Success Criteria\n- a\n", err: plancriteria.ErrNoSection},
	{name: "in a quote", plan: "> ## Success Criteria\n> - a\n", err: plancriteria.ErrNoSection},
	{name: "in a list item", plan: "- ## Success Criteria\n  - a\n", err: plancriteria.ErrNoSection},
	{name: "underlined in a list item", plan: "1. Success Criteria\n   ---\n   a\n", err: plancriteria.ErrNoSection},
	{name: "indented code", plan: "    ## Success Criteria\n    - a\n", err: plancriteria.ErrNoSection},
	{name: "no space", plan: "##Success Criteria\n- a\n", err: plancriteria.ErrNoSection},
	{name: "seven hashes", plan: "####### Success Criteria\n- a\n", err: plancriteria.ErrNoSection},
	{name: "escaped", plan: "\\## Success Criteria\n- a\n", err: plancriteria.ErrNoSection},
	{name: "bold", plan: "**Success Criteria**\n\n- a\n", err: plancriteria.ErrNoSection},
	{name: "cell", plan: "| Success Criteria |\n|---|\n| a |\n", err: plancriteria.ErrNoSection},

	{name: "nothing below", plan: "## Success Criteria", err: plancriteria.ErrEmpty},
	{name: "white space below", plan: "## Success Criteria\n \n\t\n\u00a0\n\n## Next\na", err: plancriteria.ErrEmpty},
	{name: "comment below", plan: "## Success Criteria\n<!-- fill in\n\n- a\n-->\n<!----> <!-- b -->\n",
		err: plancriteria.ErrEmpty},
	{name: "unclosed comment below", plan: "## Success Criteria\n<!-- fill in\n- a\n", err: plancriteria.ErrEmpty},
	{name: "rules below", plan: "## Success Criteria\n\n---\n\n* * *\n", err: plancriteria.ErrEmpty},
	{name: "sub-headings below", plan: "## Success Criteria\n### Must\n### Should\n## Next\na\n",
		err: plancriteria.ErrEmpty},
	{name: "template below", plan: "## Success Criteria\n- [ ]\n- [ ] \n-\n- [ ] <!-- what? -->x\n",
		text: "- [ ]\n- [ ] \n-\n- [ ] <!-- what? -->x\n"},
	{name: "bare template below", plan: "## Success Criteria\n\n- [ ]\n-\n  - [x]\n- <!-- a -->\n\n> \n\n```\n\n```\n",
		err: plancriteria.ErrEmpty},
	{name: "code below", plan: "## Success Criteria\n```\ngo test ./...\n```\n", text: "```\ngo test ./...\n```\n"},
	{name: "quote below", plan: "## Success Criteria\n> a\n", text: "> a\n"},
	{name: "HTML below", plan: "## Success Criteria\n<ul><li>a</ul>\n", text: "<ul><li>a</ul>\n"},
	{name: "text after a comment", plan: "## Success Criteria\n<!-- a --> b\n", text: "<!-- a --> b\n"},
	{name: "heading in an item", plan: "## Success Criteria\n- # a\n", text: "- # a\n"},

	{name: "not UTF-8", plan: "## Success Criteria\n- a\xff\n", err: plancriteria.ErrUnusable},
	{name: "UTF-16", plan: "\xff\xfe#\x00 \x00", err: plancriteria.ErrUnusable},
	{name: "half a character", plan: "## Success Criteria\n- a\xe2\x82", err: plancriteria.ErrUnusable},
}

func TestExtract(t *testing.T) {
	for _, tt := range plans {
		for variant, change := range map[string]*strings.Replacer{
			"as it is": strings.NewReplacer(),
			"CRLF":     strings.NewReplacer("\n", "\r\n"),
			"CR":       strings.NewReplacer("\n", "\r"),
		} {
			for _, mark := range []string{"", "\ufeff"} {
				t.Run(tt.name+"/"+variant+mark, func(t *testing.T) {
					plan := []byte(mark + change.Replace(tt.plan))
					before := bytes.Clone(plan)
					got, err := plancriteria.Extract(plan)
					require.Equal(t, before, plan, "the plan is not changed")
					if tt.err != nil {
						require.ErrorIs(t, err, tt.err)
						require.Zero(t, got)
						return
					}
					require.NoError(t, err)
					require.Equal(t, change.Replace(tt.text), got.Text)
				})
			}
		}
	}
}

func TestExtractHeading(t *testing.T) {
	tests := []struct {
		line, heading string
		level         int // 0: not the section's
	}{
		{"# Success Criteria", "Success Criteria", 1},
		{"#### success criteria", "success criteria", 4},
		{"## SUCCESS   CRITERIA", "SUCCESS CRITERIA", 2},
		{"## Success\u00a0Criteria", "Success Criteria", 2},
		{"## Success&nbsp;Criteria", "Success Criteria", 2},
		{"## Success Criteria:", "Success Criteria:", 2},
		{"## **Success Criteria**", "Success Criteria", 2},
		{"## **Success Criteria:**", "Success Criteria:", 2},
		{"## __Success__ *Criteria*:", "Success Criteria:", 2},
		{"## `Success Criteria`", "Success Criteria", 2},
		{"## [Success Criteria](#success)", "Success Criteria", 2},
		{"## [Success Criteria][sc]", "[Success Criteria][sc]", 0},
		{`## <a name="sc"></a>Success Criteria`, "Success Criteria", 2},
		{"## Success Criteria <!-- required -->", "Success Criteria", 2},
		{"## ![](ok.png) Success Criteria", "Success Criteria", 2},
		{"## Success Criteria {#success .wide}", "Success Criteria {#success .wide}", 2},
		{"## 3. Success Criteria", "3. Success Criteria", 2},
		{`## 3\. Success Criteria`, "3. Success Criteria", 2},
		{"## 3) Success criteria", "3) Success criteria", 2},
		{"## (3) Success criteria", "(3) Success criteria", 2},
		{"## 3 Success Criteria", "3 Success Criteria", 2},
		{"## 2.1.4 Success Criteria", "2.1.4 Success Criteria", 2},
		{"## 2.1: Success Criteria", "2.1: Success Criteria", 2},
		{"## 2 – Success Criteria", "2 – Success Criteria", 2},
		{"## § 3 Success Criteria", "§ 3 Success Criteria", 2},
		{"## IV. Success Criteria", "IV. Success Criteria", 2},
		{"## b) Success Criteria", "b) Success Criteria", 2},
		{"## ✅ Success Criteria", "✅ Success Criteria", 2},
		{"## ✔️ Success Criteria 🎯", "✔️ Success Criteria 🎯", 2},
		{"## 👩🏽‍🚀 5. Success Criteria", "👩🏽‍🚀 5. Success Criteria", 2},
		{"## 3️⃣ Success Criteria", "3️⃣ Success Criteria", 2},
		{"## :dart: Success Criteria", ":dart: Success Criteria", 2},

		{"## Success Criterion", "", 0},
		{"## SuccessCriteria", "", 0},
		{"## Success-Criteria", "", 0},
		{"## Success Criteria for later", "", 0},
		{"## Success Criteria (later)", "", 0},
		{"## Success Criteria?", "", 0},
		{"## Non-Success Criteria", "", 0},
		{"## No Success Criteria", "", 0},
		{"## 3rd Success Criteria", "", 0},
		{"## Phase 3: Success Criteria", "", 0},
		{"## ~~Success Criteria~~", "", 0},
		{"## Criteria", "", 0},
		{"## ![Success Criteria](a.png)", "", 0},
		{"## <!-- Success Criteria -->", "", 0},
		{"## Success Criteria" + strings.Repeat(" x", 300), "", 0},
	}
	for _, tt := range tests {
		got, err := plancriteria.Extract([]byte(tt.line + "\n- a\n"))
		if tt.level == 0 {
			assert.ErrorIs(t, err, plancriteria.ErrNoSection, tt.line)
			continue
		}
		if assert.NoError(t, err, tt.line) {
			assert.Equal(t, tt.heading, got.Heading)
			assert.Equal(t, "- a\n", got.Text, tt.line)
		}
	}
}

func TestExtractLimits(t *testing.T) {
	const head = "# Success Criteria\n"
	fill := func(size int) []byte {
		return []byte(head + strings.Repeat("x", size-len(head)))
	}
	got, err := plancriteria.Extract(fill(plancriteria.MaxSize))
	require.NoError(t, err)
	require.Len(t, got.Text, plancriteria.MaxSize-len(head))

	_, err = plancriteria.Extract(fill(plancriteria.MaxSize + 1))
	require.ErrorIs(t, err, plancriteria.ErrUnusable)
	_, err = plancriteria.Extract(bytes.Repeat([]byte{0xff}, 10<<20))
	require.ErrorIs(t, err, plancriteria.ErrUnusable)
}

// TestExtractHostile ends soon only if no plan takes much longer than others of its size.
func TestExtractHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	fill := func(s string) string { return strings.Repeat(s, plancriteria.MaxSize/16/len(s)) }
	staircase := func(n int, step string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.Repeat(step, i) + "- a\n")
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		plan string
		err  error
	}{
		"deep quotes":            {fill(">"), plancriteria.ErrUnusable},
		"deep lists":             {fill("- "), plancriteria.ErrUnusable},
		"deep numbers":           {fill("1. "), plancriteria.ErrUnusable},
		"deep mixture":           {fill("1) > * "), plancriteria.ErrUnusable},
		"deep on every line":     {fill(strings.Repeat("- ", 400) + "a\n\nb\n"), plancriteria.ErrUnusable},
		"staircase":              {staircase(600, "  "), plancriteria.ErrUnusable},
		"staircase of tabs":      {staircase(300, "\t"), plancriteria.ErrUnusable},
		"blank lines in depth":   {staircase(200, "  ") + strings.Repeat("\n", 100_000), plancriteria.ErrUnusable},
		"blank after lazy lines": {staircase(200, "  ") + "b\n" + strings.Repeat("\n", 100_000), plancriteria.ErrUnusable},
		"quoted blank lines": {"> " + strings.ReplaceAll(staircase(200, "  "), "\n", "\n> ") + strings.Repeat("\n>",
			100_000), plancriteria.ErrUnusable},
		"low staircase":         {"# Success Criteria\n" + staircase(200, "  "), nil},
		"blank lines":           {"# Success Criteria\n- a" + strings.Repeat("\n", 250_000), nil},
		"headings":              {fill("#\n"), plancriteria.ErrNoSection},
		"underlines":            {fill("a\n-\n"), plancriteria.ErrNoSection},
		"markup in headings":    {fill("# " + strings.Repeat("*[`_", 100) + "\n"), plancriteria.ErrNoSection},
		"one long heading":      {"# " + strings.Repeat("[a](", 50_000), plancriteria.ErrNoSection},
		"comments":              {"# Success Criteria\n" + strings.Repeat("- <!-- \n", 100_000), plancriteria.ErrEmpty},
		"unclosed front matter": {"---\n" + strings.Repeat("a\n", 100_000), plancriteria.ErrNoSection},
		"link definitions":      {"# Success Criteria\n" + strings.Repeat("[a]: b\n", 100_000), nil},
	} {
		_, err := plancriteria.Extract([]byte(tt.plan))
		assert.ErrorIs(t, err, tt.err, name)
	}

	got, err := plancriteria.Extract([]byte("# Success Criteria\n" + strings.Repeat("- [ ] a\n", 50_000)))
	require.NoError(t, err)
	require.Len(t, got.Items, 50_000)
}

func ExampleExtract() {
	plan := `---
title: Login
---
# Login

## Success Criteria

- [x] the form posts to /login
- [ ] **tests** cover
  - [ ] a wrong password
  - [ ] a locked account

## Risks
`
	c, err := plancriteria.Extract([]byte(plan))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %d bytes\n", c.Heading, len(c.Text))
	for _, it := range c.Items {
		fmt.Printf("%s%s %t\n", strings.Repeat("  ", it.Depth), it.Text, it.Checked)
	}
	// Output:
	// Success Criteria, 105 bytes
	// the form posts to /login true
	// **tests** cover false
	//   a wrong password false
	//   a locked account false
}

func ExampleCriteria_Open() {
	c, err := plancriteria.Extract([]byte("# Success Criteria\n- [x] it builds\n- [ ] it runs\n- it is documented\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range c.Open() {
		fmt.Println(it.Text)
	}
	// Output:
	// it runs
	// it is documented
}
