package skills_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/skills"
)

func TestBuiltin(t *testing.T) {
	want := []skills.Skill{
		{Name: "/do-plan", Trigger: "/do-plan", Phase: "plan",
			EvidenceHint: "a finalized plan doc with all required sections"},
		{Name: "/do-build", Trigger: "/do-build", Phase: "build",
			EvidenceHint: "passing tests, commit hashes, and a PR link"},
		{Name: "/do-test", Trigger: "/do-test", Phase: "test",
			EvidenceHint: "test output with pass/fail counts and coverage"},
		{Name: "/do-docs", Trigger: "/do-docs", Phase: "document",
			EvidenceHint: "created/updated doc file paths and an index entry"},
	}
	var got []skills.Skill
	for _, d := range skills.Builtin() {
		s := d.(skills.Skill)
		assert.NotEmpty(t, s.Description, s.Name)
		s.Description = ""
		got = append(got, s)
	}
	require.Empty(t, cmp.Diff(want, got))
}

func TestBuiltinIsFresh(t *testing.T) {
	ds := skills.Builtin()
	clear(ds)
	require.NotContains(t, skills.Builtin(), nil)
}

func TestBuiltinIsFoundByTriggerAndPhase(t *testing.T) {
	for _, d := range skills.Builtin() {
		want := d.(skills.Skill)
		for _, q := range []skills.Query{
			{Text: want.Trigger},
			{Text: "Please run " + want.Trigger + " on docs/plans/login.md, thanks."},
			{Phase: want.Phase},
			{Text: "hello", Phase: want.Phase},
		} {
			got, ok := skills.NewRegistry(skills.Builtin()...).Detect(q)
			require.True(t, ok, "%+v", q)
			require.Equal(t, want, got, "%+v", q)
		}
	}
}

