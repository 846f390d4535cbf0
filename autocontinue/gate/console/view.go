package console

import (
	"encoding/json"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// view turns what the session holds into frames.
type view struct {
	session *gate.Session
	message func(json.RawMessage) (from, text string)
}

// Bounds of a snapshot, and of the events that a page may have missed and still get one by one.
const (
	snapshotEvents = 200
	snapshotRuns   = 200
	maxMissed      = 1000
)

// frame shows an event with the items that it concerns as they are now, which may be later than the event.
func (v view) frame(e gate.Event) frame {
	f := frame{T: "event", Seq: e.Seq, Event: showEvent(e)}
	switch {
	case e.Type == "RUN_FINISHED":
		for _, it := range v.session.Items(e.Run) {
			if it.Status == gate.Withdrawn {
				f.Items = append(f.Items, showItem(it, v.message))
			}
		}
	case e.Item != "":
		if it, ok := v.session.Item(e.Item); ok {
			f.Items = []itemView{showItem(it, v.message)}
		}
	}
	if e.Run != "" {
		f.Run = &gate.Run{ID: e.Run, Thread: e.Thread, Phase: v.session.Phase(e.Run)}
	}
	return f
}

// after returns the frames after an event and the number of the last one. If they are not all there any more, or
// afresh is true, it returns one frame that replaces everything that a page has.
func (v view) after(seq uint64, afresh bool) (frames [][]byte, last uint64) {
	head, _, _ := v.session.Head()
	if afresh || seq > head || head-seq > maxMissed {
		return v.snapshot()
	}
	events, all := v.session.Events(seq)
	if !all {
		return v.snapshot()
	}
	for _, e := range events {
		frames, seq = append(frames, encode(v.frame(e))), e.Seq
	}
	return frames, seq
}

func (v view) snapshot() (frames [][]byte, last uint64) {
	head, _, _ := v.session.Head()
	events, _ := v.session.Events(head - min(head, snapshotEvents))
	f := frame{T: "snapshot"}
	for _, e := range events {
		f.Seq, f.Events = e.Seq, append(f.Events, showEvent(e))
	}
	seen := make(map[string]bool)
	add := func(items []gate.Item) {
		for _, it := range items {
			if !seen[it.ID] {
				seen[it.ID] = true
				f.Items = append(f.Items, showItem(it, v.message))
			}
		}
	}
	add(v.session.Pending())
	add(v.session.Unfinished())
	f.Runs = v.session.Runs()
	f.Runs = f.Runs[max(0, len(f.Runs)-snapshotRuns):]
	for _, r := range f.Runs {
		add(v.session.Items(r.ID))
	}
	inOrder(f.Items)
	return [][]byte{encode(f)}, f.Seq
}
