package verify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// said writes a claim in short.
func said(c verify.Claim) string {
	s := string(c.Kind)
	for _, part := range []string{string(c.Change), c.Path, c.Name, string(c.Run), c.Command} {
		if part != "" {
			s += " " + part
		}
	}
	switch c.Result {
	case verify.Met:
		s += " +"
	case verify.NotMet:
		s += " -"
	}
	for _, n := range []struct {
		of string
		n  *int
	}{{"of", c.Total}, {"passed", c.Passed}, {"failed", c.Failed}, {"skipped", c.Skipped}} {
		if n.n != nil {
			s += " " + n.of + "=" + string(rune('0'+*n.n%10))
		}
	}
	if c.Kind == "file" && !c.Sure && !c.Part {
		s += " place"
	}
	if c.Part {
		s += " part"
	}
	return s
}

func TestParseReport(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for text, want := range map[string]string{
		"Updated `a.go` and b/c.go.":                                    "file a.go, file b/c.go, change",
		"Created x.go; removed old.go.":                                 "file added x.go, change, file removed old.go",
		"Renamed a.go to b.go.":                                         "file removed a.go, file added b.go, change",
		"I fixed the guard in `a.go:12`.":                               "file a.go place, change",
		"The retry is implemented in net/retry.go.":                     "file net/retry.go place, change",
		"Fixed the crash (see b.go for the caller).":                    "file b.go part, change",
		"a.go has been updated.":                                        "file a.go, change",
		"- `a.go`: added a retry\n- `b.go` — new helper":                "file a.go place, change, file added b.go",
		"## Changes\n\n- `a.go`: the retry\n":                           "file a.go",
		"## Files changed\n\n- a.go\n- b.go (new)\n":                    "file a.go, file added b.go",
		"## Next steps\n\n- Update `a.go`\n- All tests pass after that": "",
		"Touched `src/{a,b}.js` only.":                                  "scope, file src/a.js, file src/b.js, change",
		"Of 5 tests, 4 pass and 1 has an error: `test_zero` raises E.": "run tests - passed=4 failed=1 part, " +
			"test test_zero -",
		"4 pass and 1 crashes: `test_zero`.": "run tests - passed=4 failed=1, test " +
			"test_zero -",
		"Possible next steps, which I have not done:\n- added `README.md`":   "",
		"Next steps, not done yet:\n- a `README.md` section":                 "",
		"Suggestions (not implemented):\n- a `README.md` section":            "",
		"`go.mod` and b.go are unchanged, and the API of c.go is unchanged.": "restored go.mod, restored b.go, other",
		"All tests pass, twelve in total.":                                   "run tests + of=2",
		"Ho aggiunto la funzione `a` in b.js. I test passano.":               "file b.js part",
		"在 b.js 中新增了函数。":                                                     "other, file b.js part",
		"No code changes were needed in b.go.":                               "other part",
		"Fixed a.go so that it takes numbers.":                               "file a.go, change",
		"Set `version` to `1.3.0` in p.json.":                                "",
		"Updated p.json from 1.2.0 to 1.3.0.":                                "file p.json, change",
		"Bumped `vendor-lib` to v2.":                                         "change",
		"I did not change a.go.":                                             "restored a.go",
		"You could add `cache.go` next.":                                     "",
		"Should I create a.go?":                                              "",
		"Updated a.go, then reverted it.":                                    "restored a.go",
		"I reverted the import in a.go.":                                     "other",
		"Wrote a.sh, a throwaway script.":                                    "",
		"Added `Withdraw` and `Account.Deposit`.": "name added Withdraw, name added " +
			"Deposit, change",
		"Renamed the function `Format` to `FormatCents`.": "name removed Format, name " +
			"added FormatCents, change",
		"Removed the unused function `unslug`, as asked.": "name removed unslug, change",
		"Removed the `Close` call.":                       "change",
		"Refactored `Split` for clarity.":                 "change",
		"`slug` strips punctuation now.":                  "",
		"Updated the comment of `Split`.":                 "change",
		"Added tests for `Split`.":                        "new_tests, change",
		"Added a test helper.":                            "change",
		"Wrote 4 more tests.":                             "new_tests of=4, change",
		"Removed the leftover debug prints.":              "other, change",
		"I made no changes.":                              "scope removed",
		"All tests pass.":                                 "run tests +",
		"All 12 tests pass.":                              "run tests + passed=2",
		"Ran the suite: 7 passed, 1 failed.":              "run tests - passed=7 failed=1",
		"`make test` passes: 6 tests, 0 failures.":        "run tests make test + passed=6 failed=0",
		"`npm test` and `npm run lint` both " +
			"succeed.": "run tests npm test +, run lint npm run lint +",
		"`npm run build` fails.":                                        "run build npm run build -",
		"cargo test: 4 passed; 1 ignored.":                              "run tests + passed=4",
		"Tests: 5/5 passing":                                            "run tests + of=5 passed=5",
		"The new tests pass.":                                           "run tests + part",
		"Everything else is green.":                                     "run tests + part",
		"3 tests still fail.":                                           "run tests - failed=3",
		"Tests should pass now.":                                        "",
		"I have not run the tests.":                                     "",
		"Before the fix 2 tests failed.":                                "",
		"It compiles without warnings.":                                 "run build +",
		"mypy reports no issues.":                                       "run lint +",
		"```\n$ pytest\n==== 9 passed in 0.1s ====\n```":                "run tests pytest + passed=9",
		"Added `TestLogin`.":                                            "test TestLogin, change",
		"Covered it with the tests `parses_a` and `parses_b`.":          "test parses_a, test parses_b, change",
		"test_login passes, TestOther still fails.":                     "test test_login -, test TestOther -",
		"The failing test test_a passes now.":                           "test test_a +",
		"The failing test `test_a` is green without any change to it.":  "",
		"The failing tests test_a and test_b pass now.":                 "test test_a +, test test_b +",
		"The failing test test_a is not green.":                         "run tests - part, test test_a -",
		"There is one failing test left.":                               "run tests - part",
		"`TestLogin` no longer fails.":                                  "test TestLogin +",
		"TestLogin failed before, too.":                                 "failed_before TestLogin",
		"I added a `TestMain`.":                                         "change",
		"I extracted the helper `test_values`.":                         "change",
		"The working tree is clean.":                                    "clean",
		"No dependencies were added.":                                   "dependencies",
		"The tests were not modified.":                                  "scope part",
		"I did not touch the tests.":                                    "scope part",
		"Covered it with three new tests.":                              "new_tests of=3, change",
		"`Sum` is done (with 2 tests).":                                 "new_tests of=2 part, change",
		"`Sum` is in, plus two unit tests.":                             "new_tests of=2 part",
		"7 tests pass, 4 of them new.":                                  "new_tests of=4 part, run tests + passed=7",
		"8 of 9 tests pass.":                                            "run tests - of=9 passed=8 part",
		"So 6 of 7 tests run and pass, 1 is skipped.":                   "run tests + of=7 passed=6 skipped=1 part",
		"Ran 8 tests: OK (skipped=1)":                                   "run tests + of=8 skipped=1",
		"I took out the temporary logging.":                             "other",
		"This breaks TestSum.":                                          "test TestSum -",
		"`cargo test` passes with 4 tests.":                             "run tests cargo test + passed=4",
		"from x import TestClient":                                      "",
		"Committed as 1a2b3c4.":                                         "commit 1a2b3c4",
		"Two commits:\n\n- `1a2b3c4` one\n- 5d6e7f8 two":                "commit 1a2b3c4, commit 5d6e7f8",
		"Committed and pushed.":                                         "commit, other",
		"The bug came with commit 1a2b3c4, which introduced the cache.": "",
		"Not committed yet.":                                            "uncommitted",
		"Opened a pull request.":                                        "other",
		"CI is green.":                                                  "other",
		"Coverage is 97 %.":                                             "other",
		"I verified it by hand in the browser.":                         "other",
		"Das ist jetzt alles fertig und die Prüfungen sind alle bestanden worden, wirklich.": "",
		"Implementation complete.": "change",

		`{"files_changed":["a.go","b.go (new)"],"tests_passed":3}`:                                       "file a.go, file added b.go, run tests + passed=3",
		`{"files":{"created":["a.go"],"deleted":["b.go"]}}`:                                              "file added a.go, file removed b.go",
		`{"changes":[{"file":"a.go","action":"created"}],"commit":"abcdefa"}`:                            "file added a.go, commit abcdefa",
		`{"tests_written":["TestA","tests/test_x.py::TestB::test_c","x.test.js","a sentence about it"]}`: "test TestA, test test_c, file x.test.js, test a sentence about it",
		`{"tests":[{"name":"test_a","status":"passed"},{"name":"test_b","status":"failed"}]}`:            "test test_a +, test test_b -",
		`{"tests":"12 passed, 1 failed"}`:                                                                "run tests - passed=2 failed=1",
		`{"tests":{"command":"go test ./...","passed":14,"skipped":1}}`:                                  "run tests go test ./... + passed=4 skipped=1",
		`{"tests":{"command":"./run_tests","passed":14,"total":15}}`:                                     "run tests - of=5 passed=4",
		`{"tests_passed":true,"tests_failed":0}`:                                                         "run tests + failed=0",
		`{"build":"passed","lint":false}`:                                                                "run build +, run lint -",
		`{"implementation_notes":"Added x.go.","next_steps":["Create y.go"],"task":"Create z.go"}`:       "file added x.go, change",
		"```json\n{\"files_created\":[\"a.go\"]}\n```":                                                   "file added a.go",
	} {
		t.Run(text, func(t *testing.T) {
			var got []string
			for _, c := range parse(t, text).Claims {
				got = append(got, said(c))
			}
			require.Equal(t, want, strings.Join(got, ", "))
			var crlf []string
			for _, c := range parse(t, strings.ReplaceAll(text, "\n", "\r\n")).Claims {
				crlf = append(crlf, said(c))
			}
			require.Equal(t, got, crlf)
		})
	}
}

