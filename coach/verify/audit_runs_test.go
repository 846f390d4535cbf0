package verify_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestAuditOfRuns(t *testing.T) {
	all := verify.Claim{Kind: "run", Run: "tests", Result: verify.Met}
	counted := func(n int) verify.Claim { c := all; c.Passed = &n; return c }
	named := func(s string) verify.Claim { c := all; c.Command = s; return c }
	part, admitted, lint := all, all, all
	part.Part, admitted.Result, lint.Run = true, verify.NotMet, "lint"
	run := func(s verify.Status, passed, failed, skipped int) []verify.Run {
		return []verify.Run{
			{
				Command: goTest,
				Status:  s,
				Counted: true,
				Total:   passed + failed + skipped,
				Passed:  passed,
				Failed:  failed,
				Skipped: skipped,
			},
		}
	}
	vet := verify.Run{Command: []string{"go", "vet", "./..."}, Status: verify.NotMet}
	status := []verify.Run{{Command: []string{"make", "check"}, Status: verify.Met}}
	for _, tt := range []struct {
		name  string
		claim verify.Claim
		runs  []verify.Run
		want  string
	}{
		{"they pass", all, run(verify.Met, 3, 0, 0), ""},
		{"they fail", all, run(verify.NotMet, 2, 1, 0), "critical test_result"},
		{"one fails and the command succeeds", all, run(verify.Met, 2, 1, 0), "critical test_result"},
		{"nothing is known", all, run(verify.Unverified, 0, 0, 0), "unchecked"},
		{"nothing was run", all, nil, "unchecked"},
		{"only a linter was run", all, []verify.Run{vet}, "unchecked"},
		{"all were skipped", counted(3), run(verify.Unverified, 0, 0, 3), "unchecked"},
		{"more than there are", counted(30), run(verify.Met, 3, 0, 0), "should_fix test_count"},
		{"more than there are, of this command",
			func() verify.Claim { c := counted(30); c.Command = "go test ./..."; return c }(), run(verify.Met, 3, 0, 0),
			"critical test_count"},
		{"with subtests", counted(30), []verify.Run{{Command: goTest, Status: verify.Met, Counted: true, Total: 3, Passed: 3,
			Parts: 27}}, ""},
		{"fewer, counted in another way", counted(2), run(verify.Met, 3, 0, 0), ""},
		{"a number beside an exit status", counted(99), status, "unchecked"},
		{"an exit status", all, status, ""},
		{"the same command", named("go  test ./..."), run(verify.NotMet, 2, 1, 0), "critical test_result"},
		{"some of its tests", named("go test ./auth"), run(verify.NotMet, 2, 1, 0), "unchecked"},
		{"some of its tests, all pass", named("go test -run TestA ./auth"), run(verify.Met, 3, 0, 0), ""},
		{"with the race detector", named("go test -race ./..."), run(verify.Met, 3, 0, 0), "unchecked"},
		{"another command", named("npm run build"), run(verify.Met, 3, 0, 0), "unchecked"},
		{"some tests", part, run(verify.NotMet, 2, 1, 0), "unchecked"},
		{"a failure that is admitted", admitted, run(verify.NotMet, 2, 1, 0), ""},
		{"a failure that is gone", admitted, run(verify.Met, 3, 0, 0), ""},
		{"a failing linter", lint, []verify.Run{vet}, "critical test_result"},
		{"it compiles", verify.Claim{Kind: "run", Run: "build", Result: verify.Met}, run(verify.Met, 3, 0,
			0), ""},
		{"it builds, of a script", verify.Claim{Kind: "run", Run: "build", Result: verify.Met}, status,
			"unchecked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, tt.want,
				found(audit(verify.Report{Claims: []verify.Claim{tt.claim}}, verify.Facts{Runs: tt.runs})))
		})
	}
	h := audit(parse(t, "`npm run lint` passes."),
		verify.Facts{Missing: []verify.Run{{Command: []string{"npm", "run", "lint"}, Why: "no script"}}})
	require.Equal(t, "critical command_missing", found(h))
}

