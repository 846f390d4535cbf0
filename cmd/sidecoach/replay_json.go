package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// replayJSON prints JSON, one object a line.
type replayJSON struct {
	w      io.Writer
	faults faultLines
}

func (r *replayJSON) pause(p replayPause) error     { return r.line("pause", p) }
func (r *replayJSON) session(s replaySession) error { return r.line("session", s) }

func (r *replayJSON) fault(f replayFault) error {
	return errors.Join(r.faults.tell(f), r.line("fault", f))
}

func (r *replayJSON) total(t replayTotal) error { return r.line("total", t) }

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