// requests are texts and whether they ask for /do-build; they seed the fuzz target, too.
var requests = []struct {
	name, text string
	asks       bool
}{
	{"alone", "/do-build", true},
	{"first", "/do-build docs/plans/login.md", true},
	{"last", "now run /do-build", true},
	{"on a line of its own", "The plan is ready.\n\n/do-build\n\nThanks!", true},
	{"after a tab", "run\t/do-build\tnow", true},
	{"after a no-break space", "run\u00a0/do-build now", true},
	{"after a byte order mark", "\ufeff/do-build", true},
	{"between zero-width spaces", "请用\u200b/do-build\u200b吧", true},
	{"after a lone CR", "ready.\r/do-build\rthanks", true},
	{"capitalised by a phone", "/Do-build the login", true},
	{"in capitals", "/DO-BUILD", true},
	{"full stop", "Then /do-build.", true},
	{"ellipsis", "Then /do-build...", true},
	{"comma", "first /do-plan, then /do-build, then rest", true},
	{"comma without a space", "/do-build,/do-test", true},
	{"colon", "/do-build: the login", true},
	{"question", "did you /do-build?!", true},
	{"parentheses", "(run it with /do-build)", true},
	{"opened by a parenthesis", "the next step (/do-build).", true},
	{"quotes", `run "/do-build" now`, true},
	{"curly quotes", "run “/do-build” now", true},
	{"bold", "run **/do-build** now", true},
	{"full-width marks", "请注意，/do-build。", true},
	{"dashes", "one thing—/do-build—and no more", true},
	{"list item", "1. read the plan\n2. /do-build it", true},
	{"nested list", "- a\n  - /do-build", true},
	{"heading", "## /do-build", true},
	{"indented", "    /do-build the login", true},
	{"before a quote", "/do-build\n> what you said", true},
	{"after a quote", "> what you said\n/do-build", true},
	{"after a fence", "```\nlog\n```\n/do-build", true},
	{"after a tilde fence", "~~~~ sh\n```\n~~~\n~~~~~\n/do-build", true},
	{"after a fence in a list", "- ```\n  log\n  ```\n- /do-build", true},
	{"after inline code", "with `make` then /do-build", true},
	{"after a lone backtick", "the ` key, /do-build, and no more", true},
	{"between escaped backticks", "a \\` b /do-build c \\` d", true},
	{"between backticks of two paragraphs", "a `\n\n/do-build\n\n` b", true},
	{"between backticks of two items", "- a `\n- /do-build\n- ` b", true},
	{"between backticks of a paragraph and a heading", "a `\n# /do-build ` b", true},
	{"three backticks within a line are no fence", "``` make ``` is it\n/do-build", true},
	{"after a comment", "<!-- template --> /do-build", true},
	{"after an empty comment", "<!-->\n/do-build", true},
	{"second mention counts", "see docs/do-build, then /do-build", true},
	{"beside invalid UTF-8", "\xff\xfe /do-build \xc3", true},

	{"empty", "", false},
	{"other words", "just a regular message", false},
	{"longer", "/do-builder", false},
	{"hyphenated", "/do-build-all", false},
	{"underscored", "/do-build_all", false},
	{"shorter", "/do-buil", false},
	{"without its slash", "do-build", false},
	{"path before", "docs/do-build", false},
	{"path after", "/do-build/x", false},
	{"dot path", "./do-build/x", false},
	{"dot path, file", "sh ./do-build", false},
	{"parent path", "../do-build", false},
	{"home path", "~/do-build", false},
	{"path in parentheses", "(docs/do-build)", false},
	{"file", "/do-build.md", false},
	{"file, line", "/do-build:12", false},
	{"query", "/do-build?now=1", false},
	{"two slashes", "//do-build", false},
	{"URL", "https://example.com/do-build", false},
	{"URL with a parenthesis", "https://example.com/(/do-build)", false},
	{"URL with a comma", "https://example.com/a,/do-build", false},
	{"link target", "[the step](/do-build)", false},
	{"link text", "[/do-build](docs/build.md)", false},
	{"attribute", `<a href="/do-build">`, false},
	{"closing tag", "</do-build>", false},
	{"assignment", "CMD=/do-build", false},
	{"joined to a word", "and/do-build", false},
	{"beside an invalid byte", "\xff/do-build", false},
	{"fence", "```\n/do-build\n```", false},
	{"fence with a language", "```sh\n/do-build\n```\nwhat is this?", false},
	{"tilde fence", "~~~\n/do-build\n~~~", false},
	{"tilde fence with backticks beside it", "~~~ a`b\n/do-build\n~~~", false},
	{"fence in a list", "1. ```\n   /do-build\n   ```", false},
	{"indented fence", "     ```\n     /do-build\n     ```", false},
	{"unclosed fence", "look:\n```\n\n/do-build\n\n> x\n", false},
	{"fence closed by the other mark", "```\n~~~\n/do-build\n```", false},
	{"fence not closed by a shorter one", "````\n```\n/do-build\n````", false},
	{"fence not closed by an opening", "```\n```sh\n/do-build\n```", false},
	{"inline code", "what does `/do-build` do?", false},
	{"inside inline code", "what does `run /do-build now` do?", false},
	{"two backticks", "what does ``a ` /do-build`` do?", false},
	{"code over two lines", "what does `run\n/do-build now` do?", false},
	{"after code that ends in a backslash", "`a \\` b /do-build ` c `", true},
	{"code after an escaped backslash", "a \\\\`b /do-build c`", false},
	{"code spans in a row", "`a``b`/do-build`c`", false},
	{"quote", "> /do-build", false},
	{"quote without a space", ">/do-build", false},
	{"nested quote", "> > /do-build", false},
	{"quote in a list", "- > /do-build", false},
	{"indented quote", "   > /do-build", false},
	{"quoted fence does not leak", "> ```\n> /do-build\n", false},
	{"comment", "<!-- say /do-build here -->", false},
	{"comment over paragraphs", "<!--\n\n/do-build\n\n-->\nhello", false},
	{"unclosed comment", "<!--\n/do-build", false},
}

func TestSkillTrigger(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	build := skills.Skill{Name: "b", Trigger: "/do-build"}
	for _, tt := range requests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := build.Detect(skills.Query{Text: tt.text})
			assert.Equal(t, tt.asks, ok, "%q", tt.text)
			if ok {
				assert.Equal(t, build, got)
			} else {
				assert.Zero(t, got)
			}
			_, ok = build.Detect(skills.Query{Text: strings.ReplaceAll(tt.text, "\n", "\r\n")})
			assert.Equal(t, tt.asks, ok, "with CRLF: %q", tt.text)
		})
	}
}

func TestSkillOddTriggers(t *testing.T) {
	tests := []struct {
		trigger, text string
		want          bool
	}{
		{"", "", false},
		{"", "hello", false},
		{" \t", "a \t b", false},
		{" /ship ", "/ship", true},
		{"deploy", "please deploy it", true},
		{"deploy", "redeploy, deployed, re-deploy, deploy-all, deploy's", false},
		{"@coach", "@coach: go", true},
		{"$go", "a $go b", true},
		{"ship it", "ok, ship it!", true},
		{"ship it", "worship it", false},
		{"über", "ÜBER alles", true},
		{"\xff", "\xff", false},
	}
	for _, tt := range tests {
		_, ok := skills.Skill{Trigger: tt.trigger}.Detect(skills.Query{Text: tt.text})
		assert.Equal(t, tt.want, ok, "%q in %.40q", tt.trigger, tt.text)
	}
}

