package console

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

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
	"unaudited": func(e gate.Event) bool { return e.By == byUnaudited },
}

// Names in Event.By for decisions that no person made.
const (
	byPolicy    = "policy"
	byUnaudited = "unaudited"
)

var nobody = []string{"", byPolicy, byUnaudited}

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
