package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

func asUTF16(text string, bom string, big bool) []byte {
	data := []byte(bom)
	for _, c := range utf16.Encode([]rune(text)) {
		if big {
			data = append(data, byte(c>>8), byte(c))
		} else {
			data = append(data, byte(c), byte(c>>8))
		}
	}
	return data
}

// What is no transcript is named, with what to do where something can be done.
func TestUnknownFormatsAreNamed(t *testing.T) {
	session := claudeHuman("Fix it — now.") + "\n" + claudeSays("m1", "Fixed, should work now.") + "\n"
	pretty := func(line string) string {
		var b bytes.Buffer
		require.NoError(t, json.Indent(&b, []byte(line), "", "  "))
		return b.String() + "\n"
	}
	first, second, _ := strings.Cut(strings.TrimSpace(session), "\n")
	for name, tt := range map[string]struct{ data, want string }{
		"UTF-16 LE with a mark":    {string(asUTF16(session, "\xff\xfe", false)), "it is UTF-16, "},
		"UTF-16 BE with a mark":    {string(asUTF16(session, "\xfe\xff", true)), "it is UTF-16, "},
		"UTF-16 LE":                {string(asUTF16(session, "", false)), "iconv -f UTF-16 -t UTF-8"},
		"UTF-16 BE":                {string(asUTF16(session, "", true)), "it is UTF-16, "},
		"UTF-32":                   {"\xff\xfe\x00\x00{\x00\x00\x00", "it is UTF-32"},
		"gzip":                     {"\x1f\x8b\x08\x00\x00", "gunzip"},
		"zstd":                     {"\x28\xb5\x2f\xfd\x04", "zstd"},
		"a ZIP that packs nothing": {"PK\x03\x04\x0a\x00\n" + session, "ZIP"},
		"SQLite":                   {"SQLite format 3\x00\x10\x00", "state.vscdb"},
		"PDF":                      {"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "it is a PDF"},
		"PNG":                      {"\x89PNG\r\n\x1a\n\x00\x00", "it is a picture"},
		"junk":                     {"\x7fELF\x02\x01\x01\x00\x00\n\xff\xfe\n", "it is no text"},
		"nothing":                  {"", "it is empty"},
		"white space":              {"\r\n\n \t\n", "it is blank"},
		"words":                    {"hello\nworld\n", "none of its first lines is one of a transcript"},
		"other JSON":               {"{\"a\":1}\n{\"b\":2}\n", "none of its first lines is one of a transcript"},
		"other JSON, spread":       {"{\n  \"a\": 1\n}\n", "none of its first lines is one of a transcript"},
		"an array":                 {"[" + first + "," + second + "]", "jq -c '.[]'"},
		"an array, spread":         {"[\n" + pretty(first) + ",\n" + pretty(second) + "]", "jq -c '.[]'"},
		"objects, spread":          {pretty(first) + pretty(second), "jq -c ."},
		"all on one line":          {first + second, "jq -c ."},
		"cut off in a rune":        {session[:strings.Index(session, "—")+1], "its first line is cut off"},
		"cut off in a string":      {session[:strings.Index(session, "now")], "its first line is cut off"},
		"messages of others":       {`{"messages":[{"role":"user","content":"hi"}]}`, "none of its first lines is one of a transcript"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := OpenTranscript(strings.NewReader(tt.data), int64(len(tt.data)), "x")
			require.ErrorIs(t, err, ErrFormat)
			require.ErrorContains(t, err, "unknown format: ")
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, _, err := replayed(t, []byte("\n\n"+session))
	require.NoError(t, err, "blank lines before it")

	long := `{"type":"user","x":"` + strings.Repeat("x", maxHead+1)
	_, err = OpenTranscript(strings.NewReader(long), int64(len(long)), "x")
	require.ErrorContains(t, err, "its first line is longer than 8 MiB")
}

// A session of Gemini CLI's that is one object, with a fault in it: what came before is read, and the fault has its line.
func TestFaultsOfOneObject(t *testing.T) {
	type message struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	session := struct {
		ID       string    `json:"sessionId"`
		Hash     string    `json:"projectHash"`
		Messages []message `json:"messages"`
	}{"g1", "h", []message{{"1", "user", "Fix it."}, {"2", "gemini", "Fixed, should work now."}, {"3", "user", "And the logout?"}, {"4", "gemini", "Done — 3 passed."}}}
	data := string(indented(t, session))
	line := string(jsonOf(t, session))
	cut := func(text, at string) string { return text[:strings.Index(text, at)] }
	for name, tt := range map[string]struct {
		data   string
		pauses int
		kind   error
		want   string
	}{
		"whole":                    {data, 2, nil, ""},
		"nothing in it":            {"{\n  \"sessionId\": \"g1\",\n  \"projectHash\": \"h\",\n  \"messages\": []\n}\n", 0, nil, ""},
		"two":                      {data + strings.ReplaceAll(data, "g1", "g2"), 4, nil, ""},
		"cut off in a message":     {cut(data, " passed"), 1, ErrTruncated, "line 23: truncated: the end of the session is cut off"},
		"cut off in a rune":        {cut(data, "—") + "\xe2\x80", 1, ErrTruncated, "line 23: "},
		"cut off between messages": {cut(data, "\n    {\n      \"id\": \"4\""), 1, ErrTruncated, "line 19: "},
		"cut off after the last":   {cut(data, "\n  ]"), 1, ErrTruncated, "line 24: "},
		"cut off, on one line":     {cut(line, " passed"), 1, ErrTruncated, "line 1: truncated: the end of the session is cut off"},
		"a string without an end":  {strings.Replace(data, "work now.\"", "work now.", 1), 0, ErrDamaged, "line 13: damaged: a string has no end"},
		"zero bytes after it":      {data + strings.Repeat("\x00", 100), 1, ErrDamaged, "line 27: damaged: what comes from here on is no JSON"},
		"words after it":           {data + "\nhello\n", 1, ErrDamaged, "line 28: damaged: what comes from here on belongs to no session"},
		"an object after it":       {data + "{\"a\":1}\n", 1, ErrDamaged, "line 27: damaged: the object that ends here has no messages"},
		"null in it":               {strings.Replace(data, "[\n", "[\n    null,\n", 1), 2, ErrDamaged, "line 5: damaged: it is no message of Gemini CLI"},
		"no beginning":             {data[2:], 0, ErrTruncated, "line 1: truncated: the beginning of the session is cut off"},
		"a message of others": {strings.Replace(data, "[\n", "[\n"+claudeHuman("Fix it.")+",\n", 1), 0, ErrInterleaved,
			"line 5: interleaved: it is one of Claude Code, among those of Gemini CLI"},
	} {
		t.Run(name, func(t *testing.T) {
			moments, account, err := replayed(t, []byte(tt.data))
			require.Len(t, moments, tt.pauses)
			if tt.kind == nil {
				require.NoError(t, err)
				require.Equal(t, int64(len(tt.data)), account.Bytes)
				require.Equal(t, strings.Count(tt.data, "\n")+1, account.Lines)
				return
			}
			require.ErrorIs(t, err, tt.kind)
			require.ErrorContains(t, err, tt.want)
		})
	}

	// A file that became shorter, or cannot be read any more.
	tr, err := OpenTranscript(strings.NewReader(data), int64(len(data))+100, "x")
	require.NoError(t, err)
	start := func(string) (Loop, error) { return deliver{}, nil }
	show := func(Moment) error { return nil }
	_, err = tr.Replay(t.Context(), start, show)
	require.NoError(t, err)
	_, err = tr.Replay(t.Context(), func(string) (Loop, error) {
		tr.r = broken{}
		return deliver{}, nil
	}, show)
	require.NoError(t, err, "what it was told to read is read")
	tr.r = broken{}
	_, err = tr.Replay(t.Context(), start, show)
	require.ErrorContains(t, err, "broken")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	many := `{"sessionId":"g1","messages":[` + strings.Repeat(`{"id":"1","type":"user","content":"Fix it."},`, 1000) + `{"id":"2","type":"gemini","content":"Fixed."}]}`
	tr, err = OpenTranscript(strings.NewReader(many), int64(len(many)), "x")
	require.NoError(t, err)
	_, err = tr.Replay(ctx, start, show)
	require.ErrorIs(t, err, context.Canceled)
}

// A session on one line may be of any length; a message that is too long is left out.
func TestOneLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"messages":[{"id":"1","type":"user","content":"Fix it."},`)
	for b.Len() < 3*maxLine {
		b.WriteString(`{"id":"t","type":"gemini","content":"","toolCalls":[{"id":"t","name":"read_file","args":{"path":"a"},"status":"success","result":[{"x":"` + strings.Repeat("x", 1<<20) + `"}]}]},`)
	}
	b.WriteString(`{"id":"2","type":"gemini","content":"Fixed, should work now."},{"id":"3","type":"user","content":"Thanks."},`)
	b.WriteString(`{"id":"4","type":"gemini","content":"` + strings.Repeat("x", maxLine) + `"}],"projectHash":"h","sessionId":"g1"}`)
	data := []byte(b.String())
	moments, account, err := replayed(t, data)
	require.NoError(t, err)
	require.Equal(t, Account{Lines: 1, Bytes: int64(len(data)), Long: 1}, account)
	require.Len(t, moments, 1)
	require.Equal(t, "g1", moments[0].Output.Session)
	require.Equal(t, "2", moments[0].Output.ID)
	require.Equal(t, 1, moments[0].Line)
}

// A session of lines may begin with an object that has no messages yet.
func TestLinesAfterAnObjectWithoutMessages(t *testing.T) {
	moments, _, err := replayed(t, []byte(`{"sessionId":"g1","projectHash":"h","messages":[]}
{"id":"1","type":"user","content":"Fix it."}
{"id":"2","type":"gemini","content":"Fixed, should work now."}
`))
	require.NoError(t, err)
	require.Len(t, moments, 1)
	require.Equal(t, 3, moments[0].Line)
}

// Line ends, marks and zero bytes of other systems, and what a crash leaves: what can be read is, and the rest is named.
func TestOddLines(t *testing.T) {
	whole := claudeHuman("Fix it — now.") + "\n" + claudeSays("m1", "Fixed — should work now.") + "\n"
	first, second, _ := strings.Cut(whole, "\n")
	for name, tt := range map[string]struct {
		data   string
		pauses int
		kind   error
		want   string
	}{
		"CRLF":                      {strings.ReplaceAll(whole, "\n", "\r\n"), 1, nil, ""},
		"a byte order mark":         {"\ufeff" + whole, 1, nil, ""},
		"no end of the last line":   {strings.TrimSuffix(whole, "\n"), 1, nil, ""},
		"zero bytes between":        {first + "\n\x00\x00\x00\n" + second, 1, ErrDamaged, "line 2: damaged: it is no line of Claude Code"},
		"zero bytes after":          {whole + "\x00\x00\x00", 0, ErrTruncated, "line 3: truncated: the last line is cut off"},
		"two lines of zero bytes":   {"\x00\n\x00\n" + whole, 1, ErrDamaged, "line 1: damaged: this is the first of 2 lines that are none of Claude Code"},
		"no beginning":              {whole[20:], 1, ErrTruncated, "line 1: truncated: the first line is cut off"},
		"cut off in a rune":         {whole + first[:strings.Index(first, "—")+1], 0, ErrTruncated, "line 3: truncated: the last line is cut off"},
		"cut off in a string":       {whole + first[:strings.Index(first, "now")], 0, ErrTruncated, "line 3: "},
		"cut off before its end":    {strings.TrimSuffix(whole, "}\n"), 0, ErrTruncated, "line 2: "},
		"bytes that are no UTF-8":   {strings.ReplaceAll(whole, "—", "\xff\xfe"), 1, nil, ""},
		"blank lines between":       {first + "\n\n \n" + second, 1, nil, ""},
		"a line of another version": {first + "\n{\"new\":1}\n" + second, 1, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			moments, _, err := replayed(t, []byte(tt.data))
			require.Len(t, moments, tt.pauses)
			if tt.kind == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, tt.kind)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
