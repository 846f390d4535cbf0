package skills_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/skills"
)

// skillFile returns a tree with one skill, whose folder is .claude/skills/release.
func skillFile(text string) fstest.MapFS {
	return fstest.MapFS{".claude/skills/release/SKILL.md": {Data: []byte(text)}}
}

func ExampleFromFS() {
	found, skipped := skills.FromFS(skillFile(
		"---\nname: release\ndescription: publish a version\nevidence: the URL of the release\n---\n# Release\n"),
		skills.Folders()...)
	reg := skills.NewRegistry(append(skills.Builtin(), found[0])...)
	s, _ := reg.Detect(skills.Query{Text: "/release 1.2"})
	fmt.Println(s.EvidenceHint, skipped)
	// Output: the URL of the release []
}

func TestFromFSReadsWhatPeopleWrite(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want skills.Skill
	}{
		"the ecosystem's fields": {
			"---\nname: release\ndescription: publish a version\nlicense: MIT\nmetadata:\n  version: \"1\"\n---\n# Release",
			skills.Skill{Name: "release", Description: "publish a version"}},
		"our fields": {
			"---\nname: release\ndescription: d\ntrigger: /ship\nphase: deploy\nevidence: the URL\n---\n",
			skills.Skill{Name: "release", Description: "d", Trigger: "/ship", Phase: "deploy", EvidenceHint: "the URL"}},
		"a colon in a plain value": {
			"---\nname: release\ndescription: Use when: a version is due\n---\n",
			skills.Skill{Name: "release", Description: "Use when: a version is due"}},
		"quotes and comments": {
			"---\n# a comment\nname: 'it''s'\ndescription: \"say \\\"done\\\": yes\" # why\nevidence: a tag # or two\n---\n",
			skills.Skill{Name: "it's", Description: `say "done": yes`, EvidenceHint: "a tag"}},
		"block scalars": {
			"---\nname: release\ndescription: >-\n  publish a version\n\n  and say so\nevidence: |\n  the URL\n---\n",
			skills.Skill{Name: "release", Description: "publish a version and say so", EvidenceHint: "the URL"}},
		"values over several lines": {
			"---\nname: release\ndescription: publish\n  a version\nallowed-tools:\n- Bash\n- Read\n---\n",
			skills.Skill{Name: "release", Description: "publish a version"}},
		"CRLF and a byte order mark": {
			"\ufeff---\r\nname: release\r\ndescription: d\r\n---\r\n",
			skills.Skill{Name: "release", Description: "d"}},
		"a long text after it": {
			"---\nname: release\ndescription: d\n---\n" + strings.Repeat("x", 1<<20),
			skills.Skill{Name: "release", Description: "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			found, skipped := skills.FromFS(skillFile(c.text), skills.Folders()...)
			require.Empty(t, skipped)
			if c.want.Trigger == "" {
				c.want.Trigger = "/release"
			}
			require.Equal(t, []skills.Skill{c.want}, found)
		})
	}
}

func TestFromFSSkipsAndNamesBrokenFiles(t *testing.T) {
	_, skipped := skills.FromFS(nil, "skills")
	require.Len(t, skipped, 1)
	for name, c := range map[string]struct{ text, want string }{
		"no front matter": {"# Release", `no front matter between two lines "---" in the first 16 kB`},
		"empty":           {"", "no front matter"},
		"no end":          {"---\nname: release\n", "no front matter"},
		"an end too far":  {"---\nname: a\nx: " + strings.Repeat("x", 1<<20) + "\n---\n", "no front matter"},
		"no name":         {"---\ndescription: d\n---\n", "no name"},
		"no description":  {"---\nname: a\ndescription:\n---\n", "no description"},
		"an open quote":   {"---\nname: \"a\ndescription: d\n---\n", "name: a quote is not closed"},
		"not UTF-8":       {"---\nname: \xff\ndescription: d\n---\n", "the front matter is not UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := skillFile(c.text)
			tree[".agents/skills/good/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: good\ndescription: d\n---\n")}
			found, skipped := skills.FromFS(tree, skills.Folders()...)
			require.Len(t, skipped, 1)
			assert.ErrorContains(t, skipped[0], ".claude/skills/release/SKILL.md: ")
			assert.ErrorContains(t, skipped[0], c.want)
			require.Len(t, found, 1, "the others are there")
			assert.Equal(t, "/good", found[0].Trigger)
		})
	}
}

func TestFromFSLooksOnlyWhereSkillsAre(t *testing.T) {
	tree := fstest.MapFS{
		".claude/skills/README.md":                 {Data: []byte("not a skill")},
		".claude/skills/notes/notes.md":            {Data: []byte("no SKILL.md here")},
		".claude/skills/deep/er/SKILL.md":          {Data: []byte("---\nname: a\ndescription: d\n---\n")},
		".claude/skills/pipe/SKILL.md":             {Mode: fs.ModeNamedPipe},
		".claude/commands/release/SKILL.md":        {Data: []byte("---\nname: a\ndescription: d\n---\n")},
		".codex/skills/b/SKILL.md":                 {Data: []byte("---\nname: b\ndescription: d\n---\n")},
		"node_modules/.claude/skills/c/c/SKILL.md": {Data: []byte("---\nname: c\ndescription: d\n---\n")},
	}
	found, skipped := skills.FromFS(tree, skills.Folders()...)
	require.Len(t, found, 1)
	assert.Equal(t, "b", found[0].Name)
	require.Len(t, skipped, 1)
	assert.ErrorContains(t, skipped[0], "pipe/SKILL.md: not a regular file")

	many := fstest.MapFS{}
	for i := range 600 {
		many[fmt.Sprintf("s/%03d/SKILL.md", i)] = &fstest.MapFile{Data: []byte("---\nname: a\ndescription: d\n---\n")}
	}
	found, skipped = skills.FromFS(many, "s")
	assert.Len(t, found, 500)
	require.Len(t, skipped, 1)
}

func FuzzFromFS(f *testing.F) {
	f.Add("---\nname: release\ndescription: >\n  d\n---\n")
	f.Add("---\nname: 'a''b'\ndescription: \"\\\"\"\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		found, skipped := skills.FromFS(skillFile(text), skills.Folders()...)
		require.Equal(t, 1, len(found)+len(skipped))
		for _, s := range found {
			for _, field := range []string{s.Name, s.Trigger, s.Phase, s.Description, s.EvidenceHint} {
				require.NotContains(t, field, "\n")
				require.Equal(t, strings.TrimSpace(field), field)
			}
			require.NotEmpty(t, s.Name)
			require.NotEmpty(t, s.Description)
		}
	})
}
