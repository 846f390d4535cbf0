package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// itemBody is all of an item: what a page shows of the item that is selected.
type itemBody struct {
	Item   itemView `json:"item"`
	Body   part     `json:"body"` // the payload, the arguments, or the a2ui of a response; short values first
	Text   *part    `json:"text,omitempty"`
	Edited *part    `json:"edited,omitempty"` // what replaced Body
	Final  *part    `json:"final,omitempty"`  // what replaced Text
	Result *part    `json:"result,omitempty"`
	Write  *editing `json:"write,omitempty"` // of an item that is asked for whole
}

// part is text to show, or the beginning of it.
type part struct {
	Text string `json:"text"`
	Size int    `json:"size"` // bytes of all of it
	Cut  bool   `json:"cut,omitempty"`
}

// editing is what an edit begins with.
type editing struct {
	Text   string            `json:"text,omitempty"`  // of a response
	JSON   string            `json:"json,omitempty"`  // the payload, the arguments, or the a2ui of a response
	Texts  map[string]string `json:"texts,omitempty"` // the texts among its values, for a form
	Schema json.RawMessage   `json:"schema,omitempty"`
}

// firstLook is how many bytes of a body are sent before somebody asks for all of it.
const firstLook = 64 << 10

// item answers with the bodies of one item: ?id=…, and with &all=1 each of them whole.
func (c *Console) item(_ http.ResponseWriter, r *http.Request, _ visitor) (any, error) {
	it, ok := c.cfg.Session.Item(r.URL.Query().Get("id"))
	if !ok {
		return nil, problem{"missing", "the session no longer has this item; its run ended long ago"}
	}
	return c.bodies(it, r.URL.Query().Get("all") == "1"), nil
}

func (c *Console) bodies(it gate.Item, all bool) itemBody {
	limit := firstLook
	if all {
		limit = math.MaxInt
	}
	text := func(s string) *part { return &part{shown(s, limit), len(s), len(s) > limit} }
	value := func(v json.RawMessage) *part {
		if v == nil {
			return nil
		}
		s := pretty(v)
		return &part{head(s, limit), len(s), len(s) > limit}
	}
	out := itemBody{Item: showItem(it), Result: value(it.Result)}
	words, body, edited := "", it.Body, it.Edited
	if it.Kind == gate.Response {
		words, body = answerOf(it.Body)
		out.Text = text(words)
		if it.Edited != nil {
			var final string
			final, edited = answerOf(it.Edited)
			out.Final = text(final)
		}
	}
	if it.Status == gate.Pending && body != nil {
		out.Body = *value(shortFirst(body))
	} else if body != nil {
		out.Body = *value(body) // in the order of what replaced it
	}
	out.Edited = value(edited)
	if all {
		out.Write = &editing{Text: typable(words)}
		if body != nil {
			out.Write.JSON = pretty(body)
		}
		if it.Kind != gate.Response {
			out.Write.Texts = texts(body)
		}
		if c.cfg.Schema != nil {
			if schema := c.cfg.Schema(it.Subject); json.Valid(schema) {
				out.Write.Schema = schema
			}
		}
	}
	return out
}

const maxText = 4 << 10 // bytes of a text in a field of a form

// texts returns the texts among the values of an object, as a person edits them. A form has no long ones.
func texts(body json.RawMessage) map[string]string {
	texts := make(map[string]string)
	for _, m := range members(body) {
		var s string
		if len(m.value) <= maxText && json.Unmarshal(m.value, &s) == nil && m.value[0] == '"' {
			texts[m.key] = typable(s)
		}
	}
	return texts
}

const maxLabel = 100

