package verify_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/plancriteria"
)

func requirements(t *testing.T, section string) []verify.Requirement {
	t.Helper()
	c, err := plancriteria.Extract([]byte("# Plan\n\n## Success Criteria\n\n" + section))
	require.NoError(t, err)
	return verify.Requirements(c)
}

func TestRequirementsKeepTheirIDs(t *testing.T) {
	before := requirements(t, "- [ ] Login redirects\n- [ ] Tests pass: `go test ./...`\n")
	after := requirements(t, "- [ ] A new one\n1. [x] Tests  pass: `go test ./...`\n2. [x] login redirects\n")
	require.Equal(t, before[0].ID, after[2].ID)
	require.Equal(t, before[1].ID, after[1].ID)
	require.NotEqual(t, before[0].ID, before[1].ID)
	require.Regexp(t, `^r[0-9a-f]{8}$`, before[0].ID)
	twice := requirements(t, "- Same\n- Same\n")
	require.Equal(t, twice[0].ID+"-2", twice[1].ID)
}

func TestRequirements(t *testing.T) {
	got := requirements(t, "- Group\n  - [x] Ticked is a claim\n  - [ ] Open\n- Plain item\n")
	var texts []string
	for _, r := range got {
		texts = append(texts, r.Text)
	}
	require.Equal(t, []string{"Ticked is a claim", "Open", "Plain item"}, texts)
	prose := requirements(t, "Users can\nlog in.\n")
	require.Len(t, prose, 1)
	require.Equal(t, "Users can log in.", prose[0].Text)
}

func TestCommandOfARequirement(t *testing.T) {
	for text, want := range map[string]string{
		"Tests pass: `go test ./...`":   "go test ./...",
		"Tests pass: `go test ./...`.":  "go test ./...",
		"The flag `--json` is there":    "",
		"It calls `os.Exit`":            "",
		"Both: `make` and `make test`":  "",
		"No code: at all":               "",
		"Empty: ``":                     "",
		"Lint: `golangci-lint  run` ":   "golangci-lint run",
		"Nothing in front `go test ./`": "",
	} {
		require.Equal(t, want, requirements(t, "- [ ] "+text+"\n")[0].Command, text)
	}
}

// A plan is written by the agent: of what stands in it only the host's own words are run.
func TestListed(t *testing.T) {
	host := [][]string{{"go", "test", "./..."}, {"make", "check"}, {"sh", "-c", "go test ./..."}}
	for line, want := range map[string]bool{
		"go test ./...": true, " go  test\t./... ": true, "make check": true,
		"go test ./... ; rm -rf /": false, "go test": false, "go test ./... -exec x": false, "GO test ./...": false,
		"":                false,
		`"go" test ./...`: false, "go test ./...\nrm x": false, "go test $(x)": false, "sh -c go test ./...": false,
		"go test ./… ":    false,
		"./go test ./...": false, "go test ./... && true": false,
	} {
		words, ok := verify.Listed(line, host)
		require.Equal(t, want, ok, "%q", line)
		require.Equal(t, want, words != nil)
	}
}

// Only the words that the host listed, blanks between them aside, are a command of the host.
func TestListedWordByWord(t *testing.T) {
	host := [][]string{goTest, {"make", "check"}, {"go test"}, {"sh", "-c", "make  all"}, {}}
	for _, line := range []string{"go test ./...", "  go \t test   ./... ", "make check"} {
		_, ok := verify.Listed(line, host)
		require.True(t, ok, "%q", line)
	}
	for _, line := range []string{
		"", " ", "go test", "go test ./... -v", "go test ./....", "go test ./...;", "go test ./... ; rm x",
		"go test ./... && rm x", "go test ./...|cat", "go test ./... #",
		"go test ./... >x", "go test $(x)", "go 'test' ./...", `go "test" ./...`, `go t\est ./...`, "go test `x`",
		"sudo go test ./...", "X=1 go test ./...", "Go test ./...",
		"go test ./..", "go test ./…", "go\u00a0test ./...", "go\u2003test ./...", "go\u3000test ./...", "go\u200btest ./...",
		"go test\u200b ./...", "g\u043e test ./...", "go test ./...\u200e",
		"\ufeffgo test " +
			"./...", "go test\n./...", "go test\r./...", "go test\v./...", "go test\f./...", "go test\u0085./...",
		"go test\u2028./...", "go test ./...\x00", "make", "check make",
		"make\u00a0check", "sh -c make all", "sh -c make  all", "-- make check", "$ make check",
	} {
		_, ok := verify.Listed(line, host)
		require.False(t, ok, "%q", line)
	}
	c, _ := verify.Listed("make check", host)
	c[0] = "rm"
	require.Equal(t, []string{"make", "check"}, host[1])
}

func TestAgentHasItsFrontMatter(t *testing.T) {
	_, rest, ok := strings.Cut(verify.Agent(), "---\n")
	require.True(t, ok)
	front, _, ok := strings.Cut(rest, "\n---\n")
	require.True(t, ok)
	for _, line := range []string{"name: autobuild-coach", "model: sonnet", "triggers: []", "stack: [any]",
		"  must_call: [validate_implementation, record_decision]"} {
		require.Contains(t, front+"\n", line+"\n")
	}
	for _, key := range []string{"description:", "contracts:", "  must_not:", "  must_output:", "collaborates_with:"} {
		require.Contains(t, front, "\n"+key)
	}
}

// The example of the output format is a decision that could be recorded and that Lint lets pass; and Lint refuses
// what the instructions call bad feedback.
func TestAgentsOutputFormatIsTrue(t *testing.T) {
	_, rest, ok := strings.Cut(verify.Agent(), "```json\n")
	require.True(t, ok)
	example, _, _ := strings.Cut(rest, "```")
	d, err := verify.ParseDecision([]byte(example))
	require.NoError(t, err)
	require.Empty(t, verify.Lint(d))
	require.Equal(t, verify.NotMet, d.Requirements[1].Status)
	require.Equal(t, 41, d.Items[0].Line)
	require.NotEmpty(t, d.Rationale)

	_, feedback, _ := strings.Cut(verify.Agent(), "## Feedback\n")
	good, bad, _ := strings.Cut(feedback, "Feedback like this is refused:")
	for _, m := range regexp.MustCompile("(?m)^- `([^`]+)`: \"([^\"]+)\"").FindAllStringSubmatch(good, -1) {
		require.Empty(t, verify.Lint(feedbackOf(verify.Item{File: m[1], Issue: m[2]})), m[2])
	}
	refused := regexp.MustCompile(`(?m)^- "([^"]+)"`).FindAllStringSubmatch(bad, -1)
	require.Len(t, refused, 3)
	for _, m := range refused {
		require.NotEmpty(t, verify.Lint(feedbackOf(verify.Item{File: "a.go", Issue: m[1]})), m[1])
	}
}
