// Package o200k counts the tokens of a text as o200k_base does, the tokenizer of OpenAI's models since GPT-4o.
//
// [Count] is all of it. The table of merges is that of tiktoken, see LICENSE beside it; it is written and held to an
// independent tokenizer by the tests of the module classify/llm/tokens.
//
// # Limits
//
// It counts and does not encode. Special tokens are text here, as they are for a server that gets them in a message.
// Other tokenizers count otherwise: about as many tokens for English and code, and the older ones more for other scripts
// than Latin, half as many again for Cyrillic and three times as many for Devanagari.
package o200k

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sync"
)

// Count returns the number of tokens of text, which is never more than its bytes. It takes about a microsecond a token, and once for all some 30 ms to unpack
// the table. It is safe for concurrent use.
func Count(text string) int {
	t, n := table(), 0
	for p := range pieces(text) {
		n += t.count(p)
	}
	return n
}

// packed is the table of merges: the 256 bytes in the order of their tokens, then, for each token made of two, the number
// of the first and that of the second, each in three bytes, the highest first. It is laid out by columns: the highest bytes
// of all first numbers, the second ones, the third ones, then the same of the second numbers. Tokens are numbered in the
// order in which a text is to be merged.
//
//go:embed merges.gz
var packed []byte

// merges is what a text is merged by.
type merges struct {
	single [256]uint32       // the token of each byte
	pairs  map[uint64]uint32 // of two neighbours the token they make
}

func pair(left, right uint32) uint64 { return uint64(left)<<32 | uint64(right) }

var table = sync.OnceValue(func() *merges {
	t, err := unpack(packed)
	if err != nil { // it is part of the program
		panic(err)
	}
	return t
})

func unpack(packed []byte) (*merges, error) {
	zr, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("o200k: %w", err)
	}
	raw, err := io.ReadAll(zr)
	if err != nil {
		return nil, fmt.Errorf("o200k: %w", err)
	}
	if len(raw) < 256 || (len(raw)-256)%6 != 0 {
		return nil, fmt.Errorf("o200k: a table of %d bytes is not whole", len(raw))
	}
	n := (len(raw) - 256) / 6
	t := &merges{pairs: make(map[uint64]uint32, n)}
	for i, b := range raw[:256] {
		t.single[b] = uint32(i)
	}
	column := func(c, i int) uint32 { return uint32(raw[256+c*n+i]) }
	for i := range n {
		left := column(0, i)<<16 | column(1, i)<<8 | column(2, i)
		right := column(3, i)<<16 | column(4, i)<<8 | column(5, i)
		t.pairs[pair(left, right)] = uint32(256 + i)
	}
	return t, nil
}
