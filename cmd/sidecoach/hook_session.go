package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
)

// hookSession is what is kept of an event's session: the state, and beside it, changed in the same step, what the
// hook has to remember. It is an autocontinue.Store of that session, for one event.
type hookSession struct {
	event hook.Event
	out   autocontinue.Output // made of the event, before anything is decided
	doc   *filestore.Document[filestore.Session]
	state *autocontinue.State // as it was read; nil once that was asked for

	seen   transcript.State // the transcript, as this event read it
	before hook.Memory      // as it was when the decision was stored
	stored json.RawMessage  // what was stored then
}

func openHookSession(k *keeper, e hook.Event) (*hookSession, error) {
	doc, err := k.store.Session(e.SessionKey())
	return &hookSession{event: e, doc: doc}, err
}

// memoryOf reads what pack made. What cannot be read is a session nothing is known of.
func memoryOf(extra json.RawMessage) (m hook.Memory) {
	if json.Unmarshal(extra, &m) != nil {
		return hook.Memory{}
	}
	return m
}

func pack(m hook.Memory) (json.RawMessage, error) { return json.Marshal(m) }

// heard takes in what is no pause: a prompt, of which the human's opens a turn, or what the agent printed.
func (s *hookSession) heard(ctx context.Context) error {
	return s.doc.Update(ctx, func(v filestore.Session) (filestore.Session, error) {
		m := memoryOf(v.Extra)
		if s.event.FromHuman(m) {
			v.State = v.State.Reset()
		}
		var err error
		v.Extra, err = pack(m.Heard(s.event))
		return v, err
	})
}

// read returns the memory, and keeps the state that lay beside it for Load.
func (s *hookSession) read(ctx context.Context) (hook.Memory, error) {
	v, err := s.doc.Load(ctx)
	if err != nil {
		return hook.Memory{}, err
	}
	s.state = &v.State
	return memoryOf(v.Extra), nil
}

// Load returns the state, at first the one that belongs to the memory the output was made with.
func (s *hookSession) Load(ctx context.Context, _ string) (autocontinue.State, error) {
	if state := s.state; state != nil {
		s.state = nil
		return *state, ctx.Err()
	}
	v, err := s.doc.Load(ctx)
	return v.State, err
}

// Update stores a decision, and that this pause was seen.
func (s *hookSession) Update(ctx context.Context, _ string, fn func(autocontinue.State) (autocontinue.State, error)) error {
	return s.doc.Update(ctx, func(v filestore.Session) (filestore.Session, error) {
		next, err := fn(v.State)
		if err != nil {
			return v, err
		}
		s.before = memoryOf(v.Extra)
		s.before.Transcript = s.seen
		s.stored, err = pack(s.before.After(s.event, s.out, autocontinue.Decision{}))
		return filestore.Session{State: next, Extra: s.stored}, err
	})
}

// sent stores which message was decided on, where the host will hand it back as a prompt and it does not show that it
// is ours. If another event came between, that one's memory counts.
func (s *hookSession) sent(ctx context.Context, d autocontinue.Decision) error {
	if !s.event.Host.Echoes() {
		return nil
	}
	after, err := pack(s.before.After(s.event, s.out, d))
	if err != nil || bytes.Equal(after, s.stored) {
		return err
	}
	return s.doc.Update(ctx, func(v filestore.Session) (filestore.Session, error) {
		if bytes.Equal(v.Extra, s.stored) {
			v.Extra = after
		}
		return v, nil
	})
}
