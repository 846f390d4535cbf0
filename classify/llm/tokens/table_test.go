package tokens

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"math"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

var update = flag.Bool("update", false, "write the table of merges anew")

const table = "../internal/o200k/merges.gz"

// TestTable holds the table that the library counts with to the vocabulary of a tokenizer.
func TestTable(t *testing.T) {
	want := layout(t, vocabulary(t))
	if *update {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(table, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(table)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not the vocabulary; write it anew: go test -run TestTable -update", table)
	}
}

// vocabulary returns the tokens of o200k_base in order.
func vocabulary(t *testing.T) []string {
	t.Helper()
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	var tokens []string
	for {
		s, err := c.Decode([]uint{uint(len(tokens))})
		if err != nil { // no token has that number
			return tokens
		}
		tokens = append(tokens, s)
	}
}

// layout is the table of merges: the bytes, then the two tokens that each other token is made of, by columns.
func layout(t *testing.T, tokens []string) []byte {
	t.Helper()
	numbers := make(map[string]int, len(tokens))
	for i, s := range tokens {
		numbers[s] = i
	}
	var single []byte
	var columns [6][]byte
	for i, s := range tokens {
		if i < 256 {
			if len(s) != 1 {
				t.Fatalf("token %d has %d bytes", i, len(s))
			}
			single = append(single, s[0])
			continue
		}
		left, right := halves(t, numbers, s, i)
		for c, b := range [6]int{left >> 16, left >> 8, left, right >> 16, right >> 8, right} {
			columns[c] = append(columns[c], byte(b))
		}
	}
	return append(single, bytes.Join(columns[:], nil)...)
}

// halves returns the two tokens that are left of a token when it is merged by those before it.
func halves(t *testing.T, numbers map[string]int, token string, number int) (left, right int) {
	t.Helper()
	var parts []string
	for i := range len(token) {
		parts = append(parts, token[i:i+1])
	}
	for len(parts) > 2 {
		lowest, at := math.MaxInt, 0
		for i := range len(parts) - 1 {
			if n, ok := numbers[parts[i]+parts[i+1]]; ok && n < number && n < lowest {
				lowest, at = n, i
			}
		}
		if lowest == math.MaxInt {
			t.Fatalf("token %d is not made of two", number)
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	return numbers[parts[0]], numbers[parts[1]]
}