// The programs that coaching knows as linters and type checkers are no test runs: they show no claim of tests.
func TestLintersAreNoTests(t *testing.T) {
	table, err := os.ReadFile("../guard.txt")
	require.NoError(t, err)
	section, programs := "", 0
	for line := range strings.Lines(string(table)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = line
		}
		if section != "[lint]" && section != "[types]" || line == section || strings.ContainsAny(line, " #") || line == "" {
			continue
		}
		for program := range strings.SplitSeq(line, "|") {
			facts := verify.Facts{Runs: []verify.Run{{Command: []string{program}, Status: verify.Met}}}
			h := audit(verify.Report{Claims: []verify.Claim{{Kind: "run", Run: "tests", Result: verify.Met}}}, facts)
			require.Equal(t, "unchecked", found(h), program)
			programs++
		}
	}
	require.Greater(t, programs, 20)
	of := func(kind verify.Claim, command string) string {
		runs := []verify.Run{{Command: strings.Fields(command), Status: verify.Met}}
		return found(audit(verify.Report{Claims: []verify.Claim{kind}}, verify.Facts{Runs: runs}))
	}
	tests := verify.Claim{Kind: "run", Run: "tests", Result: verify.Met}
	for _, command := range []string{"npx @biomejs/biome check", "php vendor/bin/phpcs", "npx eslint@9 .", "make fmt-check",
		"npm run lint:check", "./gradlew spotlessCheck", "cargo run --bin analyze", "make format"} {
		require.Equal(t, "unchecked", of(tests, command), command)
	}
	for _, command := range []string{"pnpm --filter types test", "make format test", "cargo nextest run -p types",
		"rake standard test", "mvn checkstyle:check test", "uv run --package types pytest", "./ci.sh"} {
		require.Empty(t, of(tests, command), command)
	}
}

// What failed before the work, or only in a poorer environment, is not held against the agent.
func TestAuditOfFailuresBefore(t *testing.T) {
	fails := verify.Run{
		Command:  goTest,
		Status:   verify.NotMet,
		Counted:  true,
		Total:    3,
		Passed:   2,
		Failed:   1,
		Failures: []string{"TestA"},
	}
	base := func(status verify.Status, failures, passes []string) []verify.Run {
		return []verify.Run{
			{Command: goTest, Status: status, Counted: true, Total: 3, Passed: 2, Failures: failures, Passes: passes},
		}
	}
	poorer := fails
	poorer.Withheld = []string{"API_TOKEN"}
	for _, tt := range []struct {
		name, report string
		run          verify.Run
		base         []verify.Run
		want         string
	}{
		{"passed before", "All tests pass.", fails, base(verify.Met, nil, []string{"TestA"}), "critical test_result"},
		{"failed before", "All tests pass.", fails, base(verify.NotMet, []string{"TestA"}, nil), "should_fix test_result"},
		{"was not there before", "All tests pass.", fails, base(verify.Met, nil, nil), "critical test_result"},
		{"cannot be run before", "All tests pass.", fails, base(verify.Unverified, nil, nil), "unchecked"},
		{"nobody asked", "All tests pass.", fails, nil, "critical test_result"},
		{"poorer environment", "All tests pass.", poorer, nil, "unchecked"},
		{"poorer environment, passed before in it", "All tests pass.", poorer, base(verify.Met, nil, []string{"TestA"}),
			"critical test_result"},
		{"admitted", "TestA still fails, everything else is " +
			"green.", fails, base(verify.NotMet, []string{"TestA"}, nil), ""},
		{"admitted as a number", "2 tests pass, 1 fails.", fails, base(verify.Met, nil, []string{"TestA"}), ""},
		{"admitted as a part", "2 of 3 tests pass.", fails, base(verify.Met, nil, []string{"TestA"}), ""},
		{"said to have failed before", "TestA fails, but it failed before my change, too.", fails,
			base(verify.Met, nil, []string{"TestA"}), "critical test_result"},
		{"said to be old", "One failure, which is pre-existing: the test failed already.", fails,
			base(verify.Met, nil, []string{"TestA"}), "critical test_result"},
		{"failed before, as said", "TestA fails, as it did before.", fails, base(verify.NotMet, []string{"TestA"}, nil), ""},
		{"before is not known", "TestA fails, and failed before.", fails, nil, "unchecked"},
		{"no claim", "I wrote the handler.", fails, base(verify.Met, nil, []string{"TestA"}), "unchecked"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := audit(parse(t, tt.report), verify.Facts{Runs: []verify.Run{tt.run}, BaseRuns: tt.base})
			require.Equal(t, tt.want, found(h), "%+v", h)
		})
	}
}

