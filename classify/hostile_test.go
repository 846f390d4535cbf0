package classify

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sweep says that tests run on all that there is, not on a part that is soon done.
var sweep = os.Getenv("SIDECOACH_ALL") != ""

// hostile texts are built to make a careless reader slow: each is n bytes long.
var hostile = map[string]func(n int) string{
	"one line":        repeat("which what can you which what "),
	"opening fences":  repeat("```\n"),
	"growing fences":  func(n int) string { return growing(n, '`') },
	"question marks":  repeat("?"),
	"backticks":       repeat("` `` ``` "),
	"ticks apart":     func(n int) string { return growing(n, '`') + strings.Repeat("x", 10) },
	"open quotes":     repeat(` "a`),
	"apostrophes":     repeat(" 'a"),
	"typographic":     repeat(" “a"),
	"no white space":  repeat("x"),
	"claims":          repeat("Fixed the parser, should work now. "),
	"idioms":          repeat("done callback error handling all done "),
	"gaps":            repeat("i don't have the the the the any "),
	"numbers":         repeat("12 of 12 "),
	"block quotes":    repeat("> "),
	"list markers":    repeat("- "),
	"hashes":          repeat("71d0c4e "),
	"links":           repeat("://a/pull/1 "),
	"invalid UTF-8":   repeat("\xff\xe2\x80 "),
	"NUL":             repeat("\x00"),
	"edit blocks":     repeat("<<<<<<<\n"),
	"carriage return": repeat("a\r"),
	"Chinese":         repeat("修复了登录"),
	"one character":   repeat("的"),
	"Chinese claims":  repeat("已全部完成，测试通过"),
	"Chinese counts":  repeat("3 个失败"),
	"kana, no word":   repeat("ヌル"),
	"Japanese":        repeat("修正しましたが、テストは実行していません。"),
	"Japanese counts": repeat("3 件のテストが"),
	"brackets":        repeat("【"),
	"corner brackets": repeat("「"),
	"nested corners":  repeat("『「の"),
	"full width":      repeat("１２件中３件 ＡＢ"),
	"one Cyrillic":    repeat("о"),
	"Cyrillic stem":   repeat("исправл"),
	"Cyrillic claims": repeat("ошибка не исправлено ещё "),
	"full stops":      repeat("т. е. "),
	"German":          repeat("Ich habe die Weiterleitung im Login korrigiert und "),
	"file names":      repeat("文件a.go，a.b"),
	"dots":            repeat("."),
	"mixed scripts":   repeat("Fixed 修复了 исправил ログイン \"a “b „c «d ‘e 「f 『g ' `h "),
	"mixed lines":     repeat("Готово.\n完成。\nfertig\nできました\nlisto\n"),
	"combining marks": repeat("e\u0301o\u0308 "),
	"closing marks":   repeat("” “ » « ’ ‘ 」 「 "),
	"escapes":         repeat("\x1b[31mFixed\x1b[0m \x1b]0;"),
	"wrapped": func(n int) string {
		return repeat("this line is longer than forty characters\n" + strings.Repeat("x\n", 8000))(n)
	},
	"wrapped, apart": func(n int) string {
		return repeat("this line is longer than forty characters\n" + strings.Repeat("x\n\n\n\n\n", 8000))(n)
	},
	"quotes, apart": func(n int) string {
		return repeat(strings.Repeat(" 'a", 200) + "\n" + strings.Repeat(" ", 60000) + "\n")(n)
	},
	"white space":     func(n int) string { return strings.Repeat(" ", n-1) + "x" },
	"edit marks":      func(n int) string { return "<<<<<<< a\n" + strings.Repeat(">", n-10) },
	"links, one word": repeat("://a.b/pull/1)"),
}

func repeat(s string) func(int) string {
	return func(n int) string { return strings.Repeat(s, n/len(s)+1)[:n] }
}

// growing is runs of c of growing length, none of which has a partner.
func growing(n int, c byte) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		b.WriteString(strings.Repeat(string(c), i))
		b.WriteByte(' ')
	}
	return b.String()[:n]
}

// A verdict on a hostile text is a valid one, and takes hardly more memory for a long text than for a few kB.
func TestHostileText(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	h := newHeuristic(t)
	l, err := h.languages()
	require.NoError(t, err)
	for _, read := range l.lexicons { // once, whatever the text
		_, err := read()
		require.NoError(t, err)
	}
	long, most := 100_000, uint64(5<<18)
	if sweep {
		long, most = 1<<20, 2<<20 // more than is read
	}
	for name, text := range hostile {
		s := text(long)
		r, used := allocated(t, h, Input{Text: s, Request: s[:long/4]}, most)
		assert.True(t, r.Type.Valid(), name)
		checkSpans(t, r, s)
		assert.Less(t, used, most, "%s allocates with its length", name)
	}
}

// allocated returns a verdict, and the bytes that it allocates when it finds the buffers of an earlier one. The race
// detector makes a pool lose some, so the least of a few tries counts, until it is less than most.
func allocated(t *testing.T, h *Heuristic, in Input, most uint64) (r Result, least uint64) {
	t.Helper()
	least = math.MaxUint64
	for tries := 0; tries < 4 && least >= most; tries++ {
		var before, after runtime.MemStats
		var err error
		runtime.ReadMemStats(&before)
		r, err = h.Classify(context.Background(), in)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return r, least
}

// BenchmarkHostile prints how much more 10 MB cost than 1 MB: 10 is linear.
func BenchmarkHostile(b *testing.B) {
	h := newHeuristic(b)
	for name, text := range hostile {
		small, large := text(1<<20), text(10<<20)
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			var base, full float64
			for b.Loop() {
				base += timed(b, h, small)
				full += timed(b, h, large)
			}
			b.ReportMetric(full/base, "x/1MB")
			b.ReportMetric(10<<20*float64(b.N)*1e3/full, "MB/s")
		})
	}
}

func timed(b *testing.B, h *Heuristic, text string) float64 {
	start := b.Elapsed()
	if _, err := h.Classify(context.Background(), Input{Text: text}); err != nil {
		b.Fatal(err)
	}
	return float64(b.Elapsed() - start)
}

func ExampleHeuristic_Classify() {
	h, err := NewHeuristic()
	if err != nil {
		panic(err)
	}
	text := "Fixed the login redirect, should work now."
	r, _ := h.Classify(context.Background(), Input{Text: text, Request: "fix the login redirect"})
	fmt.Println(r.Type, r.WasRejectedCompletion)
	for _, s := range r.Signals {
		fmt.Printf("%s %q\n", s.Kind, text[s.Start:s.End])
	}
	fmt.Println("missing:", r.Missing(nil))
	// Output:
	// status true
	// claim "Fixed the login redirect"
	// hedge "should work now"
	// missing: [test_output exit_code commit pull_request]
}
