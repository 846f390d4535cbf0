package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each output of reports.txt says this of tests.
func TestReports(t *testing.T) {
	for _, x := range examplesOf(t, "reports.txt") {
		want := report{
			passed: strings.Contains(x.want, "passed"), failed: strings.Contains(x.want, "failed"), empty: x.want == "empty",
		}
		require.Equal(t, want, readReport(strings.Join(x.lines, "\n")), x.name)
	}
	long := strings.Repeat("line of a log\n", 20_000) + "1 failed, 2 passed"
	require.Equal(t, report{passed: true, failed: true}, readReport(long))
}

// Colours and the lines of another system change nothing, and what counts no failure does not fail for being longer.
func FuzzReport(f *testing.F) {
	for _, s := range []string{"ok  \tshop\t0.1s", "1 failed, 2 passed", "OK", "# fail 1", "Failures: 2",
		"Ran 0 tests in 0s"} {
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
