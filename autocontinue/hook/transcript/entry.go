package transcript

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// entryKind says what happened.
type entryKind uint8

const (
	human    entryKind = iota + 1 // the human spoke
	command                       // the human gave the host a command, which may concern the agent or not
	local                         // the output of such a command: it did not concern the agent
	feedback                      // a hook continued the agent
	notice                        // the host spoke to the agent
	message                       // the agent printed something
	call                          // the agent called a tool
	outcome                       // the result of the call
	abort                         // the human interrupted the agent
	mode                          // the agent works in another permission mode from here on
	forget                        // the human took back what was said last
	lost                          // something was left out that cannot be read
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
	late    bool // of a result: it was written after what came after it
	tool    tool
	result  result
}

// header is what a line says of the session itself.
type header struct {
	session string // its ID
	agent   string // the sub-agent that works, in a transcript of its own
	dir     string // where the agent works
	begins  bool   // the line is the first of a session
}

// line is one line of a transcript, read.
type line struct {
	header
	entries []entry
	known   bool // the host writes such lines
}

func (l *line) add(e entry) { l.entries = append(l.entries, e) }

// decode reads JSON into a value. Keys match by their exact case. A member of another type than expected is left out.
// It reports false for what is not JSON. It may change data.
func decode(data []byte, v any) bool {
	hideVariants(data, fieldNames(reflect.TypeOf(v)))
	err := json.Unmarshal(data, v)
	if _, wrong := err.(*json.UnmarshalTypeError); wrong {
		return true
	}
	return err == nil
}

var namesOfTypes sync.Map // reflect.Type to map[string][]string

// fieldNames returns the names of all fields below a type, by their lower-case form.
func fieldNames(t reflect.Type) map[string][]string {
	if names, ok := namesOfTypes.Load(t); ok {
		return names.(map[string][]string)
	}
	names := make(map[string][]string)
	seen := make(map[reflect.Type]bool)
	var walk func(reflect.Type)
	walk = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
				if name != "" {
					names[strings.ToLower(name)] = append(names[strings.ToLower(name)], name)
				}
				walk(t.Field(i).Type)
			}
		}
	}
	walk(t)
	namesOfTypes.Store(t, names)
	return names
}

// hideVariants overwrites keys that differ from a name only by case, for package json would take them for that name.
func hideVariants(data []byte, names map[string][]string) {
	for i := 0; i < len(data); i++ {
		n := bytes.Index(data[i:], []byte(`":`))
		if n < 0 {
			return
		}
		i += n
		start := i - 1
		for start >= 0 && i-start < 64 && data[start] != '"' {
			start--
		}
		if start < 0 || data[start] != '"' {
			continue
		}
		key := data[start+1 : i]
		exact, ok := names[strings.ToLower(string(key))]
		for _, name := range exact {
			ok = ok && name != string(key)
		}
		if ok && len(key) > 0 {
			key[0] = '_'
		}
	}
}

// texts is a text, an array of texts, or an array of blocks with a text.
type texts string

func (t *texts) UnmarshalJSON(data []byte) error {
	switch {
	case data[0] == '"':
		return json.Unmarshal(data, (*string)(t))
	case data[0] != '[':
		return nil
	}
	var parts []textBlock
	if err := json.Unmarshal(data, &parts); err != nil {
		return nil
	}
	var said []string
	for _, p := range parts {
		if p.is {
			said = append(said, p.Text)
		}
	}
	*t = texts(strings.Join(said, "\n"))
	return nil
}

// textBlock is a text or an object with one.
type textBlock struct {
	Text string `json:"text"`
	is   bool
}

func (b *textBlock) UnmarshalJSON(data []byte) error {
	b.is = true
	if data[0] == '"' {
		return json.Unmarshal(data, &b.Text)
	}
	var v struct {
		Text *string `json:"text"`
	}
	_ = json.Unmarshal(data, &v)
	if b.is = v.Text != nil; b.is {
		b.Text = *v.Text
	}
	return nil
}

// offsetID names a message by where its line begins, for transcripts whose messages have no ID.
func offsetID(at int64) string { return "offset:" + strconv.FormatInt(at, 10) }

func blank(s string) bool { return strings.TrimSpace(s) == "" }