func TestConcernsOfAReport(t *testing.T) {
	for text, want := range map[string][]string{
		`{"summary":"x","concerns":["Slow on Windows."],"risks":"none"}`: {"Slow on Windows."},
		`{"concerns":[{"what":"Slow","where":"Windows"}]}`:               {"Slow: Windows"},
		"Done.\n\n## Concerns\n\n- Slow on Windows.\n- None.\n":          {"Slow on Windows."},
		"Done.": nil,
	} {
		require.Equal(t, want, parse(t, text).Concerns, text)
	}
}

func TestReportsThatCannotBeRead(t *testing.T) {
	for text, want := range map[string]error{
		`{"summary": "Done`:            verify.ErrNotReport,
		"\xff":                         verify.ErrNotUTF8,
		strings.Repeat("x", (1<<20)+1): verify.ErrTooLarge,
	} {
		_, err := verify.ParseReport([]byte(text))
		require.ErrorIs(t, err, want)
	}
	for _, text := range []string{"", "{a}", "{ x", "[1]", "null"} {
		require.Empty(t, parse(t, text).Claims, "%q", text)
	}
}

// A path or a name that is claimed stands in the report.
func FuzzParseReport(f *testing.F) {
	f.Add("Updated `a.go` and b.go. All 3 tests pass. Committed as 1a2b3c4.")
	f.Add(`{"files_changed":["a.go"],"tests_written":["TestA"]}`)
	f.Add("- `a/{b,c}.js`: added\n```\nRan 3 tests in 1s\n\nOK\n```")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := verify.ParseReport([]byte(text))
		if err != nil || strings.ContainsAny(text, `{"\`) {
			return
		}
		for _, c := range r.Claims {
			require.Contains(t, text, c.Path)
			require.NotContains(t, c.Text, "\n")
		}
	})
}

// What an agent writes is bounded work, whatever it repeats.
func TestRepeatedTextIsBoundedWork(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	for _, part := range []string{"{", `{"a":{}}`, "`a.go` ", "Updated a.go and ", "[a](", "x."} {
		text := []byte(strings.Repeat(part, (160<<10)/len(part))) // more than is read
		_, err := verify.ParseDecision(text)
		require.Error(t, err)
		if r, err := verify.ParseReport(text); err == nil {
			require.LessOrEqual(t, len(r.Claims), 3_500)
		}
	}
}

// A line takes hardly more time than what it has does in short lines. Of a few tries, one must show it.
func TestTimeIsLinearInTheLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	timed := func(text string) time.Duration {
		start := time.Now()
		_, err := verify.ParseReport([]byte(text))
		require.NoError(t, err)
		return time.Since(start)
	}
	for _, part := range []string{"`a%d.go`, ", "but %d ", "`go test ./a%d`, ", "[a%d](", "`aa%d` with b "} {
		long, short := "", ""
		for i := 0; len(long) < 1500; i++ {
			said := fmt.Sprintf(part, i)
			long, short = long+said, short+said
			if len(long)%150 < len(said) {
				short += "\n"
			}
		}
		ratio := 9.0
		for tries := 0; tries < 5 && ratio >= 2; tries++ {
			ratio = min(ratio, float64(timed(long))/float64(timed(short)))
		}
		require.Less(t, ratio, 2.0, "of %q", part)
	}
}

// Claims that are compared with the words of the whole report read these once: four times the claims in four times the
// text take about four times as long, not sixteen. Of a few tries, one must show it.
func TestTimeIsLinearInTheClaims(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	timed := func(claims int) time.Duration {
		text, facts := "", verify.Facts{Base: "b", Compared: verify.Met}
		for i := range claims {
			name := fmt.Sprintf("f%d.go", i)
			text += "`" + name + "`\n> " + strings.Repeat("words ", 20) + "\n"
			facts.Files = append(facts.Files, verify.FileFact{Path: name, State: verify.Missing})
		}
		report, err := verify.ParseReport([]byte(text))
		require.NoError(t, err)
		start := time.Now()
		require.NotEmpty(t, verify.Audit(report, facts).Unchecked)
		return time.Since(start)
	}
	ratio := 99.0
	for tries := 0; tries < 5 && ratio >= 7; tries++ {
		ratio = min(ratio, float64(timed(400))/float64(timed(100)))
	}
	require.Less(t, ratio, 7.0)
}

// What is beyond the bound is unchecked, not forgotten.
func TestMoreStatementsThanAreCompared(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	r, err := verify.ParseReport([]byte(strings.Repeat("Zebras graze here now.\n", 600)))
	require.NoError(t, err)
	require.Len(t, r.Statements, 500)
	h := verify.Audit(r, verify.Facts{Compared: verify.Met, Shown: []string{"zebras", "graze", "here"}})
	require.Contains(t, strings.Join(h.Unchecked, "\n"), "the report says more than is compared")
}
