package classify

import (
	"bytes"
	"context"
	"testing"
)

// BenchmarkClassify judges every shipped case. x/ToLower is the cost as a multiple of lower-casing the same texts once.
//
//	go test ./classify -run '^$' -bench Classify -benchmem -count 5
func BenchmarkClassify(b *testing.B) {
	h := newHeuristic(b)
	cases := loadCases(b, "cases/*.jsonl")
	var total int64
	for _, c := range cases {
		total += int64(len(c.Input.Text))
	}
	b.SetBytes(total)
	b.ReportAllocs()
	var lower, judged float64
	for b.Loop() {
		start := b.Elapsed()
		for _, c := range cases {
			bytes.ToLower([]byte(c.Input.Text))
		}
		middle := b.Elapsed()
		for _, c := range cases {
			if _, err := h.Classify(context.Background(), c.Input); err != nil {
				b.Fatal(err)
			}
		}
		lower += float64(middle - start)
		judged += float64(b.Elapsed() - middle)
	}
	b.ReportMetric(judged/lower, "x/ToLower")
	b.ReportMetric(judged/float64(b.N)/float64(len(cases)), "ns/case")
}