func TestSkillPhase(t *testing.T) {
	tests := []struct {
		phase, asked string
		want         bool
	}{
		{"build", "build", true},
		{"build", " Build\n", true},
		{" BUILD", "build", true},
		{"build", "builder", false},
		{"build", "buil", false},
		{"build", "/do-build", false},
		{"build", "", false},
		{"", "", false},
		{"  ", " ", false},
		{"build", "\xff", false},
	}
	for _, tt := range tests {
		_, ok := skills.Skill{Phase: tt.phase}.Detect(skills.Query{Phase: tt.asked})
		assert.Equal(t, tt.want, ok, "%q, asked for %q", tt.phase, tt.asked)
	}
}

// TestLargeTexts ends soon only if reading is linear.
func TestLargeTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	const size = 1 << 20
	var runs strings.Builder
	for n := 1; runs.Len() < size; n++ {
		runs.WriteString(strings.Repeat("`", n) + " ")
	}
	for name, text := range map[string]string{
		"prose":             strings.Repeat("we go on and on / and so on\n", 10<<20/28),
		"one line":          strings.Repeat("x", 10<<20),
		"near misses":       strings.Repeat("/do-buil", size/8),
		"paths":             strings.Repeat("/do-build/", size/10),
		"punctuation":       strings.Repeat("(", size),
		"backticks":         strings.Repeat("`", size),
		"code spans":        strings.Repeat("a`b``", size/5),
		"all run lengths":   runs.String(),
		"backslashes":       strings.Repeat(`\`, size) + "`",
		"escaped backticks": strings.Repeat("\\`", size/2),
		"unclosed comments": strings.Repeat("<!--", size/4),
		"comments":          strings.Repeat("<!-- -->", size/8),
		"list markers":      strings.Repeat("- ", size/2),
		"digits":            strings.Repeat("1", size),
		"empty lines":       strings.Repeat("\n", size),
		"fences":            strings.Repeat("```\n", size/4),
		"invalid":           strings.Repeat("\xff", size),
	} {
		reg := skills.NewRegistry(skills.Builtin()...)
		_, ok := reg.Detect(skills.Query{Text: text})
		assert.False(t, ok, name)
	}
	late := strings.Repeat("a `b` c\n", size/8) + "/do-docs"
	_, ok := skills.NewRegistry(skills.Builtin()...).Detect(skills.Query{Text: late})
	assert.True(t, ok, "after much prose")
}

func TestDetectCopiesNoText(t *testing.T) {
	reg := skills.NewRegistry(skills.Builtin()...)
	q := skills.Query{Text: strings.Repeat("we go on and on, and so on\n", 10_000)}
	assert.Less(t, testing.AllocsPerRun(10, func() { reg.Detect(q) }), 50.0)
}

func FuzzSkill(f *testing.F) {
	if testing.Short() {
		f.Skip("long under the race detector, and of one goroutine")
	}
	for _, tt := range requests {
		f.Add(tt.text)
	}
	build := skills.Skill{Trigger: "/do-build"}
	asks := func(text string) bool {
		_, ok := build.Detect(skills.Query{Text: text})
		return ok
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := asks(text)
		if got {
			require.Contains(t, strings.ToLower(text), "/do-build")
		}
		require.Equal(t, got, asks("\n"+text), "a blank line before changes nothing")
		require.Equal(t, got, asks("> /do-build\n\n"+text), "a quote before changes nothing")
		require.Equal(t, got, asks("```\n/do-build\n```\n"+text), "a fence before changes nothing")
		require.False(t, asks("```````\n"+strings.ReplaceAll(strings.ReplaceAll(text, "`", "'"), "~", "'")),
			"an unclosed fence hides all")
		require.False(t, asks("> "+strings.NewReplacer("\r", " ", "\n", "\n> ").Replace(text)), "a quote hides all")
		require.True(t, asks("/do-build\n\n"+text), "text after changes nothing")
		require.Equal(t, asks(strings.ReplaceAll(text, "\r", " ")),
			asks(strings.ReplaceAll(strings.ReplaceAll(text, "\r", " "), "\n", "\r\n")), "CRLF is as good as LF")
	})
}
