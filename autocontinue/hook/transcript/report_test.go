package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReports(t *testing.T) {
	for name, tt := range map[string]struct {
		output string
		want   report
	}{
		"nothing":            {"", report{}},
		"prose":              {"Compiling shop v0.1.0\nFinished in 3 seconds", report{}},
		"go":                 {"ok  \tshop/auth\t0.412s\n?   \tshop/cmd\t[no test files]", report{passed: true}},
		"go cached":          {"ok  \tshop/auth\t(cached)", report{passed: true}},
		"go failed":          {"--- FAIL: TestA (0.00s)\n    a_test.go:3: no\nFAIL\nFAIL\tshop/auth\t0.2s\nok  \tshop/cart\t0.1s", report{passed: true, failed: true}},
		"go does not build":  {"FAIL\tshop/auth [build failed]", report{failed: true}},
		"go nothing to run":  {"testing: warning: no tests to run\nPASS\nok  \tshop/auth\t0.1s [no tests to run]", report{empty: true}},
		"go no files":        {"?   \tshop\t[no test files]", report{empty: true}},
		"go verbose":         {"=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tshop\t0.1s", report{passed: true}},
		"pytest":             {"==== 42 passed, 1 skipped in 3.21s ====", report{passed: true}},
		"pytest failed":      {"FAILED tests/a.py::test_a - assert 1 == 2\n=== 1 failed, 41 passed, 2 warnings in 3.21s ===", report{passed: true, failed: true}},
		"pytest errors":      {"=== 3 passed, 1 error in 0.5s ===", report{passed: true, failed: true}},
		"pytest nothing":     {"collected 0 items\n\n=== no tests ran in 0.01s ===", report{empty: true}},
		"pytest verbose":     {"tests/a.py::test_reports_2_errors PASSED [ 50%]\n1 passed in 0.1s", report{passed: true}},
		"jest":               {"PASS src/a.test.js\nTest Suites: 1 passed, 1 total\nTests:       12 passed, 12 total", report{passed: true}},
		"jest failed":        {"Tests:       1 failed, 11 passed, 12 total", report{passed: true, failed: true}},
		"jest names a count": {"  ✓ retries 3 failed jobs (5 ms)\nTests: 1 passed, 1 total", report{passed: true}},
		"jest nothing":       {"No tests found, exiting with code 0", report{empty: true}},
		"vitest":             {" Test Files  3 passed (3)\n      Tests  40 passed (40)", report{passed: true}},
		"vitest failed":      {" Test Files  1 failed | 2 passed (3)", report{passed: true, failed: true}},
		"coloured":           {"\x1b[1mTests:\x1b[22m  \x1b[31m1 failed\x1b[39m, \x1b[32m2 passed\x1b[39m", report{passed: true, failed: true}},
		"mocha":              {"  12 passing (45ms)\n  1 pending", report{passed: true}},
		"mocha failed":       {"  12 passing (45ms)\n  1 failing", report{passed: true, failed: true}},
		"cargo":              {"test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", report{passed: true}},
		"cargo failed":       {"test result: FAILED. 11 passed; 1 failed; 0 ignored", report{passed: true, failed: true}},
		"unittest":           {"Ran 12 tests in 0.010s\n\nOK", report{passed: true}},
		"unittest failed":    {"Ran 12 tests in 0.010s\n\nFAILED (failures=1, errors=2)", report{failed: true}},
		"unittest nothing":   {"Ran 0 tests in 0.000s\n\nOK", report{empty: true}},
		"phpunit":            {"OK (12 tests, 30 assertions)", report{passed: true}},
		"phpunit failed":     {"FAILURES!\nTests: 12, Assertions: 30, Failures: 1.", report{failed: true}},
		"rspec":              {"12 examples, 0 failures", report{passed: true}},
		"rspec failed":       {"12 examples, 1 failure, 2 pending", report{failed: true}},
		"rspec nothing":      {"0 examples, 0 failures", report{}},
		"maven":              {"[INFO] Tests run: 12, Failures: 0, Errors: 0, Skipped: 0", report{passed: true}},
		"maven failed":       {"[ERROR] Tests run: 12, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in com.shop.LoginTest", report{failed: true}},
		"gradle failed":      {"12 tests completed, 1 failed", report{failed: true}},
		"dotnet":             {"Passed!  - Failed:     0, Passed:    12, Skipped:     0, Total:    12, Duration: 42 ms", report{passed: true}},
		"dotnet failed":      {"Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12", report{passed: true, failed: true}},
		"ctest":              {"100% tests passed, 0 tests failed out of 12", report{passed: true}},
		"ctest failed":       {"92% tests passed, 1 tests failed out of 12", report{failed: true}},
		"tap":                {"TAP version 14\nok 1 - a\nok 2 - returns 2 errors\n# pass 2\n# fail 0", report{passed: true}},
		"tap failed":         {"ok 1 - a\nnot ok 2 - b", report{passed: true, failed: true}},
		"node":               {"ℹ tests 12\nℹ pass 11\nℹ fail 1", report{passed: true, failed: true}},
		"bun":                {" 12 pass\n 0 fail\n", report{passed: true}},
		"deno":               {"ok | 12 passed | 0 failed (1s)", report{passed: true}},
		"swift":              {"Executed 5 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds", report{passed: true}},
		"swift failed":       {"Executed 5 tests, with 1 failure (0 unexpected) in 0.1 (0.1) seconds", report{failed: true}},
		"mix":                {"12 tests, 0 failures", report{passed: true}},
		"a sentence":         {"The 3 failed logins were replayed against the old server before the new one was started again", report{}},
		"carriage returns":   {"12 passed in 1s\r\n", report{passed: true}},
		"the end of a lot":   {strings.Repeat("line of a log\n", 20_000) + "1 failed, 2 passed", report{passed: true, failed: true}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tt.want, readReport(tt.output)) })
	}
}

// Colours and the lines of another system change nothing, and what counts no failure does not fail for being longer.
func FuzzReport(f *testing.F) {
	for _, s := range []string{"ok  \tshop\t0.1s", "1 failed, 2 passed", "OK", "# fail 1", "Failures: 2", "Ran 0 tests in 0s"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := readReport(s)
		if len(s) > maxOutput/2 || strings.ContainsAny(s, "\x1b\r") {
			return
		}
		require.Equal(t, r, readReport(strings.ReplaceAll(s, "\n", "\r\n")))
		require.Equal(t, r, readReport("a line of a log\n"+s))
		if !strings.HasSuffix(s, "\n") {
			s += "\n"
		}
		require.True(t, readReport(s+"--- FAIL: TestA (0.00s)\n").failed)
	})
}
