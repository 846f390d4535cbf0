package console

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// itemBody is all of an item: what a page shows of the item that is selected.
type itemBody struct {
	Item   itemView `json:"item"`
	Body   *part    `json:"body"`             // of a pending item: short values first
	Edited *part    `json:"edited,omitempty"` // what replaced it
	Result *part    `json:"result,omitempty"`
	Write  *editing `json:"write,omitempty"` // of an item that is asked for whole
}

// part is text to show, or the beginning of it.
type part struct {
	Text string `json:"text"`
	Size int    `json:"size"` // bytes of all of it
	Cut  bool   `json:"cut,omitempty"`
}

// editing is what an edit begins with. The page replaces what the person changed.
type editing struct {
	JSON   string            `json:"json"`             // the body, in its own order
	Texts  map[string]string `json:"texts"`            // the texts among its values, as a person edits them
	Schema json.RawMessage   `json:"schema,omitempty"` // of Config.Schema
}

// firstLook is how many bytes of a body are sent before somebody asks for all of it.
const firstLook = 64 << 10

// item answers with the bodies of one item: ?id=…, and with &all=1 each of them whole.
func (c *Console) item(_ http.ResponseWriter, r *http.Request, _ visitor) (any, error) {
	it, ok := c.cfg.Session.Item(r.URL.Query().Get("id"))
	if !ok {
		return nil, problem{"missing", "the session no longer has this item; its run ended long ago"}
	}
	all := r.URL.Query().Get("all") == "1"
	limit := map[bool]int{true: math.MaxInt, false: firstLook}[all]
	show := func(v json.RawMessage) *part {
		if v == nil {
			return nil
		}
		s := pretty(v)
		return &part{head(s, limit), len(s), len(s) > limit}
	}
	body := it.Body
	if it.Status == gate.Pending { // otherwise in the order of what replaced it
		body = shortFirst(body)
	}
	out := itemBody{Item: showItem(it), Body: show(body), Edited: show(it.Edited), Result: show(it.Result)}
	if all {
		out.Write = &editing{JSON: pretty(it.Body), Texts: texts(it.Body)}
		if c.cfg.Schema != nil {
			if schema := c.cfg.Schema(it.Subject); json.Valid(schema) {
				out.Write.Schema = schema
			}
		}
	}
	return out, nil
}

// texts returns the texts among the values of an object, as a person edits them.
func texts(body json.RawMessage) map[string]string {
	var object map[string]any
	json.Unmarshal(body, &object) // the session has read it
	texts := make(map[string]string)
	for key, value := range object {
		if s, ok := value.(string); ok {
			texts[key] = typable(s)
		}
	}
	return texts
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
	return plaintext.VisibleJSON(b.String())
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

const shortValue = 200 // bytes, with the key

// shortFirst moves short values of an object before long ones, so that padding hides nothing. Each stays as written.
func shortFirst(body json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return body
	}
	var short, long [][]byte
	for dec.More() {
		start := dec.InputOffset()
		var value json.RawMessage
		if _, err := dec.Token(); err != nil || dec.Decode(&value) != nil {
			return body
		}
		member := bytes.TrimPrefix(body[start:dec.InputOffset()], []byte(","))
		if len(member) > shortValue {
			long = append(long, member)
		} else {
			short = append(short, member)
		}
	}
	return slices.Concat([]byte("{"), bytes.Join(append(short, long...), []byte(",")), []byte("}"))
}

const maxFound = 200 // events that a page shows

// events answers with the events that the session keeps. ?q=… are words that an event must have, &show=… is one of the
// filters, and &format=… is jsonl (the lines of the journal), csv, or nothing (for the page, the newest first).
func (c *Console) events(w http.ResponseWriter, r *http.Request, _ visitor) (any, error) {
	query := r.URL.Query()
	show, ok := filters[query.Get("show")]
	if !ok {
		return nil, problem{"input", "there is no such filter"}
	}
	all, _ := c.cfg.Session.Events(0)
	words := strings.Fields(strings.ToLower(query.Get("q")))
	found := slices.DeleteFunc(all, func(e gate.Event) bool { return !show(e) || !hasWords(e, words) })
	switch query.Get("format") {
	case "jsonl":
		w.Header().Set("Content-Disposition", `attachment; filename="events.jsonl"`)
		w.Header().Set("Content-Type", "application/jsonl")
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, e := range found {
			enc.Encode(e) // an error is a client that went away
		}
		return nil, nil
	case "csv":
		w.Header().Set("Content-Disposition", `attachment; filename="events.csv"`)
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		writeCSV(w, found)
		return nil, nil
	case "":
		views := []*gate.Event{}
		for _, e := range slices.Backward(found[max(0, len(found)-maxFound):]) {
			views = append(views, showEvent(e))
		}
		return map[string]any{"events": views, "found": len(found)}, nil
	}
	return nil, problem{"input", "the format must be jsonl or csv"}
}

// filters say which events to show.
var filters = map[string]func(gate.Event) bool{
	"":          func(gate.Event) bool { return true },
	"people":    func(e gate.Event) bool { return !slices.Contains(nobody, e.By) && e.Status() != gate.Redeemed },
	"denied":    func(e gate.Event) bool { return e.Status() == gate.Denied || e.Status() == gate.Expired },
	"tools":     func(e gate.Event) bool { return e.Kind == gate.Tool },
	"rules":     func(e gate.Event) bool { return e.Policy != nil || e.Audited != nil },
	"unaudited": func(e gate.Event) bool { return e.By == gate.ByUnaudited },
}

// nobody is what Event.By says where no person decided.
var nobody = []string{"", gate.ByPolicy, gate.ByUnaudited}

// hasWords reports whether an event has all words, in lower case.
func hasWords(e gate.Event, words []string) bool {
	if len(words) == 0 {
		return true
	}
	text := *cmp.Or(e.DraftText, e.FinalText, new(string))
	haystack := strings.ToLower(fmt.Sprintf("%s %s %s %s %s %s %s %s %s %s %s %s\n%s %s %s %s %s\n%s %s",
		e.Type, e.Thread, e.Run, e.Item, e.Call, e.Tool, e.Label, e.Action, e.By, e.Rule, e.Reason, e.Escalate,
		e.Payload, e.PayloadEdits, e.Args, e.ArgsOverride, e.Result, text, e.Changes))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(haystack, word) })
}

func writeCSV(w http.ResponseWriter, events []gate.Event) {
	out := csv.NewWriter(w)
	out.Write(strings.Fields("seq time type thread run item call tool action by rule reason changes"))
	for _, e := range events {
		v := showEvent(e)
		row := []string{
			strconv.FormatUint(v.Seq, 10), v.At.Format(time.RFC3339Nano), v.Type, v.Thread, v.Run, v.Item, v.Call, v.Tool,
			string(v.Action), v.By, v.Rule, v.Reason, strings.Join(v.Changes, "; "),
		}
		for i, cell := range row {
			if strings.ContainsAny(cell[:min(1, len(cell))], "=+-@\t\r") {
				row[i] = fmt.Sprintf("'%s", cell) // a spreadsheet would take it for a formula
			}
		}
		out.Write(row)
	}
	out.Flush()
}
