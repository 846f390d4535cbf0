package transcript

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// A transcript's commands are kept without secrets, and are compared as before.
func TestCommandsAreKeptWithoutSecrets(t *testing.T) {
	const key, own = "ghp_" + "Ab1cDe2fGh3iJk4lMn5oPq6rSt7uVw8xYz9a", "correct-horse-battery"
	long := strings.Repeat("x", 150)
	for _, script := range []string{
		"GITHUB_TOKEN=" + key + " npm test",
		"export API_TOKEN=Ab1cDe2fGh3iJk4l; npm test; echo API_TOKEN=Ab1cDe2fGh3iJk4l",
		"npm test --token=" + key,
		"npm test -- --password Ab1cDe2f",
		"npm test -- --pass Ab1cDe",
		"go test -run 'Test" + long + key + "' ./...",
		"pytest -k " + long + " --api-key Ab1cDe2fGh3iJk4lMn5o",
		"DATABASE_URL=postgres://app:Ab1cDe2fG@db/app go test ./... > out-" + key + ".txt",
		"curl -H 'Authorization: Bearer Ab1cDe2fGh3iJk4l' localhost | tee Ab1cDe2fGh3iJk4l.txt",
		"make test PASSWORD=" + own + " && echo " + own + " $?",
		"golangci-lint run | cat; echo Ab1 " + key,
	} {
		bash := tool{id: "1", name: "Bash", input: value{map[string]any{"command": script}}}
		f := reading{secrets: []string{own}, Work: newWork()}
		f.add(entry{kind: call, tool: bash})
		open, err := json.Marshal(f)
		require.NoError(t, err)
		f.add(entry{kind: outcome, result: result{id: "1", known: true, output: "ok"}})
		done, err := json.Marshal(f)
		require.NoError(t, err)
		for _, kept := range []string{string(open), string(done)} {
			require.NotContains(t, kept, "Ab1cDe", script)
			require.NotContains(t, kept, own, script)
		}
	}

	// A check that fails with one key passes with another.
	f := reading{Work: newWork()}
	for n, key := range []string{key, strings.ReplaceAll(key, "A", "B")} {
		id, r := strconv.Itoa(n), result{}
		f.add(entry{kind: call, tool: tool{id: id, name: "Bash",
			input: value{map[string]any{"command": "pytest --token=" + key}}}})
		r.status(1 - n)
		r.id = id
		f.add(entry{kind: outcome, result: r})
	}
	want := classify.Check{Command: "pytest --token=" + strings.Repeat("*", 40), Kind: classify.CheckTest,
		Outcome: classify.OutcomePassed}
	require.Equal(t, []classify.Check{want}, f.Work.facts().Checks)
}
