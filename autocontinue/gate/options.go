package gate

import (
	"fmt"
	"time"
)

// Options say how a session works. The zero value is a session that is not audited and keeps no journal.
//
// A journal is replayed with the options it was written with: KeepRuns and KeepBytes are part of what the lines add up to.
// The others may change between; they count for what happens from then on.
type Options struct {
	// Audited sessions ask humans. In one that is not, nothing is asked: what the policy denies stays denied, everything
	// else passes; all of it is journaled. [Session.SetAudited] changes it.
	Audited bool

	// TTL is how long an item waits for an answer and, from its approval on, to be redeemed. 0 is [DefaultTTL], [Never] no
	// end. It runs by the now that is passed in; see [Session.Expire].
	TTL time.Duration

	// DenyLimit is how often the same tool call, or the same response, may be denied in one run, by whomever, expiry
	// included. The same is: the same tool and arguments of the same value under other call IDs. The denial that reaches the
	// limit stops the run. 0 is [DefaultDenyLimit], [Never] no limit.
	DenyLimit int

	// Schema is asked about every proposal and every edit, after the body was read and before the policy. What it returns is
	// wrapped in [ErrSchema]. It gets a copy, is called with the session's lock held and must not call the session. nil
	// takes everything.
	Schema func(Subject) error

	// Journal appends lines, each ending in a newline: all lines of one operation in one call, so that one write keeps them
	// together. It is called before the state changes, with the session's lock held, and must not call the session. With an
	// error nothing changes, and the journal must be as it was before the call: a host that wrote a part truncates the file
	// to where it began, which it knows from [Session.Journaled] after Replay and by counting since. After a panic of it the
	// session stands still, with [ErrJournal]. It must not keep lines. nil keeps no journal.
	Journal func(lines []byte) error

	// Head is for [Replay]: the hash of a line that the journal must hold, such as the last one that [Session.Head] or a
	// reader of the events has seen. A journal that ends before it is damaged. Empty demands nothing.
	Head string

	MaxBody    int // bytes of a body, an edit or a result, as JSON: a control character takes six; 0 is [DefaultMaxBody], at most 64 MiB
	MaxPending int // items that are pending or approved at a time; 0 is [DefaultMaxPending]
	MaxEvents  int // events kept for [Session.Events]; 0 is [DefaultMaxEvents]
	EventBytes int // bytes of lines kept for [Session.Events], but the last event always is; 0 is [DefaultEventBytes]
	RunItems   int // items of one run, decided ones too; 0 is [DefaultRunItems]
	KeepRuns   int // ended runs whose items are kept; of older ones only the ID is. 0 is [DefaultKeepRuns]
	KeepBytes  int // bytes of lines of ended runs whose items are kept, but the last run always is; 0 is [DefaultKeepBytes]
}

// What a zero in [Options] means.
const (
	DefaultTTL        = time.Hour
	DefaultDenyLimit  = 3
	DefaultMaxBody    = 16 << 20
	DefaultMaxPending = 10_000
	DefaultMaxEvents  = 10_000
	DefaultEventBytes = 32 << 20
	DefaultRunItems   = 10_000
	DefaultKeepRuns   = 1_000
	DefaultKeepBytes  = 256 << 20
)

// Never switches a limit of [Options] off, where its comment says so.
const Never = -1

const (
	maxMaxBody = 64 << 20
	maxTTL     = 10 * 365 * 24 * time.Hour
)

// filled returns the options with the defaults in place of zeros, or what is wrong with them.
func (o Options) filled() (Options, error) {
	for _, n := range []struct {
		name              string
		value             *int
		zero, least, most int
	}{
		{"DenyLimit", &o.DenyLimit, DefaultDenyLimit, Never, 1 << 30},
		{"MaxBody", &o.MaxBody, DefaultMaxBody, 1, maxMaxBody},
		{"MaxPending", &o.MaxPending, DefaultMaxPending, 1, 1 << 30},
		{"MaxEvents", &o.MaxEvents, DefaultMaxEvents, 1, 1 << 30},
		{"EventBytes", &o.EventBytes, DefaultEventBytes, 1, 1 << 30},
		{"RunItems", &o.RunItems, DefaultRunItems, 1, 1 << 30},
		{"KeepRuns", &o.KeepRuns, DefaultKeepRuns, 1, 1 << 30},
		{"KeepBytes", &o.KeepBytes, DefaultKeepBytes, 1, 1 << 30},
	} {
		if *n.value == 0 {
			*n.value = n.zero
		}
		if *n.value < n.least || *n.value > n.most {
			return Options{}, fmt.Errorf("gate: Options.%s is %d: 0 is the default, %d, otherwise it is from %d to %d", n.name, *n.value, n.zero, n.least, n.most)
		}
	}
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.TTL != Never && (o.TTL < 0 || o.TTL > maxTTL) {
		return Options{}, fmt.Errorf("gate: Options.TTL is %v: 0 is the default, %v, Never is no end, otherwise it is above 0 and at most %v", o.TTL, DefaultTTL, maxTTL)
	}
	return o, nil
}
