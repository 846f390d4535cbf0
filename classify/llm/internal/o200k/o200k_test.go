package o200k

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCount has what a tokenizer counts; the module classify/llm/tokens compares the two on far more.
func TestCount(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "x": 1, "hello": 1, "hello world": 2, "All tests pass.": 4, "Prüfung": 3, "тесты": 3, "测试": 1, "龘": 2,
		"12345": 2, "\n": 1, "\r\n": 1, "=====": 1, "\t\t\tx": 2, "<|endoftext|>": 7,
		strings.Repeat("é", 2400): 2400, strings.Repeat(" ", 3): 1,
	} {
		assert.Equal(t, want, Count(text), "%.40q", text)
	}
}

func TestPieces(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                     nil,
		"It's done, isn't IT'S?":               {"It's", " done", ",", " isn't", " IT'S", "?"},
		"camelCase ABCdef":                     {"camel", "Case", " ABCdef"},
		"a  b":                                 {"a", " ", " b"},
		"a   ":                                 {"a", "   "},
		"x\n\n\ty":                             {"x", "\n\n", "\ty"},
		"x \n \n  y":                           {"x", " \n", " \n", " ", " y"},
		"1234567":                              {"123", "456", "7"},
		"a//\n/b":                              {"a", "//\n/", "b"},
		"(_x-y)":                               {"(_", "x", "-y", ")"},
		"\u00a0\u00a0x":                        {"\u00a0", "\u00a0x"},
		"e\u0301te\u0301":                      {"e\u0301te\u0301"},
		"\u3000\u3000\u30c6\u30b9\u30c8\u3002": {"\u3000", "\u3000\u30c6\u30b9\u30c8", "\u3002"},
		"a\xffb":                               {"a", "\xffb"},
	} {
		assert.Equal(t, want, slices.Collect(pieces(text)), "%q", text)
	}
}

// TestLongPieces: the time that a piece takes does not grow with the square of its length.
func TestLongPieces(t *testing.T) {
	assert.Equal(t, 1<<17/64, Count(strings.Repeat("=", 1<<17)))
	assert.Less(t, Count(strings.Repeat("ab", 1<<16)), 1<<17)
}

func TestBrokenTables(t *testing.T) {
	_, err := unpack([]byte("no table"))
	assert.Error(t, err)
	_, err = unpack(packed[:len(packed)/2])
	assert.Error(t, err)
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(make([]byte, 256+7))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = unpack(b.Bytes())
	assert.EqualError(t, err, "o200k: a table of 263 bytes is not whole")
}

func FuzzPieces(f *testing.F) {
	f.Add("It's 12345 done.\r\n\t ok //\n")
	f.Add("\xff\u00a0 日本")
	f.Fuzz(func(t *testing.T, text string) {
		all := slices.Collect(pieces(text))
		if strings.Join(all, "") != text || slices.Contains(all, "") {
			t.Fatalf("%q: %q", text, all)
		}
		if n := Count(text); n > len(text) || n < len(all) || utf8.RuneCountInString(text) > 128*n {
			t.Fatalf("%q: %d tokens in %d pieces", text, n, len(all))
		}
	})
}

func BenchmarkCount(b *testing.B) {
	text := strings.Repeat("I moved the reader behind an interface, so that both tables answer the same way.\n", 50)
	Count(text)
	for b.Loop() {
		Count(text)
	}
}

func ExampleCount() {
	fmt.Println(Count("All tests pass."))
	// Output: 4
}
