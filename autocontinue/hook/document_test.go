package hook

import (
	"bufio"
	"bytes"
	"encoding/json"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// FuzzDocument: the messages of an object are those that encoding/json finds, however few bytes come at once, and where each
// begins and ends is told.
func FuzzDocument(f *testing.F) {
	for _, messages := range []string{
		`[]`, ` [ ] `, `[{"id":"1"}]`, "[\r\n\t{\"a\": [1, {\"b\": \"]}\\\"\\\\\"}]},\n{}]", `[1,null,"x",[[]],-1e5]`, `["é","é\\",{"x":"\\\""}]`, `[{"a":"]"},`, `[{]}]`, "[\"\n\"]",
	} {
		f.Add([]byte(messages))
	}
	f.Fuzz(func(t *testing.T, messages []byte) {
		data := append(append([]byte("{\n\"sessionId\":\"g1\", \"messages\":"), messages...), `, "summary": {"messages": [1]}}`...)
		var got [][]byte
		read := func(in *bufio.Reader) *document {
			got = nil
			d := newDocument(bytes.NewReader(data), int64(len(data)), &lines{})
			if in != nil {
				d.in = in
			}
			for d.scan() {
				require.Equal(t, string(data[d.at:d.next]), string(d.text))
				require.Equal(t, bytes.Count(data[:d.next], []byte("\n"))+1, d.no)
				require.LessOrEqual(t, d.first, d.last)
				got = append(got, bytes.Clone(d.text))
			}
			return d
		}
		d := read(nil)
		all, fault, cut := got, d.fault, d.cut
		again := read(bufio.NewReaderSize(iotest.OneByteReader(bytes.NewReader(data)), 16))
		require.Equal(t, all, got)
		require.Equal(t, fault, again.fault)
		require.Equal(t, cut, again.cut)

		var want []json.RawMessage
		if json.Unmarshal(messages, &want) != nil || want == nil {
			return
		}
		require.Empty(t, fault)
		require.False(t, cut)
		require.Equal(t, int64(len(data)), d.pos)
		require.Len(t, all, len(want))
		for i := range want {
			require.Equal(t, string(want[i]), string(all[i]))
		}
	})
}
