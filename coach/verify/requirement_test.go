package verify_test

import (
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
		"go test ./... ; rm -rf /": false, "go test": false, "go test ./... -exec x": false, "GO test ./...": false, "": false,
		`"go" test ./...`: false, "go test ./...\nrm x": false, "go test $(x)": false, "sh -c go test ./...": false, "go test ./… ": false,
		"./go test ./...": false, "go test ./... && true": false,
	} {
		words, ok := verify.Listed(line, host)
		require.Equal(t, want, ok, "%q", line)
		require.Equal(t, want, words != nil)
	}
}
