package console

import (
	"encoding/json"
	"slices"
	"sync"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// view turns the session's events into frames, once for everybody, and keeps the last of them for those who come back.
type view struct {
	session *gate.Session
	message func(json.RawMessage) (from, text string)
	backlog int

	mu     sync.Mutex
	seq    uint64   // of the last event that was read
	frames [][]byte // those of the events up to seq, without a gap
	size   int      // bytes of them

	whole   []byte // the last snapshot, for those who come back together
	wholeAt uint64 // seq of it
}

const (
	snapshotEvents = 200
	snapshotRuns   = 200
	backlogBytes   = 16 << 20
)

// advance reads the events that are new.
func (v *view) advance() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read()
}

func (v *view) read() {
	events, all := v.session.Events(v.seq)
	if !all {
		v.frames, v.size = nil, 0
	}
	for _, e := range events {
		f := encode(v.frame(e))
		v.frames, v.size, v.seq = append(v.frames, f), v.size+len(f), e.Seq
	}
	old := 0
	for old < len(v.frames)-1 && (len(v.frames)-old > v.backlog || v.size > backlogBytes) {
		v.size -= len(v.frames[old])
		old++
	}
	v.frames = slices.Delete(v.frames, 0, old)
}

// frame shows an event with what it concerns as that is now, which may be later than the event.
func (v *view) frame(e gate.Event) frame {
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

// after returns the frames behind seq and the number of the last one. When they are not all there any more, or a client
// begins afresh, it returns one frame that replaces everything the client has.
func (v *view) after(seq uint64, afresh bool) (frames [][]byte, last uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.read()
	behind := v.seq - seq
	if afresh || seq > v.seq || behind > uint64(len(v.frames)) {
		return [][]byte{v.snapshot()}, v.seq
	}
	return slices.Clone(v.frames[uint64(len(v.frames))-behind:]), v.seq
}

func (v *view) snapshot() []byte {
	if v.whole != nil && v.wholeAt == v.seq {
		return v.whole
	}
	f := frame{T: "snapshot", Seq: v.seq}
	for _, raw := range v.frames[max(0, len(v.frames)-snapshotEvents):] {
		f.Events = append(f.Events, raw)
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
	v.whole, v.wholeAt = encode(f), v.seq
	return v.whole
}
