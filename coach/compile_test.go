package coach

import (
	"io/fs"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both prints a template for every sample, as it is compiled and by text/template. Compiled is false if it is not.
func both(t *testing.T, src string) (got, want []string, compiled bool) {
	t.Helper()
	parsed, err := template.New("x").Parse(src)
	if err != nil || parsed.Tree == nil {
		return nil, nil, false
	}
	fast, ok := compile(parsed.Root)
	if !ok {
		return nil, nil, false
	}
	say := func(s string, err error) string {
		if err != nil {
			return "error: " + err.Error()
		}
		return s
	}
	for _, s := range samples() {
		for s.in.Attempt = 1; s.in.Attempt <= 3; s.in.Attempt++ {
			f := collect(s.r, s.in)
			got = append(got, say((&tierTemplate{parsed, fast}).print(&f)))
			want = append(want, say((&tierTemplate{parsed, nil}).print(&f)))
		}
	}
	return got, want, true
}

func TestCompile(t *testing.T) {
	for _, c := range []struct {
		src      string
		compiled bool
	}{
		{"", true},
		{"words alone\n", true},
		{`"{{.Hint}}" {{ .Open }} of {{.Ticked -}} , {{.Missing}}`, false},
		{`"{{.Hint}}" {{ .Open }} of {{.Ticked -}} , {{.More}}`, true},
		{`{{/* a comment */}}{{if .Open}}{{.Open}}{{end}}`, true},
		{`{{if .Open}}a{{else if .Ticked}}b{{else}}c{{end}}`, true},
		{`{{if and .Claim .Hedge}}a{{end}}{{if or .Claim .Hedge .Gap}}b{{end}}{{if not .Claim}}c{{end}}`, true},
		{`{{if not (or .Gap .Promise)}}a{{end}}{{if and (gt .Attempt 1) (not .Plan)}}b{{end}}{{if (.Plan)}}c{{end}}`, true},
		{`{{if eq .Attempt 1}}a{{else if ne .Open 1}}b{{end}}`, true},
		{`{{if lt .Attempt 2}}a{{end}}{{if le .Attempt 2}}b{{end}}{{if gt .Attempt 2}}c{{end}}{{if ge .Attempt 2}}d{{end}}`, true},
		{`{{if eq .Attempt -1}}a{{end}}`, true},
		{`{{if eq .Attempt 1.0}}a{{end}}`, false}, // an error: incompatible types
		{`{{if eq .Attempt 'a'}}a{{end}}`, false},
		{`{{if eq .Attempt 1 2}}a{{end}}`, false},
		{`{{if eq .Plan "a"}}a{{end}}`, false},
		{`{{if gt .Plan 1}}a{{end}}`, false},
		{`{{if eq 1 .Attempt}}a{{end}}`, false},
		{`{{if true}}a{{end}}`, false},
		{`{{if len .Plan}}a{{end}}`, false},
		{`{{if .Plan | not}}a{{end}}`, false},
		{`{{if $x := .Plan}}{{$x}}{{end}}`, false},
		{`{{with .Plan}}{{.}}{{end}}`, false},
		{`{{range 3}}a{{end}}`, false},
		{`{{define "a"}}a{{end}}{{template "a"}}`, false},
		{`{{.}}`, false},
		{`{{.Plan.Name}}`, false},
		{`{{printf "%q" .Plan}}`, false},
		{`{{and .Plan .Hint}}`, false},
		{`{{"text"}}`, false},
		{`{{if .Plan}}{{.Nope}}{{end}}`, false},
		{`{{if .Nope}}{{.Plan}}{{end}}`, false},
		{strings.Repeat("x", maxPrinted) + `{{.Claim}}`, true}, // too much where there is a claim
		{strings.Repeat("x", maxPrinted+1), true},
		{strings.Repeat("{{.Criteria}}", 500), true},
	} {
		got, want, compiled := both(t, c.src)
		assert.Equal(t, c.compiled, compiled, "%.80s", c.src)
		require.Empty(t, cmp.Diff(want, got), "%.80s", c.src)
	}
}

// Whatever is compiled prints what text/template prints.
func FuzzCompile(f *testing.F) {
	entries, err := fs.ReadDir(embedded, "templates")
	require.NoError(f, err)
	for _, e := range entries {
		src, err := fs.ReadFile(embedded, "templates/"+e.Name())
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Add(`{{if or (and .Plan (not .Hint)) (ge .Attempt 2)}}{{.More}}{{else if .Gap}}x{{- else}} y {{end}}`)
	f.Add(`{{if eq .Attempt 0x1}}{{.Again}}{{end}}{{if le .Attempt 1_0}}{{.Unmet}}{{end}}`)
	f.Fuzz(func(t *testing.T, src string) {
		if strings.Contains(src, "range") || strings.Contains(src, "template") {
			return // never compiled, and may take long
		}
		if got, want, _ := both(t, src); !cmp.Equal(got, want) {
			t.Fatal(cmp.Diff(want, got))
		}
	})
}
