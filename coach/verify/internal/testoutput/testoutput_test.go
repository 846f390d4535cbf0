package testoutput

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, output            string
		passed, failed, skipped int
		failures                []string
		broken                  string
	}{
		{"vitest, nested TAP", `
TAP version 13
1..2
not ok 1 - vt/a.test.js # time=7.22ms {
    1..1
    not ok 1 - sum # time=6.56ms {
        1..4
        ok 1 - adds # time=1.39ms
        not ok 2 - fails # time=4.75ms
            ---
            actual: "1"
            ...
        ok 3 - later # SKIP
        ok 4 - never # TODO
    }
}
ok 2 - vt/b.test.js # time=2.41ms {
    1..1
    ok 1 - top # time=1.37ms
}
`, 2, 1, 2, []string{"fails"}, ""},
		{"node, subtests before their test", `
> slugs@1.4.0 test
> node --test

TAP version 13
# Subtest: slug
    # Subtest: lowers the case
    ok 1 - lowers the case
      ---
      duration_ms: 0.9
      ...
    # Subtest: joins words
    not ok 2 - joins words
    1..2
not ok 1 - slug
  ---
  type: 'suite'
  ...
# Subtest: legacy
ok 2 - legacy
1..2
# tests 3
# suites 1
# pass 2
# fail 1
`, 2, 1, 0, []string{"joins words"}, ""},
		{"a group that fails by " +
			"itself", "TAP version 14\n    ok 1 - one\n    1..1\nnot ok 1 - after hook\n1..1\n", 1, 1, 0,
			[]string{"after hook"}, ""},
		{"a file without tests", "TAP version 13\nok 1 - /home/u/p/empty.test.js\n1..1\n", 0, 0, 0, nil, ""},
		{"bats", "1..3\nok 1 adds\nnot ok 2 subtracts\nok 3 divides # skip no " +
			"bc\n", 1, 1, 1, []string{"subtracts"}, ""},
		{"a plan that is not kept", "1..3\nok 1 adds\n", 1, 0, 0, nil, "the plan is for 3 tests, and there are 1"},
		{"bail out", "1..3\nok 1 adds\nBail out! no disk\n", 1, 0, 0, nil, "it bailed out"},
		{"node, spec", "✔ a (5.8ms)\n▶ slug\n  ✖ joins words (0.1ms)\n▶ slug (3ms)\nℹ tests 3\nℹ suites 1\nℹ pass " +
			"1\nℹ " +
			"fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 0\nℹ duration_ms 84\n\n✖ failing tests:\n\n✖ joins words " +
			"(0.1ms)\n",
			1, 1, 1, []string{"joins words"}, ""},
		{"vitest", "\x1b[31m FAIL \x1b[0m vt/a.test.js > sum > fails\n\n Test Files  1 failed |" +
			" 1 passed (2)\n      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)\n",
			2, 1, 2, []string{"vt/a.test.js > sum > fails"}, ""},
		{"vitest, no test", "No test files found, exiting with code 1\n", 0, 0, 0, nil, ""},
		{"jest", "  ● sum › fails\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 1 skipped, 1 todo, 3 " +
			"passed, " +
			"6 total\n", 3, 1, 2, []string{"sum › fails"}, ""},
		{"mocha", "  sum\n    ✔ adds\n    1) fails\n\n  1 passing (6ms)\n  2 pending\n  1 failing\n\n  1) sum\n   " +
			"    " +
			"fails:\n\n      AssertionError\n", 1, 1, 2, []string{"sum fails"}, ""},
		{"pytest", "FAILED tests/test_a.py::test_bad - assert 1 == 2\nERROR tests/test_a.py::test_e\n========= 1 " +
			"failed, " +
			"3 passed, 1 skipped, 1 xfailed, 2 warnings, 1 error in 0.12s =========\n",
			3, 2, 2, []string{"tests/test_a.py::test_bad", "tests/test_a.py::test_e"}, ""},
		{"pytest, quiet", "...\n3 passed in 0.01s\n", 3, 0, 0, nil, ""},
		{"pytest, no test", "\n==== no tests ran in 0.00s ====\n", 0, 0, 0, nil, ""},
		{"pytest, none chosen", "4 deselected in 0.01s\n", 0, 0, 0, nil, ""},
		{"unittest", "FAIL: test_x (tests.test_a.CTest.test_x)\n------\nRan 6 tests in 0.001s\n\nFAILED (failures=1, " +
			"errors=1, skipped=1, expected failures=1)\n", 2, 2, 2, []string{"test_x (tests.test_a.CTest.test_x)"}, ""},
		{"unittest, no test", "\n-----\nRan 0 tests in 0.000s\n\nOK\n", 0, 0, 0, nil, ""},
		{"unittest, no test, since 3.12", "\n-----\nRan 0 tests in 0.000s\n\nNO TESTS RAN\n", 0, 0, 0, nil, ""},
		{"cargo", "test tests::boils ... ok\ntest tests::freezes ... FAILED\n\ntest result: FAILED. 1 passed; 1 " +
			"failed; 0 " +
			"ignored; 0 measured\n\ntest slow ... ignored\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 " +
			"measured\n",
			3, 1, 1, []string{"tests::freezes"}, ""},
		{"maven", "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A\n[ERROR]   " +
			"BTest.adds:12 expected: <1>\n[INFO] Results:\n[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: " +
			"1\n", 2, 2, 1,
			[]string{"BTest.adds"}, ""},
		{"gradle", "CalcTest > adds() FAILED\n\n5 tests completed, 1 failed, 1 skipped\n", 3, 1, 1,
			[]string{"CalcTest > adds()"}, ""},
		{"rspec", "5 examples, 1 failure, 1 pending\n\nrspec ./spec/a_spec.rb:3 # adds\n", 3, 1, 1,
			[]string{"./spec/a_spec.rb:3"}, ""},
		{"dotnet", "Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6\n", 5, 0, 1, nil, ""},
		{"phpunit", "Tests: 5, Assertions: 7, Failures: 1.\n", 4, 1, 0, nil, ""},
		{"phpunit, fine", "OK (5 tests, 7 assertions)\n", 5, 0, 0, nil, ""},
		{"go test -v", "=== RUN   TestA\n    --- PASS: TestA/x (0.00s)\n--- PASS: TestA (0.00s)\n--- SKIP: TestB " +
			"(0.00s)\n" +
			"    --- FAIL: TestC/y (0.00s)\n--- FAIL: TestC " +
			"(0.00s)\nFAIL\n", 1, 1, 1, []string{"TestC/y", "TestC"}, ""},
		{"go test, no test", "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t0.002s [no tests to " +
			"run]\n", 0, 0, 0,
			nil, ""},
		{"a script of one's own", "ok - a\n4 passed, 1 failed\n", 4, 1, 0, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, ok := Read(strings.ReplaceAll(strings.TrimPrefix(tt.output, "\n"), "\n", "\r\n"))
			require.True(t, ok)
			require.Equal(t, []any{tt.passed, tt.failed, tt.skipped, tt.broken}, []any{c.Passed, c.Failed, c.Skipped, c.Broken})
			require.ElementsMatch(t, tt.failures, c.Failures)
		})
	}
	for name, output := range map[string]string{
		"nothing": "", "words": "all good\nok\n",
		"go test without -v":    "ok  \texample.com/a\t0.002s\n?   \texample.com/b\t[no test files]\n",
		"not ok without a plan": "not ok - a\n",
	} {
		_, ok := Read(output)
		require.False(t, ok, name)
	}
}

