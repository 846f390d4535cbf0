package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// Help is read in terminals of 80 columns, which break what is wider in the middle of a word.
func TestHelpFitsATerminal(t *testing.T) {
	for _, name := range []string{"", "eval", "help", "judge", "hook", "hook claude", "hook codex", "hook gemini",
		"hook install", "hook uninstall", "log", "prompt", "replay", "verify", "verify agent", "verify begin",
		"verify record"} {
		help, errs, status := sidecoach(t, strings.NewReader(""), append([]string{"help"}, strings.Fields(name)...)...)
		require.Zero(t, status, errs)
		require.NotEmpty(t, help, name)
		for line := range strings.Lines(help) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, "%s: %s", name, line)
		}
	}
}

func TestEvalHelpExplainsEachFigure(t *testing.T) {
	help, errs, status := sidecoach(t, strings.NewReader(""), "eval", "--help")
	require.Zero(t, status, errs)
	one := evaluate.Summarize([]evaluate.Outcome{{Want: evaluate.Want{Type: classify.Status}}})
	for _, name := range append(slices.Collect(maps.Keys(one.Figures)), "asked") {
		assert.Regexp(t, `(?m)^  `+name+` +\w`, help)
	}
}

// Whoever reads the log finds each of its codes in its help.
func TestLogHelpExplainsEachCode(t *testing.T) {
	help, errs, status := sidecoach(t, strings.NewReader(""), "log", "--help")
	require.Zero(t, status, errs)
	table, err := os.ReadFile("../../autocontinue/decide.go")
	require.NoError(t, err)
	reasons := regexp.MustCompile(`(?m)^\t"(\w+)": +\{(?:Deliver|Continue|Suppress), `).FindAllSubmatch(table, -1)
	require.NotEmpty(t, reasons)
	for _, reason := range reasons {
		assert.Regexp(t, `(?m)^  (?:question, )?`+words(string(reason[1]))+`(?:, blocker)? +(?:continue|deliver|suppress): `, help)
	}
	_, tiers, found := strings.Cut(strings.Join(strings.Fields(help), " "), "The tiers: ")
	require.True(t, found)
	tiers, _, _ = strings.Cut(tiers, ".")
	for _, code := range constants(t, "../../coach/coach.go", "Tier") {
		assert.Regexp(t, `\b`+words(code)+`\b`, tiers)
	}
}

// constants returns the values of the string constants of a type in a file.
func constants(t *testing.T, file, typ string) (values []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			for _, v := range spec.Values {
				text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
				require.NoError(t, err)
				values = append(values, text)
			}
		}
		return true
	})
	require.NotEmpty(t, values)
	return values
}

// The licences of all that the binary contains, on every system, are in it. If this fails, run .ci/licences.
func TestLicencesAreComplete(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	text, errs, status := sidecoach(t, strings.NewReader(""), "help", "licences")
	require.Zero(t, status, errs)
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+system)
		out, err := cmd.Output()
		require.NoError(t, err)
		for module := range strings.Lines(string(out)) {
			assert.Contains(t, text, "\n"+strings.TrimSpace(module)+"\n=====", "%s", system)
		}
	}
	assert.Contains(t, text, "Copyright 2009 The Go Authors")
}

func TestPolicyFlags(t *testing.T) {
	const gate, never = autocontinue.NoGate, autocontinue.Never
	for flag, values := range map[string]map[string]autocontinue.Policy{
		"threshold": {"0": {MinConfidence: gate}, "-0": {MinConfidence: gate}, "0.0": {MinConfidence: gate},
			"0.8": {MinConfidence: 0.8}, "1": {MinConfidence: 1}, "1e-3": {MinConfidence: 0.001}},
		"max-continues": {"0": {MaxContinues: never}, "1": {MaxContinues: 1}, "3": {MaxContinues: 3},
			"1000": {MaxContinues: 1000}},
	} {
		for in, want := range values {
			var o policyFlags
			f := new(pflag.FlagSet)
			o.register(f)
			before := o.policy()
			require.NoError(t, f.Set(flag, in), in)
			want.MaxContinues = cmp.Or(want.MaxContinues, before.MaxContinues)
			want.MinConfidence = cmp.Or(want.MinConfidence, before.MinConfidence)
			assert.Equal(t, want, o.policy(), in)
		}
	}
	for flag, values := range map[string][]string{
		"threshold":     {"", "x", "NaN", "nan", "Inf", "-Inf", "-0.01", "1.0001", "0,8", "80%", " 0.8"},
		"max-continues": {"", "x", "-1", "1001", "1.5", " 1", "99999999999999999999"},
	} {
		for _, in := range values {
			var o policyFlags
			f := new(pflag.FlagSet)
			o.register(f)
			before := o
			assert.Error(t, f.Set(flag, in), in)
			assert.Equal(t, before, o, "a refused value changes nothing")
		}
	}
}

// Each flag has a text, and each text has a flag.
func TestFlagsAreExplained(t *testing.T) {
	used := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			text := usage(f, c.CommandPath())
			assert.NotEmpty(t, text, "%s --%s", c.CommandPath(), f.Name)
			assert.NotContains(t, text, "%s")
			used[text] = true
		})
	}
	term := terminal{}
	root := newDecide(term)
	root.AddCommand(newAllow(term), newEval(), newGoal(term), newHook(term), newLog(term), newReplay(term),
		newStatus(term), newVerify(term))
	walk(root)
	for name, text := range flagTexts() {
		assert.True(t, used[text] || strings.Contains(text, "%s"), name)
	}
}
