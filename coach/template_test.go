package coach

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:embed doc.go
var docSource embed.FS

func templateTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	entries, err := fs.ReadDir(embedded, "templates")
	require.NoError(t, err)
	for _, e := range entries {
		b, err := fs.ReadFile(embedded, "templates/"+e.Name())
		require.NoError(t, err)
		texts[e.Name()] = string(b)
	}
	return texts
}

func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

func TestDefaultTemplates(t *testing.T) {
	assert.Len(t, defaults, len(Tiers())-1, "one file a tier, but for plain")
	for tier, template := range defaults {
		assert.NoError(t, template().try(tier))
		assert.NotNil(t, template().fast, "%s is printed by text/template, which is slow", tier)
	}
	c, err := New(Config{Templates: os.DirFS("templates")})
	require.NoError(t, err, "the default templates are good templates of a host")
	for _, s := range samples() {
		assert.Equal(t, BuildCoachingMessage(s.r, s.in), c.BuildCoachingMessage(s.r, s.in), s.name)
	}
}

// Every tier but plain is tried by a sample, and every field is printed by a default template and described.
func TestSamplesAndFields(t *testing.T) {
	doc, err := docSource.ReadFile("doc.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, text := range templateTexts(t) {
		all.WriteString(text)
	}
	fieldType := reflect.TypeFor[fields]()
	set, unset := make(map[string]bool), make(map[string]bool)
	tried := make(map[Tier]bool)
	for _, s := range samples() {
		for s.in.Attempt = 1; s.in.Attempt <= 2; s.in.Attempt++ {
			f := collect(s.r, s.in)
			for _, tier := range Tiers() {
				if says, _ := f.says(tier, s.r, s.in); says {
					tried[tier] = true
				}
			}
			for i := range fieldType.NumField() {
				name, zero := fieldType.Field(i).Name, reflect.ValueOf(f).Field(i).IsZero()
				set[name], unset[name] = set[name] || !zero, unset[name] || zero
			}
		}
	}
	for _, tier := range Tiers() {
		assert.True(t, tried[tier], "no sample for %s", tier)
		assert.Contains(t, string(doc), "\n//\t"+string(tier)+" ")
	}
	for i := range fieldType.NumField() {
		name := fieldType.Field(i).Name
		assert.True(t, strings.Contains(all.String(), "."+name), "no template prints %s", name)
		assert.Contains(t, string(doc), "\n//\t."+name+" ")
		assert.True(t, set[name], "no sample sets %s", name)
		assert.True(t, unset[name] || name == "Attempt" || name == "Unmet", "every sample sets %s", name)
	}
}