func TestJUnit(t *testing.T) {
	for _, tt := range []struct {
		name, report            string
		passed, failed, skipped int
		broken, err             string
	}{
		{name: "nested suites", passed: 2, failed: 2, skipped: 2,
			report: `<?xml version="1.0"?><testsuites tests="6" failures="1" errors="1">
<testsuite name="a" tests="4"><testcase classname="A" name="x"/><testcase name="y"><failure/></testcase>
<testsuite><testcase name="z"><skipped/></testcase><testcase name="e"><error/></testcase></testsuite></testsuite>
<testsuite><testcase name="v"/><testcase name="w" status="notrun"/></testsuite></testsuites>`},
		{name: "no tests", report: `<testsuites/>`},
		{name: "a case without a " +
			"name", report: `<testsuite><testcase/></testsuite>`, broken: "a test case has no name"},
		{name: "promises more", passed: 1, report: `<testsuite tests="3"><testcase name="a"/></testsuite>`,
			broken: "a suite says that it has 3 tests, and holds 1"},
		{name: "hides failures", passed: 1, report: `<testsuite failures="1"><testcase name="a"/></testsuite>`,
			broken: "a suite says that tests failed, and shows none"},
		{name: "fails as a whole", report: `<testsuite><error/></testsuite>`,
			broken: "a suite has failed outside its test cases"},
		{name: "cut off", report: `<testsuite><testcase name="a"/>`, err: "cannot be read"},
		{name: "not XML", report: `Tests passed`, err: "cannot be read"},
		{name: "something else", report: `<html/>`, err: "not a JUnit report"},
		{name: "another encoding", report: `<?xml version="1.0" encoding="latin1"?><testsuite/>`, err: "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c Counts
			err := c.ReadJUnit(strings.NewReader(tt.report))
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, []any{tt.passed, tt.failed, tt.skipped, tt.broken}, []any{c.Passed, c.Failed, c.Skipped, c.Broken})
		})
	}
	err := new(Counts).ReadJUnit(strings.NewReader("<testsuite>" + strings.Repeat(" ", maxReport) + "</testsuite>"))
	require.ErrorContains(t, err, "larger than 16 MiB")
}

// A reader of TAP never counts more tests than there are lines that say ok.
func FuzzReadTAP(f *testing.F) {
	f.Add("TAP version 13\n1..1\nok 1 - a # time=1ms {\n    ok 1 - b\n}\n")
	f.Add("1..2\nok\nnot ok # TODO\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := runners()[0].tap(text)
		lines := 0
		for line := range strings.Lines(text) {
			if strings.Contains(line, "ok") || strings.Contains(line, "}") {
				lines++
			}
		}
		require.LessOrEqual(t, c.Total(), lines)
		require.GreaterOrEqual(t, c.Failed, len(c.Failures))
	})
}
