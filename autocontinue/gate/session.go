// Package gate is a state machine for what humans approve of an agent's doings: the context of a run before it is sent,
// each tool call before it is executed, and the response before it is shown or stored.
package gate

import (
	"encoding/json"
	"io"
	"time"
)

// Session holds the items of one journal. It is safe for concurrent use.
type Session struct{}

// New returns a session without history.
func New(p Policy, o Options) (*Session, error) { return nil, errTodo }

// Replay returns the session that wrote journal. Policy and audited state are the journal's last ones, where it has any.
// A half-written last line is left out; [Session.Journaled] says how many bytes to keep of the file.
func Replay(p Policy, o Options, journal io.Reader) (*Session, error) { return nil, errTodo }

// Journaled returns how many bytes of lines the session has written and replayed.
func (s *Session) Journaled() int64 { return 0 }

// Head returns the sequence number and the hash of the last line.
func (s *Session) Head() (seq uint64, sum string) { return 0, "" }

// Propose puts a subject before its gate. The same subject again (label aside) returns the same item.
func (s *Session) Propose(now time.Time, sub Subject) (Item, error) { return Item{}, errTodo }

// Resolve answers a pending item.
func (s *Session) Resolve(now time.Time, d Decision) (Item, error) { return Item{}, errTodo }

// Redeem hands out what was approved, once.
func (s *Session) Redeem(now time.Time, id string) (Grant, error) { return Grant{}, errTodo }

// Done records the result of a redeemed tool call.
func (s *Session) Done(now time.Time, id string, result json.RawMessage) (Item, error) {
	return Item{}, errTodo
}

// Finish ends a run that gives no response. Open items are withdrawn.
func (s *Session) Finish(now time.Time, run, reason string) error { return errTodo }

// StopRun ends a run by a human's will, whatever its phase. Open items are withdrawn.
func (s *Session) StopRun(now time.Time, run, by, reason string) error { return errTodo }

// Expire denies what waited too long and returns it.
func (s *Session) Expire(now time.Time) ([]Item, error) { return nil, errTodo }

// Pending returns the items that wait for a human, oldest first.
func (s *Session) Pending() []Item { return nil }

// Unspent returns the items that are approved and not redeemed, oldest first. After a restart a host looks at them:
// nothing resumes by itself.
func (s *Session) Unspent() []Item { return nil }

// Executing returns the tool calls that were redeemed and have no result, oldest first.
func (s *Session) Executing() []Item { return nil }

// Item returns one item.
func (s *Session) Item(id string) (Item, bool) { return Item{}, false }

// Items returns the kept items of a run, oldest first.
func (s *Session) Items(run string) []Item { return nil }

// Runs returns the runs whose items are kept, oldest first.
func (s *Session) Runs() []Run { return nil }

// Phase returns where a run stands.
func (s *Session) Phase(run string) Phase { return NoRun }

// SetPolicy replaces the policy. Pending items stay pending.
func (s *Session) SetPolicy(now time.Time, by string, p Policy) error { return errTodo }

// Policy returns the policy that holds.
func (s *Session) Policy() Policy { return Policy{} }

// SetAudited switches auditing. Pending items stay pending.
func (s *Session) SetAudited(now time.Time, by string, on bool) error { return errTodo }

// Audited reports whether humans are asked.
func (s *Session) Audited() bool { return false }

// Events returns the kept events with a sequence number above after. all is false when some of them are no longer kept:
// show Runs and Items instead and go on from the last event.
func (s *Session) Events(after uint64) (events []Event, all bool) { return nil, true }

// Watch calls f with every later event, in order and one at a time, after the state has changed and without a lock: f may
// call the session. f must not block; a Seq that jumps says that events were dropped meanwhile. After cancel returns no
// new call of f begins.
func (s *Session) Watch(f func(Event)) (cancel func()) { return func() {} }
