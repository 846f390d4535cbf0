package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
)

const maxLine = 4 << 20 // bytes of a line; a longer one is left out

// lines reads a file's lines. It holds no more than one of them.
type lines struct {
	ctx  context.Context // ends the lines
	r    *bufio.Reader
	next int64 // where the next line begins

	text  []byte // the line with its end; good until the next one
	at    int64  // where it begins
	no    int    // its number, from 1
	long  bool   // it is too long, and text is empty
	whole bool   // it has an end
	err   error

	value  value // of the line
	isJSON bool
}

func newLines(ctx context.Context, r io.ReaderAt, at, size int64) *lines {
	return &lines{ctx: ctx, r: bufio.NewReaderSize(io.NewSectionReader(r, at, size-at), 256<<10), next: at}
}

// scan goes to the next line. It reports false at the end of the file and after an error.
func (l *lines) scan() bool {
	l.text, l.at, l.long = l.text[:0], l.next, false
	if l.no%256 == 255 && l.ctx.Err() != nil {
		l.err = context.Cause(l.ctx)
		return false
	}
	for {
		part, err := l.r.ReadSlice('\n')
		l.next += int64(len(part))
		if l.long = l.long || len(l.text)+len(part) > maxLine+1; l.long {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			l.err = cause(err)
			return false
		}
		l.no++
		l.whole = err == nil
		l.value, l.isJSON = parse(l.text)
		return l.next > l.at
	}
}

// read reads the line. Seen are the IDs of the last messages, the last one last. What a long one held is lost.
func (l *lines) read(f Format, subagent bool, seen []string) line {
	if l.long {
		return line{entries: []entry{{kind: lost}}}
	}
	return read(f, l.value, "offset:"+strconv.FormatInt(l.at, 10), subagent, seen)
}

// entryKind says what happened.
type entryKind uint8

const (
	human    entryKind = iota + 1 // the human spoke
	feedback                      // a hook continued the agent
	notice                        // the host spoke to the agent
	message                       // the agent printed something
	call                          // the agent called a tool
	outcome                       // the result of the call
	abort                         // the human interrupted the agent
	mode                          // the agent works in another permission mode from here on
	forget                        // the human took back what was said last
	lost                          // something was left out that cannot be read
	ended                         // the turn of the agent ended: what it prints now is not an answer to the human
)

// entry is one thing that happened in a conversation, in one form for all hosts.
type entry struct {
	kind    entryKind
	id      string // of a message: the host's ID
	group   string // of a message and a call: one answer of the model has one group
	turn    string // of a prompt: the host's ID of it
	text    string
	broke   bool // of a message: the host wrote it in the agent's name, because the turn broke
	summary bool // of a notice: it sums up what was said before it
	tool    tool
	result  result
}

// line is one line of a transcript, read.
type line struct {
	session string // the ID of the session, where the line has it
	agent   string // the sub-agent that works, in a transcript of its own
	dir     string // where the agent works

	entries []entry
	known   bool // the host writes such lines
}

func (l *line) add(e entry) { l.entries = append(l.entries, e) }

// read reads a line. ID is that of a message without one. Seen are the IDs of the last messages, the last one last.
func read(f Format, v value, id string, subagent bool, seen []string) line {
	switch f {
	case claude:
		return readClaude(v, id, subagent)
	case codex:
		return readCodex(v, id)
	case gemini:
		return readGemini(v, seen)
	case copilot:
		return readCopilot(v, id)
	}
	return readCursor(v, id)
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// among reports whether a word is in a list. Spaces stand around each word of the list.
func among(list, word string) bool { return word != "" && strings.Contains(list, " "+word+" ") }

func startsWith(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// end returns at most the last n bytes of s, whole characters.
func end(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// clip returns at most n bytes of s, whole characters.
func clip(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// value is a JSON value that a host wrote. A member that is missing or has another type than asked for is empty.
type value struct{ any }

func parse(data []byte) (v value, ok bool) {
	err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &v.any)
	return v, err == nil
}

func (v value) at(path ...string) value {
	for _, key := range path {
		object, _ := v.any.(map[string]any)
		v = value{object[key]}
	}
	return v
}

func (v value) isObject() bool {
	_, ok := v.any.(map[string]any)
	return ok
}

func (v value) has(key string) bool { return v.at(key).any != nil }

// text returns a text or a number, as text.
func (v value) text(path ...string) string {
	switch m := v.at(path...).any.(type) {
	case string:
		return m
	case float64:
		return strconv.FormatFloat(m, 'f', -1, 64)
	}
	return ""
}

// first returns the first of these members that is not empty.
func (v value) first(keys ...string) string {
	for _, key := range keys {
		if text := v.text(key); text != "" {
			return text
		}
	}
	return ""
}

func (v value) isTrue(path ...string) bool  { return v.at(path...).any == true }
func (v value) isFalse(path ...string) bool { return v.at(path...).any == false }

func (v value) list(path ...string) []value {
	items, _ := v.at(path...).any.([]any)
	list := make([]value, len(items))
	for i, item := range items {
		list[i].any = item
	}
	return list
}

// words returns a text, or the texts of an array's blocks.
func (v value) words(path ...string) string {
	v = v.at(path...)
	var said []string
	for _, item := range v.list() {
		if item.has("text") {
			said = append(said, item.text("text"))
		}
	}
	return v.text() + strings.Join(said, "\n")
}

// script returns what a shell is given by the first of these members: a text, or the words of a command.
func (v value) script(keys ...string) string {
	for _, key := range keys {
		if text := v.text(key); text != "" {
			return text
		}
		var words []string
		for _, word := range v.list(key) {
			words = append(words, "'"+strings.ReplaceAll(word.text(), "'", `'\''`)+"'")
		}
		if words != nil {
			return strings.Join(words, " ")
		}
	}
	return ""
}
