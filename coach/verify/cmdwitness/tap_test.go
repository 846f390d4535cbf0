package cmdwitness

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var tapReports = []struct {
	name, text string
	want       Counts
}{
	{"plan first", "TAP version 13\n1..3\nok 1 - opens\nnot ok 2 - writes\nok 3\n", Counts{Passed: 2, Failed: 1, Failures: []string{"writes"}}},
	{"plan last", "ok\nok 2 closes\n# a comment\n1..2\n", Counts{Passed: 2}},
	{"no numbers", "1..3\nok\nnot ok\nok - last", Counts{Passed: 2, Failed: 1, Failures: []string{"test 2"}}},
	{"numbers in disorder", "1..3\nok 3\nok 1\nok 2\n", Counts{Passed: 3}},
	{"directives", "1..6\nok 1 # SKIP no network\nnot ok 2 - later # TODO write it\nok 3 # todo\nnot ok 4 # skip\nok 5 # Skipped: slow\nok 6 - issue #7\n", Counts{Passed: 1, Skipped: 5}},
	{"words that look like directives", "1..4\nnot ok 1 - handles \\# TODO\nnot ok 2 TODO\nnot ok 3 - # todos\nnot ok 4 \\\\# TODO\n",
		Counts{Failed: 3, Skipped: 1, Failures: []string{"handles \\# TODO", "TODO", "# todos"}}},
	{"skipped as a whole", "1..0 # SKIP not on this system\n", Counts{}},
	{"nothing to do", "1..0\n", Counts{}},
	{"subtests", "TAP version 14\n1..2\n# Subtest: a\n    ok 1 - x\n    not ok 2 - y\n    1..2\nnot ok 1 - a\nok 2 - b\n", Counts{Passed: 1, Failed: 1, Failures: []string{"a"}}},
	{"YAML", "1..1\nnot ok 1 - a\n  ---\n  message: \"no\"\n  found:\n    ok 7\n  ...\n", Counts{Failed: 1, Failures: []string{"a"}}},
	{"noise", "compiling\nokay then\nnot okay\n1..1\nok 1\nwarning: 1..5 is a range\n", Counts{Passed: 1}},

	{"too few", "1..3\nok 1\nok 2\n", Counts{Passed: 2, Broken: "the plan is for 3 tests, and there are 2"}},
	{"too many", "1..1\nok 1\nok 2\n", Counts{Passed: 2, Broken: "the plan is for 1 tests, and there are 2"}},
	{"no plan", "ok 1\nok 2\n", Counts{Passed: 2, Broken: "it has no plan"}},
	{"nothing", "", Counts{Broken: "it has no plan"}},
	{"two plans", "1..1\nok 1\n1..1\n", Counts{Passed: 1, Broken: "line 3 is a second plan"}},
	{"plan in the middle", "ok 1\n1..2\nok 2\n", Counts{Passed: 2, Broken: "line 3 is a test after the plan that ends the report"}},
	{"twice", "1..2\nok 1\nok 1\n", Counts{Passed: 2, Broken: "line 3 is test 1 once more"}},
	{"outside the plan", "1..2\nok 1\nok 7\n", Counts{Passed: 2, Broken: "test 7 is not in the plan"}},
	{"number 0", "1..1\nok 0\n", Counts{Passed: 1, Broken: "the test in line 2 has an impossible number"}},
	{"huge number", "1..1\nok 99999999999999999999\n", Counts{Passed: 1, Broken: "the test in line 2 has an impossible number"}},
	{"huge plan", "1..99999999999999999999\nok 1\n", Counts{Passed: 1, Broken: "the plan in line 1 is for more than 200000 tests"}},
	{"bails out", "1..2\nok 1\nBail out! The database is gone\nok 2\n", Counts{Passed: 1, Broken: "it bailed out"}},
	{"bails out late", "1..1\nok 1\nbail out!\n", Counts{Passed: 1, Broken: "it bailed out"}},
	{"long line", "1..1\nok 1\n#" + strings.Repeat("x", 64<<10) + "\n", Counts{Passed: 1, Broken: "line 3 is longer than 64 KiB"}},
}

func TestReadTAP(t *testing.T) {
	for _, tt := range tapReports {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{tt.text, strings.ReplaceAll(tt.text, "\n", "\r\n"), "\ufeff" + tt.text} {
				got, err := ReadTAP(strings.NewReader(text))
				require.NoError(t, err)
				assert.Equal(t, tt.want, got)
			}
		})
	}
	_, err := ReadTAP(iotest.ErrReader(errors.New("gone")))
	assert.EqualError(t, err, "cmdwitness: TAP report: gone")
}

func TestTAPFloodIsBounded(t *testing.T) {
	tap := NewTAP()
	line := []byte(strings.Repeat("ok\n", 10_000))
	for range 30 {
		_, err := tap.Write(line)
		require.NoError(t, err)
	}
	got := tap.Counts()
	assert.Equal(t, "there are more than 200000 tests", got.Broken)
	assert.Equal(t, maxTests, got.Passed)
}

// However the report is cut into writes, the answer is the same; it counts the lines that are tests, and a report that
// is taken at its word has as many tests as its plan says.
func FuzzTAP(f *testing.F) {
	for _, tt := range tapReports {
		f.Add(tt.text, 3)
	}
	test := regexp.MustCompile(`^(not )?ok([ \t].*)?$`)
	f.Fuzz(func(t *testing.T, text string, step int) {
		if step < 1 {
			t.Skip("nothing would be written")
		}
		tap := NewTAP()
		for rest := text; rest != ""; {
			n := min(step, len(rest))
			_, _ = tap.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := tap.Counts()
		whole, err := ReadTAP(strings.NewReader(text))
		require.NoError(t, err)
		require.Equal(t, whole, got)
		if got.Broken != "" {
			return
		}
		lines, plan := 0, -1
		for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
			line = strings.TrimRight(line, " \t\r")
			if test.MatchString(line) {
				lines++
			}
			if m := tapPlan().FindStringSubmatch(line); m != nil {
				require.Equal(t, -1, plan)
				plan, err = strconv.Atoi(m[1])
				require.NoError(t, err)
			}
		}
		require.Equal(t, lines, got.Total())
		require.Equal(t, lines, plan)
	})
}