// Tests that moved or whose files went away must still run.
func TestAuditOfMovedTests(t *testing.T) {
	moved := []verify.TestChange{{File: "a_test.go", Name: "TestA", Change: "moved", Now: "old/a_test.go"}}
	run := func(passed int, names ...string) []verify.Run {
		return []verify.Run{{Command: goTest, Status: verify.Met, Counted: true, Total: passed, Passed: passed, Passes: names}}
	}
	for _, tt := range []struct {
		name  string
		facts verify.Facts
		want  string
	}{
		{"runs there", verify.Facts{Moved: moved, Runs: run(2, "TestA", "TestB"), BaseRuns: run(2, "TestA", "TestB")}, ""},
		{"does not run there", verify.Facts{Moved: moved, Runs: run(2, "TestB", "TestC"), BaseRuns: run(2, "TestA", "TestB")},
			"should_fix tests_tampered"},
		{"by numbers", verify.Facts{Moved: moved, Runs: run(2), BaseRuns: run(2)}, ""},
		{"fewer", verify.Facts{Moved: moved, Runs: run(1), BaseRuns: run(2)}, "should_fix tests_tampered"},
		{"as many, thanks to a new " +
			"one", verify.Facts{Moved: moved, New: []verify.TestChange{{Name: "TestC"}}, Runs: run(2),
			BaseRuns: run(2)}, "should_fix tests_tampered"},
		{"a file that went away", verify.Facts{Gone: []string{"tests/__init__.py"}, Runs: run(1), BaseRuns: run(2)},
			"should_fix tests_tampered"},
		{"skipped by something", verify.Facts{Changes: []verify.Change{{Path: "a_test.go", Kind: verify.Modified}}, Runs: run(1),
			BaseRuns: run(2)}, "should_fix tests_tampered"},
		{"nobody counts", verify.Facts{Moved: moved, Runs: []verify.Run{{Command: goTest, Status: verify.Met}},
			BaseRuns: []verify.Run{{Command: goTest, Status: verify.Met}}}, "should_fix tests_tampered"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, found(audit(verify.Report{}, tt.facts))) })
	}
}

func TestAuditOfNamedTests(t *testing.T) {
	for _, tt := range []struct {
		name, report string
		facts        verify.Facts
		want         string
	}{
		{"there", "Added TestLogin.", verify.Facts{Named: []verify.NamedTest{{Name: "TestLogin", Now: verify.Met}}},
			"unchecked"},
		{"invented", "Added TestLogin.", verify.Facts{Named: []verify.NamedTest{{Name: "TestLogin", Now: verify.NotMet,
			Before: verify.NotMet}}}, "critical test_missing, unchecked"},
		{"something of that " +
			"name", "Extracted test_values.", verify.Facts{Named: []verify.NamedTest{{Name: "test_values",
			Now: verify.Unverified, Before: verify.NotMet}}}, "unchecked"},
		{"gone", "TestLogin passes.", verify.Facts{Named: []verify.NamedTest{{Name: "TestLogin", Now: verify.NotMet,
			Before: verify.Met}}}, "unchecked"},
		{"seen to pass", "TestLogin passes.", verify.Facts{Runs: []verify.Run{{Command: goTest, Status: verify.Met,
			Passes: []string{"TestLogin (m)"}}}}, ""},
		{"seen to fail", "TestLogin passes.", verify.Facts{Runs: []verify.Run{{Command: goTest, Status: verify.NotMet,
			Failures: []string{"TestLogin (m)"}}}}, "critical test_result"},
		{"fails, as said", "TestLogin still " +
			"fails.", verify.Facts{Runs: []verify.Run{{Command: goTest, Status: verify.NotMet,
			Failures: []string{"TestLogin (m)"}}}}, ""},
		{"does not run", "TestLogin passes.", verify.Facts{Runs: []verify.Run{{Command: goTest, Status: verify.Met,
			Passes: []string{"TestOther (m)"}}},
			Named: []verify.NamedTest{{Name: "TestLogin", Now: verify.Met}}}, "unchecked"},
	} {
		t.Run(tt.name, func(t *testing.T) { require.Equal(t, tt.want, found(audit(parse(t, tt.report), tt.facts))) })
	}
}

