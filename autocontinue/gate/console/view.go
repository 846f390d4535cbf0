package console

import (
	"cmp"
	"slices"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// Bounds of a snapshot, and of the events that a page may have missed and still get one by one.
const (
	snapshotEvents = 200
	snapshotRuns   = 200
	maxMissed      = 1000
)

// frame shows an event with the items that it concerns as they are now, which may be later than the event.
func (c *Console) frame(e gate.Event) frame {
	f := frame{T: "event", Seq: e.Seq, Event: showEvent(e)}
	switch {
	case e.Type == "RUN_FINISHED":
		for _, it := range c.cfg.Session.Items(e.Run) {
			if it.Status == gate.Withdrawn {
				f.Items = append(f.Items, showItem(it, c.cfg.Message))
			}
		}
	case e.Item != "":
		if it, ok := c.cfg.Session.Item(e.Item); ok {
			f.Items = []itemView{showItem(it, c.cfg.Message)}
		}
	}
	if e.Run != "" {
		f.Run = &gate.Run{ID: e.Run, Thread: e.Thread, Phase: c.cfg.Session.Phase(e.Run)}
	}
	return f
}

// after returns the frames after an event and the number of the last one. If they are not all there any more, or
// afresh is true, it returns one frame that replaces everything that a page has.
func (c *Console) after(seq uint64, afresh bool) (frames [][]byte, last uint64) {
	events, all := c.cfg.Session.Events(seq)
	if afresh || !all || len(events) > maxMissed {
		return c.snapshot()
	}
	for _, e := range events {
		frames, seq = append(frames, encode(c.frame(e))), e.Seq
	}
	return frames, seq
}

func (c *Console) snapshot() (frames [][]byte, last uint64) {
	head, _, _ := c.cfg.Session.Head()
	events, _ := c.cfg.Session.Events(head - min(head, snapshotEvents))
	f := frame{T: "snapshot"}
	for _, e := range events {
		f.Seq, f.Events = e.Seq, append(f.Events, showEvent(e))
	}
	seen := make(map[string]bool)
	add := func(items []gate.Item) {
		for _, it := range items {
			if !seen[it.ID] {
				seen[it.ID] = true
				f.Items = append(f.Items, showItem(it, c.cfg.Message))
			}
		}
	}
	add(c.cfg.Session.Pending())
	add(c.cfg.Session.Unfinished())
	f.Runs = c.cfg.Session.Runs()
	f.Runs = f.Runs[max(0, len(f.Runs)-snapshotRuns):]
	for _, r := range f.Runs {
		add(c.cfg.Session.Items(r.ID))
	}
	slices.SortFunc(f.Items, func(a, b itemView) int { return cmp.Compare(a.Seq, b.Seq) })
	return [][]byte{encode(f)}, f.Seq
}
