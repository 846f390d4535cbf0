package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// replayTable prints a line a session, and the total.
type replayTable struct {
	terminal
	w      io.Writer
	headed bool
}

const replayColumns = "%-9s %7s %9s %7s %8s %7s  %s\n"

func (r *replayTable) pause(replayPause) error { return nil }
func (r *replayTable) fault(replayFault) error { return nil } // it is on standard error

func (r *replayTable) session(s replaySession) error {
	if s.Pauses == 0 {
		return nil
	}
	var b strings.Builder
	if !r.headed {
		r.headed = true
		b.WriteString(r.paint(dim, strings.TrimSuffix(fmt.Sprintf(replayColumns, "agent", "pauses", "continues", "agrees", "against", "missed", "session"), "\n")) + "\n")
	}
	fmt.Fprintf(&b, replayColumns, s.Agent, thousands(s.Pauses), thousands(s.GoesOn), thousands(s.Agrees), thousands(s.Against), thousands(s.Missed), r.where(s))
	_, err := io.WriteString(r.w, b.String())
	return err
}

// where names a session by its file, and by its own name where the file does not have it.
func (r *replayTable) where(s replaySession) string {
	name := s.File
	if s.Session != s.File && !strings.Contains(s.File, s.Session) {
		name += "#" + s.Session
	}
	name = visible(name)
	if room := r.width - len(fmt.Sprintf(replayColumns, "", "", "", "", "", "", "")); r.width > 0 && room > 10 && utf8.RuneCountInString(name) > room {
		runes := []rune(name)
		name = "…" + string(runes[len(runes)-room+1:])
	}
	return name
}

func (r *replayTable) total(t replayTotal) error {
	p := page{terminal: r.terminal}
	if t.Sessions > 0 {
		if r.headed {
			p.printf("\n")
		}
		p.printf("%s, %s, %s: %s would have gone on without the human.\n", plural(t.Files, "transcript"), plural(t.Sessions, "session"), plural(t.Pauses, "pause"), thousands(t.GoesOn))
		if t.GoesOn > 0 {
			p.printf("Of these the human wrote the same at %s, and answered a question at %s.\n", thousands(t.Agrees), thousands(t.Against))
		}
		if t.Missed > 0 {
			p.printf("At %s others the human had to write such a thing, and would have to again.\n", thousands(t.Missed))
		}
		var parts []string
		for _, reason := range slices.SortedFunc(maps.Keys(t.Reasons), func(a, b autocontinue.Reason) int {
			return cmp.Or(cmp.Compare(t.Reasons[b], t.Reasons[a]), cmp.Compare(a, b))
		}) {
			parts = append(parts, fmt.Sprintf("%s %s", reason, thousands(t.Reasons[reason])))
		}
		p.printf("%s\n", p.paint(dim, strings.Join(parts, " · ")))
	}
	if t.Fallbacks > 0 {
		p.printf("%s\n", p.paint(yellow, fmt.Sprintf("the LLM had no answer for %d of %s; the heuristic decided", t.Fallbacks, plural(t.Asked, "output"))))
	}
	if t.LongLines > 0 {
		p.printf("%s longer than 4 MiB left out\n", plural(t.LongLines, "line"))
	}
	if t.Others > 0 {
		p.printf("%s in the folders no transcript\n", plural(t.Others, "file"))
	}
	_, err := io.WriteString(r.w, p.String())
	return err
}

// replayJSON prints JSON, one object a line.
type replayJSON struct{ w io.Writer }

func (r *replayJSON) pause(p replayPause) error     { return r.line("pause", p) }
func (r *replayJSON) session(s replaySession) error { return r.line("session", s) }
func (r *replayJSON) fault(f replayFault) error     { return r.line("fault", f) }
func (r *replayJSON) total(t replayTotal) error     { return r.line("total", t) }

func (r *replayJSON) line(kind string, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{kind: v}); err != nil {
		return err
	}
	_, err := io.WriteString(r.w, harmless(b.String()))
	return err
}