func TestHostTemplate(t *testing.T) {
	c, err := New(Config{Templates: files("plan_pointer.txt", "[System Coach] Weiter mit\n\t{{.Plan}},\x1b[1m bitte.\n")})
	require.NoError(t, err)
	in := Context{PlanFile: "plan.md"}
	assert.Equal(t, Message{Text: "[System Coach] Weiter mit plan.md, bitte.", Tier: TierPlanPointer}, c.BuildCoachingMessage(status, in))
	assert.NotContains(t, BuildCoachingMessage(status, in).Text, "Weiter", "the default coach is not changed")
	assert.Equal(t, BuildCoachingMessage(rejected, in), c.BuildCoachingMessage(rejected, in), "other tiers keep their words")

	for _, c := range []*Coach{nil, {}} {
		assert.Equal(t, BuildCoachingMessage(status, in), c.BuildCoachingMessage(status, in))
	}
	c, err = New(Config{Templates: files()})
	require.NoError(t, err)
	assert.Equal(t, BuildCoachingMessage(status, in), c.BuildCoachingMessage(status, in))
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		fsys fs.FS
		want string
	}{
		"unknown name":        {files("rejections.txt", "x"), `"rejections.txt": no tier`},
		"plain":               {files("plain.txt", "x"), `"plain.txt": no tier`},
		"a folder":            {files("templates/skill.txt", "x"), `"templates": no tier`},
		"a folder as a tier":  {files("skill.txt/x", "x"), `"skill.txt"`},
		"no template":         {files("skill.txt", "{{if}}"), "skill.txt:1"},
		"unknown function":    {files("skill.txt", "{{exec .Hint}}"), `"exec" not defined`},
		"unknown field":       {files("skill.txt", "x {{.Secret}}"), "Secret"},
		"blank":               {files("repeat.txt", " \n"), `"repeat.txt": prints nothing for`},
		"blank without hint":  {files("skill.txt", "{{.Hint}}"), `prints nothing for a skill with only a description at attempt 1`},
		"blank later":         {files("llm.txt", "{{if lt .Attempt 3}}x{{end}}"), "at attempt 3"},
		"only our prefix":     {files("repeat.txt", "[System Coach]"), "prints nothing"},
		"invisible":           {files("repeat.txt", "\u200b\x00"), "prints nothing"},
		"fails on some input": {files("skill.txt", `{{if .Hint}}{{index .Hint 1000}}{{else}}x{{end}}`), "index"},
		"without end":         {files("skill.txt", `{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`), "depth"},
		"too long":            {files("skill.txt", `{{range 100000000}}long {{end}}`), "prints too much"},
		"too large":           {files("skill.txt", strings.Repeat("x", maxTemplate+1)), "larger than"},
		"unreadable":          {brokenFS{}, "templates: no such disk"},
	} {
		t.Run(name, func(t *testing.T) {
			coach, err := New(Config{Templates: c.fsys})
			require.Error(t, err)
			assert.Nil(t, coach)
			assert.Contains(t, err.Error(), c.want)
			assert.Regexp(t, "^coach: template", err.Error())
		})
	}
	_, err := New(Config{Templates: brokenFS{}})
	assert.ErrorIs(t, err, errBroken)
}

var errBroken = errors.New("no such disk")

type brokenFS struct{}

func (brokenFS) Open(string) (fs.File, error) { return nil, errBroken }

// What no sample could show does no harm later: the next tier speaks.
func TestTemplateFailsLater(t *testing.T) {
	c, err := New(Config{Templates: files(
		"plan_pointer.txt", `{{if eq .Attempt 7}}{{index .Plan 999}}{{end}}x`,
		"skill.txt", `{{if ne .Attempt 7}}x{{end}}`,
		"repeat.txt", `x{{if eq .Attempt 7}}{{range 1000000}}yyyyyyyyyyyyy{{end}}{{end}}`,
	)})
	require.NoError(t, err)
	m := c.BuildCoachingMessage(status, Context{PlanFile: "plan.md", Skill: build, Attempt: 7})
	assert.Equal(t, "continue", m.Text)
	assert.Equal(t, TierPlain, m.Tier)
	require.Len(t, m.Skipped, 3)
	assert.Equal(t, TierPlanPointer, m.Skipped[0].Tier)
	assert.Contains(t, m.Skipped[0].Why, "the template failed: ")
	assert.Equal(t, Skip{TierSkill, "the template printed nothing"}, m.Skipped[1])
	assert.Equal(t, TierRepeat, m.Skipped[2].Tier)

	m = c.BuildCoachingMessage(status, Context{PlanFile: "plan.md", Attempt: 6})
	assert.Equal(t, Message{Text: "[System Coach] x", Tier: TierPlanPointer}, m)
}

func TestHostTemplateIsBounded(t *testing.T) {
	c, err := New(Config{Templates: files("skill.txt", `{{range 500}}{{$.Skill}} [System Coach] {{end}}`)})
	require.NoError(t, err)
	m := c.BuildCoachingMessage(status, Context{Skill: build})
	assert.Len(t, []rune(m.Text), len([]rune(m.Text[:strings.LastIndex(m.Text, "…")]))+1)
	assert.LessOrEqual(t, len([]rune(m.Text)), maxMessage)
	assert.Equal(t, 1, strings.Count(m.Text, "[System Coach]"))
}
