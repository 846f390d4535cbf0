package classify

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkClassify judges the shipped cases by the length of their texts. x/ToLower is the cost as a multiple of
// lower-casing the same texts once, in the same run, pass by pass in turn, the fastest pass of each.
//
//	go test ./classify -run '^$' -bench Classify -benchmem -count 5
func BenchmarkClassify(b *testing.B) {
	h := newHeuristic(b)
	cases := loadCases(b, "cases/*.jsonl")
	for _, size := range []struct {
		name      string
		from, end int // bytes
	}{{"below-200B", 0, 200}, {"200B-1kB", 200, 1000}, {"1kB-20kB", 1000, 20000}, {"200B-20kB", 200, 20000}} {
		b.Run(size.name, func(b *testing.B) {
			var some []Input
			var total int64
			for _, c := range cases {
				if n := len(c.Input.Text); n >= size.from && n < size.end {
					some = append(some, c.Input)
					total += int64(n)
				}
			}
			b.SetBytes(total)
			b.ReportAllocs()
			lower, judged := math.Inf(1), math.Inf(1) // of the fastest pass: what else the machine does makes none faster
			for b.Loop() {
				start := b.Elapsed()
				for _, in := range some {
					bytes.ToLower([]byte(in.Text))
				}
				middle := b.Elapsed()
				for _, in := range some {
					if _, err := h.Classify(context.Background(), in); err != nil {
						b.Fatal(err)
					}
				}
				lower = min(lower, float64(middle-start))
				judged = min(judged, float64(b.Elapsed()-middle))
			}
			b.ReportMetric(judged/lower, "x/ToLower")
			b.ReportMetric(judged/float64(len(some)), "ns/case")
		})
	}
}

// BenchmarkTables is what a process pays once, when it judges the first text of a script: reading the compiled tables. text is
// reading those of a host, which are text.
func BenchmarkTables(b *testing.B) {
	fsys, err := fs.Sub(embedded, "lexicon")
	require.NoError(b, err)
	for t, name := range tongueNames {
		for kind, read := range map[string]func(fs.FS, []string) *lexicons{"compiled": builtinLexicons, "text": newLexicons} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					names, _, err := tableFiles(fsys)
					require.NoError(b, err)
					_, err = read(fsys, names)[t]()
					require.NoError(b, err)
				}
			})
		}
	}
}
