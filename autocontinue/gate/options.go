package gate

import "time"

// Options say how a session works. The zero value is an unaudited session without a journal.
type Options struct {
	// Audited sessions ask humans. In one that is not, nothing is asked: what the policy denies stays denied, everything
	// else passes; all of it is journaled.
	Audited bool

	// TTL is how long an item waits for an answer and, once approved, to be redeemed. 0 is [DefaultTTL], Never no end.
	TTL time.Duration

	// DenyLimit is how often the same tool call (or response) may be denied in one run; the run stops with the denial that
	// reaches it. 0 is [DefaultDenyLimit], Never no limit.
	DenyLimit int

	// Schema is asked about every proposal and every edit, after the body was read and before the policy. Its error's text
	// is shown to humans. It is called with the session's lock held and must not call the session.
	Schema func(Subject) error

	// Journal appends lines, each ending in a newline: all lines of one operation in one call, so that one write keeps them
	// together. It is called before the state changes and with the session's lock held; with an error nothing changes, and
	// the journal must be as it was before. It does not keep lines. nil keeps no journal.
	Journal func(lines []byte) error

	MaxBody    int // bytes of a body, a result or an edit; 0 is [DefaultMaxBody]
	MaxPending int // open items of the session; 0 is [DefaultMaxPending]
	MaxEvents  int // events kept for [Session.Events]; 0 is [DefaultMaxEvents]
	EventBytes int // bytes of journal lines kept for [Session.Events]; 0 is [DefaultEventBytes]
	KeepRuns   int // ended runs whose items are kept; 0 is [DefaultKeepRuns]
}

// What a zero in [Options] means.
const (
	DefaultTTL        = time.Hour
	DefaultDenyLimit  = 3
	DefaultMaxBody    = 8 << 20
	DefaultMaxPending = 10_000
	DefaultMaxEvents  = 10_000
	DefaultEventBytes = 32 << 20
	DefaultKeepRuns   = 1_000
)

// Never switches a limit of [Options] off.
const Never = -1