// patch returns the body of an item in which some values are replaced. What nobody touched stays as it is, byte for
// byte. An interface part that is emptied goes.
func patch(it gate.Item, changes map[string]string) (json.RawMessage, error) {
	list := members(it.Body)
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		value := json.RawMessage(changes[key])
		if it.Kind == gate.Response && key == "a2ui" && len(value) == 0 {
			list = slices.DeleteFunc(list, func(m member) bool { return m.key == key })
			continue
		}
		if !json.Valid(value) {
			return nil, problem{"input", "The value of " + line(key, maxLabel) + " is not JSON."}
		}
		i := slices.IndexFunc(list, func(m member) bool { return m.key == key })
		if i < 0 {
			i = len(list)
			list = append(list, member{key: key})
		}
		var was, typed string
		if json.Unmarshal(list[i].value, &was) == nil && json.Unmarshal(value, &typed) == nil {
			value = json.RawMessage(quoted(restore(was, typed)))
		}
		list[i].value = value
	}
	return object(list), nil
}

// line returns at most n bytes of a text on one line, for a person to read.
func line(s string, n int) string { return plaintext.Visible(head(s, n)) }

// shown is line for a text of several lines.
func shown(s string, n int) string { return plaintext.VisibleLines(head(s, n)) }

// head returns at most n bytes of a text, whole characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// pretty indents a JSON value for reading and editing. Numbers keep their digits and keys their order. A character
// that a person would not see becomes an escape of JSON, so that the result is the same value.
func pretty(body json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, body, "", "  ") != nil {
		return plaintext.Visible(string(body))
	}
	return plaintext.ReplaceHidden(b.String(), func(raw string) string {
		r, _ := utf8.DecodeRuneInString(raw)
		if r > 0xFFFF {
			hi, lo := utf16.EncodeRune(r)
			return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
		}
		return fmt.Sprintf(`\u%04x`, r)
	})
}

// typable returns a text for a person to edit: unusual spaces become plain ones, and other characters that cannot be
// seen are left out. Joiners and the like stay where scripts and emoji need them. Line feeds stay.
func typable(s string) string {
	return plaintext.ReplaceHidden(s, func(raw string) string {
		if r, _ := utf8.DecodeRuneInString(raw); plaintext.IsSpace(r) {
			return " "
		}
		return ""
	})
}

// restore returns what a person typed, with every line that they did not change as it was in the text before.
func restore(before, typed string) string {
	was := make(map[string][]string) // lines, by what the person saw of them
	for l := range strings.SplitSeq(before, "\n") {
		seen := typable(strings.TrimSuffix(l, "\r"))
		was[seen] = append(was[seen], l)
	}
	lines := strings.Split(typed, "\n")
	for i, l := range lines {
		if old := was[l]; len(old) > 0 {
			lines[i], was[l] = old[0], old[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// member is one key of an object and its value, as written.
type member struct {
	key   string
	value json.RawMessage
}

// members returns the keys of an object in their order; nil for any other value.
func members(body json.RawMessage) []member {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []member
	for dec.More() {
		key, err := dec.Token()
		var m member
		if err != nil || dec.Decode(&m.value) != nil {
			return nil
		}
		m.key, _ = key.(string)
		list = append(list, m)
	}
	return list
}

// object writes an object of members.
func object(list []member) json.RawMessage {
	texts := make([]string, len(list))
	for i, m := range list {
		texts[i] = quoted(m.key) + ":" + string(m.value)
	}
	return json.RawMessage("{" + strings.Join(texts, ",") + "}")
}

const shortValue = 200 // bytes, with the key

// shortFirst moves short values of an object before long ones, so that padding hides nothing.
func shortFirst(body json.RawMessage) json.RawMessage {
	list := members(body)
	isLong := func(m member) bool { return len(m.key)+len(m.value) > shortValue }
	short := slices.DeleteFunc(slices.Clone(list), isLong)
	if slices.EqualFunc(short, list[:len(short)], func(a, b member) bool { return a.key == b.key }) {
		return body
	}
	long := slices.DeleteFunc(list, func(m member) bool { return !isLong(m) })
	return object(append(short, long...))
}

// quoted returns a text as a JSON string.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(s) // a string does not fail
	return strings.TrimSpace(b.String())
}
