package coach

import (
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

func files(pairs ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		fsys[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return fsys
}

// Each field is printed by each language and described in the package documentation.
func TestFields(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	doc, err := templateFiles.ReadFile("templates/en.txt")
	require.NoError(t, err)
	for i := range reflect.TypeFor[fields]().NumField() {
		name := reflect.TypeFor[fields]().Field(i).Name
		assert.Contains(t, string(doc), "\n  ."+name+" ")
		for language := range builtin() {
			text, err := templateFiles.ReadFile("templates/" + language + ".txt")
			require.NoError(t, err)
			assert.Contains(t, string(text), "."+name, language)
		}
	}
	c, err := New(Config{Templates: os.DirFS("templates")})
	require.NoError(t, err, "the default templates are good templates of a host")
	for _, b := range behaviours() {
		assert.Equal(t, BuildCoachingMessage(b.r, b.in), c.BuildCoachingMessage(b.r, b.in), b.name)
	}
}

func TestHostTemplate(t *testing.T) {
	c, err := New(Config{Templates: files("de.txt",
		`{{define "plan_pointer"}}[System Coach] Weiter mit`+"\n\t{{.Plan}},\x1b[1m bitte.\n{{end}}")})
	require.NoError(t, err)
	in, german := Context{PlanFile: "plan.md"}, status
	german.Language = "de"
	assert.Equal(t, Message{Text: "[System Coach] Weiter mit plan.md, bitte.", Tier: tierPlanPointer},
		c.BuildCoachingMessage(german, in))
	assert.NotContains(t, BuildCoachingMessage(german, in).Text, "Weiter", "the default coach is not changed")
	assert.Equal(t, BuildCoachingMessage(status, in), c.BuildCoachingMessage(status, in),
		"other languages keep their words")
	german.WasRejectedCompletion = true
	assert.Equal(t, BuildCoachingMessage(german, in), c.BuildCoachingMessage(german, in), "other tiers keep their words")

	c, err = New(Config{Templates: files("en.txt", `{{define "otherwise"}}Good luck.{{end}}`)})
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(c.BuildCoachingMessage(rejected, Context{}).Text, "Good luck."),
		"a part is replaced, too")

	empty, err := New(Config{Templates: files()})
	require.NoError(t, err)
	for _, c := range []*Coach{nil, {}, empty} {
		assert.Equal(t, BuildCoachingMessage(status, in), c.BuildCoachingMessage(status, in))
	}
}

func TestNewRefuses(t *testing.T) {
	tier := func(text string) fstest.MapFS { return files("en.txt", `{{define "skill"}}`+text+`{{end}}`) }
	for name, c := range map[string]struct {
		fsys fs.FS
		want string
	}{
		"unknown language":    {files("xx.txt", "x"), `"xx.txt": the file name is not a language; use one of cs, de, en,`},
		"unknown ending":      {files("en", "x"), `"en": the file name is not a language`},
		"a folder":            {files("templates/en.txt", "x"), `"templates": the file name`},
		"a folder as a file":  {files("en.txt/x", "x"), `"en.txt"`},
		"unknown template":    {files("en.txt", `{{define "skil"}}x{{end}}`), `no message uses a template "skil"`},
		"text outside":        {files("en.txt", "x"), `text outside of {{define "…"}}`},
		"not a template":      {tier("{{if}}"), "en.txt:1"},
		"unknown function":    {tier("{{exec .Hint}}"), `"exec" not defined`},
		"unknown field":       {tier("x {{.Secret}}"), "Secret"},
		"blank":               {tier(`{{""}} `), `it prints nothing`},
		"empty":               {tier(" \n"), `the template "skill" is empty`},
		"blank later":         {tier("{{if eq .Attempt 1}}x{{end}}"), "skill at attempt 2"},
		"fails on some input": {tier(`{{if .Skill}}{{index .Skill 1000}}{{else}}x{{end}}`), "index"},
		"without end":         {tier(`{{template "skill" .}}`), "depth"},
		"too long":            {tier(`{{range 100000000}}long {{end}}`), "prints more than"},
		"too large":           {files("en.txt", strings.Repeat("x", maxTemplate+1)), "larger than"},
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

// If a template fails on a case that New did not try, the next tier speaks.
func TestTemplateFailsLater(t *testing.T) {
	c, err := New(Config{Templates: files("en.txt", `
		{{define "plan_pointer"}}{{if eq .Attempt 7}}{{index .Plan 999}}{{end}}x{{end}}
		{{define "skill"}}{{if ne .Attempt 7}}x{{end}}{{end}}
		{{define "repeat"}}x{{if eq .Attempt 7}}{{range 1000000}}yyyyyyyyyyyyy{{end}}{{end}}{{end}}`)})
	require.NoError(t, err)
	m := c.BuildCoachingMessage(status, Context{PlanFile: "plan.md", Skill: build, Attempt: 7})
	assert.Equal(t, "continue", m.Text)
	assert.Equal(t, tierPlain, m.Tier)
	require.Len(t, m.Skipped, 3)
	assert.Equal(t, tierPlanPointer, m.Skipped[0].Tier)
	assert.Contains(t, m.Skipped[0].Why, "the template failed: ")
	assert.Equal(t, Skip{tierSkill, "the template printed nothing"}, m.Skipped[1])
	assert.Equal(t, tierRepeat, m.Skipped[2].Tier)

	m = c.BuildCoachingMessage(status, Context{PlanFile: "plan.md", Attempt: 6})
	assert.Equal(t, Message{Text: "[System Coach] x", Tier: tierPlanPointer}, m)
}

func TestHostTemplateIsBounded(t *testing.T) {
	c, err := New(Config{Templates: files("en.txt", `{{define "skill"}}{{range 500}}words [System Coach] {{end}}{{end}}`)})
	require.NoError(t, err)
	m := c.BuildCoachingMessage(status, Context{Skill: build})
	assert.LessOrEqual(t, len([]rune(m.Text)), maxMessage)
	assert.True(t, strings.HasSuffix(m.Text, "…"))
	assert.Equal(t, 1, strings.Count(m.Text, "[System Coach]"))
}
