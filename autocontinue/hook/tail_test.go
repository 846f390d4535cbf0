package hook

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// backwards returns what tail hands out, first line first, and where each line begins.
func backwards(r io.ReaderAt, size int64) (lines []string, at []int64, t *tail) {
	t = newTail(r, size, farReach)
	for {
		line, offset, ok := t.prev()
		if !ok {
			slices.Reverse(lines)
			slices.Reverse(at)
			return lines, at, t
		}
		lines, at = append(lines, string(line)), append(at, offset)
	}
}

func TestTailReadsAllLines(t *testing.T) {
	long := strings.Repeat("x", 3*tailRead)
	for name, text := range map[string]string{
		"one line":           "a",
		"ends with newline":  "a\nb\n",
		"half last line":     "a\nb\n{\"c",
		"empty lines":        "\n\na\n\n",
		"carriage returns":   "a\r\nb\r\n",
		"long lines":         "a\n" + long + "\nb\n" + long,
		"at the read's end":  strings.Repeat("y", tailRead-1) + "\n" + strings.Repeat("z", tailRead-1) + "\n",
		"at the read's edge": strings.Repeat("y", tailRead) + "\n" + strings.Repeat("z", tailRead),
		"one newline":        "\n",
	} {
		t.Run(name, func(t *testing.T) {
			lines, at, tl := backwards(strings.NewReader(text), int64(len(text)))
			var want []string
			for _, l := range strings.Split(text, "\n") {
				want = append(want, strings.TrimSuffix(l, "\r"))
			}
			require.Equal(t, want, lines)
			require.True(t, tl.whole())
			for i, line := range lines {
				require.True(t, strings.HasPrefix(text[at[i]:], line))
				require.True(t, at[i] == 0 || text[at[i]-1] == '\n')
			}
		})
	}
	lines, _, _ := backwards(strings.NewReader(""), 0)
	require.Empty(t, lines)
}

func TestTailLeavesLongLinesOut(t *testing.T) {
	huge := strings.Repeat("x", maxLine+1)
	for name, text := range map[string]string{
		"first":  huge + "\na\nb",
		"middle": "a\n" + huge + "\nb",
		"last":   "a\nb\n" + huge,
		"two":    huge + "\n" + huge + huge + "\na\nb\n",
	} {
		t.Run(name, func(t *testing.T) {
			lines, _, tl := backwards(strings.NewReader(text), int64(len(text)))
			require.Equal(t, []string{"a", "b"}, slices.DeleteFunc(lines, func(l string) bool { return l == "" }))
			require.Positive(t, tl.long)
			require.True(t, tl.whole())
		})
	}
}

// endless is a file of a size that no disk has, all of one line.
type endless struct {
	line []byte
	read int64
}

func (e *endless) ReadAt(p []byte, off int64) (int, error) {
	e.read += int64(len(p))
	for i := range p {
		p[i] = e.line[(off+int64(i))%int64(len(e.line))]
	}
	return len(p), nil
}

func TestTailIsBounded(t *testing.T) {
	const size = 1 << 50
	e := &endless{line: []byte(strings.Repeat("x", 99) + "\n")}
	lines, _, tl := backwards(e, size)
	require.Len(t, lines, maxLines)
	require.False(t, tl.whole())

	e = &endless{line: []byte(strings.Repeat("x", 9999) + "\n")}
	_, _, tl = backwards(e, size)
	require.False(t, tl.whole())
	require.LessOrEqual(t, e.read, int64(maxTail))

	e = &endless{line: []byte("x")} // no newline at all
	lines, _, tl = backwards(e, size)
	require.Empty(t, lines)
	require.False(t, tl.whole())
	require.LessOrEqual(t, e.read, int64(maxTail))
	require.LessOrEqual(t, cap(tl.buf), 4*maxLine)
}

// Reading back begins anew at each pause of a long session, and takes no memory for it.
func TestTailBeginsAnew(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 9999)+"\n", 100)
	r, tl := strings.NewReader(text), new(tail)
	read := func() (lines int) {
		tl.anew(r, int64(len(text)), farReach)
		for {
			if _, _, ok := tl.prev(); !ok {
				return lines
			}
			lines++
		}
	}
	require.Equal(t, 101, read())
	require.Zero(t, testing.AllocsPerRun(10, func() { require.Equal(t, 101, read()) }))
	require.Less(t, len(tl.room), 3*tailRead)
}

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) {
	return 0, &os.PathError{Op: "read", Path: "/home/ada/secret", Err: errors.New("broken disk")}
}

func TestTailReportsErrors(t *testing.T) {
	tr := look(broken{}, 100, claudeScript{}, project{}, isOurs)
	require.EqualError(t, tr.Err, "broken disk")
	require.False(t, tr.Read)

	tr = look(strings.NewReader("short"), 100, claudeScript{}, project{}, isOurs)
	require.ErrorIs(t, tr.Err, io.EOF, "it shrank meanwhile")
}

func FuzzTail(f *testing.F) {
	f.Add([]byte("a\nb\n"), uint16(3))
	f.Add([]byte("\n\n"), uint16(0))
	f.Fuzz(func(t *testing.T, data []byte, pad uint16) {
		text := append(bytes.Repeat([]byte("p"), int(pad)), data...)
		lines, _, tl := backwards(bytes.NewReader(text), int64(len(text)))
		if len(text) == 0 {
			require.Empty(t, lines)
			return
		}
		var want []string
		for _, l := range strings.Split(string(text), "\n") {
			want = append(want, strings.TrimSuffix(l, "\r"))
		}
		require.Equal(t, want, lines)
		require.True(t, tl.whole())

		tl.anew(bytes.NewReader(text), int64(len(text)), farReach) // over what it read before
		for i := len(want) - 1; i >= 0; i-- {
			line, _, ok := tl.prev()
			require.True(t, ok)
			require.Equal(t, want[i], string(line))
		}
	})
}