func TestTampering(t *testing.T) {
	for _, tt := range []struct {
		name, text, change, file string
		want                     verify.Severity
	}{
		{"removed", "Fixed the login.", "removed", "auth/login_test.go", "critical"},
		{"removed, tests were updated", "Fixed the login and updated its tests.", "removed", "auth/login_test.go",
			"critical"},
		{"removed and named", "Removed `TestLogin`, which tested nothing.", "removed", "auth/login_test.go", "info"},
		{"removed, and its file named", "Deleted `auth/login_test.go`.", "removed", "auth/login_test.go", "info"},
		{"removed, and only named", "Removed the cache. See `TestLogin`.", "removed", "auth/login_test.go", "should_fix"},
		{"removed and said", "The old tests were removed.", "removed", "auth/login_test.go", "should_fix"},
		{"removed from a program, which is named", "Fixed src/login.rs.", "removed", "src/login.rs", "critical"},
		{"disabled", "Fixed the login.", "disabled", "auth/login_test.go", "critical"},
		{"disabled and said", "TestLogin is skipped on Windows.", "disabled", "auth/login_test.go", "info"},
		{"emptied", "Fixed the login and adapted login_test.go.", "emptied", "auth/login_test.go", "should_fix"},
		{"edited", "Fixed the login.", "edited", "auth/login_test.go", "should_fix"},
		{"edited and said", "Fixed the login and adapted the tests.", "edited", "auth/login_test.go", ""},
		{"edited and named", "See login_test.go.", "edited", "auth/login_test.go", "should_fix"},
		{"edited, and its file named as changed", "Adapted `login_test.go`.", "edited", "auth/login_test.go", ""},
		{"edited, and it passes", "Fixed the login. TestLogin passes now.", "edited", "auth/login_test.go",
			"should_fix"},
		{"edited, and all pass", "Fixed the login, and all 5 tests pass, including TestLogin.", "edited",
			"auth/login_test.go", "should_fix"},
		{"edited and denied", "The tests were not modified. Fixed the login.", "edited", "auth/login_test.go",
			"should_fix"},
		{"edited and denied " +
			"otherwise", "I did not change the tests. TestLogin was red.", "edited", "auth/login_test.go",
			"should_fix"},
		{"edited, and said of it", "I changed TestLogin to use 3 days.", "edited", "auth/login_test.go", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := audit(verify.Report{Text: tt.text},
				verify.Facts{Tests: []verify.TestChange{{File: tt.file, Name: "TestLogin", Change: tt.change}}})
			if tt.want == "" {
				require.Empty(t, h.Discrepancies)
				return
			}
			require.Len(t, h.Discrepancies, 1)
			require.Equal(t, verify.TestsTampered, h.Discrepancies[0].Kind)
			require.Equal(t, tt.want, h.Discrepancies[0].Severity)
			require.Contains(t, h.Discrepancies[0].Found, "TestLogin")
		})
	}
	edited := verify.Facts{Compared: verify.Met,
		Tests: []verify.TestChange{{File: "a_test.go", Name: "TestLogin", Change: "edited"}}}
	require.Equal(t, "should_fix tests_tampered, should_fix tests_tampered",
		found(audit(parse(t, "I did not touch the tests."), edited)))
	h := audit(
		verify.Report{},
		verify.Facts{Changes: []verify.Change{{Path: "auth/login.go", Kind: verify.Removed}},
			Tests: []verify.TestChange{{File: "auth/login_test.go", Name: "TestLogin", Change: "removed"}}},
	)
	require.Equal(t, "should_fix tests_tampered", found(h), "what it tested is gone, too")
	h = audit(verify.Report{Text: "Removed auth/login.go and auth/login_test.go."},
		verify.Facts{Changes: []verify.Change{{Path: "auth/login.go", Kind: verify.Removed}},
			Tests: []verify.TestChange{{File: "auth/login_test.go", Name: "TestLogin", Change: "removed"}}})
	require.Equal(t, "info tests_tampered", found(h), "and the report says so")
	require.Nil(t, h.Score)
	out, err := json.Marshal(audit(verify.Report{}, verify.Facts{}))
	require.NoError(t, err)
	require.Contains(t, string(out), `"score":null`)
}
