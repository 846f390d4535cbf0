package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// report2kB is an output of 2 kB that is continued with a message, the longest way through the program.
var report2kB = "The importer keeps the column order now, and the callers pass it on.\n\n" +
	strings.Repeat("- changed a call in importer.go:120 so that the order of the header is kept\n", 24) +
	"\nThe whole suite should be green with that. Done.\n"

// BenchmarkProcess runs the program on an output of 2 kB, and in turn a program that only reads it. x/reader is the ratio of
// the medians.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	build := func(name, source string) string {
		bin := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			bin += ".exe"
		}
		if out, err := exec.Command("go", "build", "-o", bin, source).CombinedOutput(); err != nil {
			b.Fatalf("go build %s: %v\n%s", source, err, out)
		}
		return bin
	}
	programs := []string{build("sidecoach", "."), build("reader", "./testdata/reader/reader.go")}
	input := filepath.Join(dir, "output.txt")
	require.NoError(b, os.WriteFile(input, []byte(report2kB), 0o666))
	took := make([][]time.Duration, len(programs))
	for b.Loop() {
		for i, program := range programs {
			f, err := os.Open(input)
			require.NoError(b, err)
			cmd := exec.Command(program)
			cmd.Stdin = f
			start := time.Now()
			err = cmd.Run()
			took[i] = append(took[i], time.Since(start))
			require.NoError(b, err)
			require.NoError(b, f.Close())
		}
	}
	median := func(ds []time.Duration) float64 {
		slices.Sort(ds)
		return float64(ds[len(ds)/2])
	}
	b.ReportMetric(median(took[0])/1e6, "ms/sidecoach")
	b.ReportMetric(median(took[1])/1e6, "ms/reader")
	b.ReportMetric(median(took[0])/median(took[1]), "x/reader")
	b.ReportMetric(0, "ns/op") // it is both programs
}

// What a program that links everything does before main is little: what is large is made when it is first needed.
func TestPackagesStartWithLittle(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Run())
	// init example.com/pkg @1.2 ms, 0.5 ms clock, 1024 bytes, 7 allocs
	line := regexp.MustCompile(`^init (` + regexp.QuoteMeta(module) + `/\S+) @.* (\d+) allocs$`)
	found := 0
	for s := bufio.NewScanner(&stderr); s.Scan(); {
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		found++
		allocs, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		assert.Less(t, allocs, 100, m[1])
	}
	assert.NotZero(t, found, "%.500s", stderr.String())
}
