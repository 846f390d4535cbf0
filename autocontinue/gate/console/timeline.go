package console

import (
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
func (c *Console) events(w http.ResponseWriter, r *http.Request, _ visitor) {
	query := r.URL.Query()
	show, ok := filters[query.Get("show")]
	if !ok {
		refuse(w, http.StatusBadRequest, "input", "there is no such filter")
		return
	}
	all, _ := c.cfg.Session.Events(0)
	words := strings.Fields(strings.ToLower(query.Get("q")))
	found := slices.DeleteFunc(all, func(e gate.Event) bool { return !show(e) || !hasWords(e, words) })
	switch format := query.Get("format"); format {
	case "jsonl", "csv":
		types := map[string]string{"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
		w.Header().Set("Content-Type", types[format])
		w.Header().Set("Content-Disposition", `attachment; filename="events.`+format+`"`)
		if format == "csv" {
			writeCSV(w, found)
			return
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		for _, e := range found {
			enc.Encode(e) // an error is a client that went away
		}
	case "":
		views := []*gate.Event{}
		for _, e := range slices.Backward(found[max(0, len(found)-maxFound):]) {
			views = append(views, showEvent(e))
		}
		answer(w, http.StatusOK, map[string]any{"events": views, "found": len(found)})
	default:
		refuse(w, http.StatusBadRequest, "input", "the format must be jsonl or csv")
	}
}

// filters say which events to show.
var filters = map[string]func(gate.Event) bool{
	"":          func(gate.Event) bool { return true },
	"people":    func(e gate.Event) bool { return byPerson(e) && e.Status() != gate.Redeemed },
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

func byPerson(e gate.Event) bool {
	return e.By != "" && e.By != byPolicy && e.By != byUnaudited
}

// hasWords reports whether an event has all words, in lower case.
func hasWords(e gate.Event, words []string) bool {
	if len(words) == 0 {
		return true
	}
	parts := append([]string{
		e.Type, e.Thread, e.Run, e.Item, e.Call, e.Tool, e.Label, string(e.Action), e.By, e.Rule, e.Reason, e.Escalate,
		string(e.Payload), string(e.PayloadEdits), string(e.Args), string(e.ArgsOverride), string(e.Result),
	}, e.Changes...)
	for _, text := range []*string{e.DraftText, e.FinalText} {
		if text != nil {
			parts = append(parts, *text)
		}
	}
	haystack := strings.ToLower(strings.Join(parts, "\n"))
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
