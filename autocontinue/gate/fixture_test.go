package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var start = time.Date(2026, 3, 4, 5, 6, 7, 890, time.UTC)

// fixture is a session with its journal, and a clock that a test turns by hand.
type fixture struct {
	t *testing.T
	*Session
	log   bytes.Buffer
	fail  error // what the journal answers instead of writing
	now   time.Time
	calls int
}

const someRules = `[
	{"tool": "profile_get", "then": "allow"},
	{"tool": "*_delete", "then": "ask"},
	{"tool": "*_save_batch", "then": "ask"},
	{"tool": "*_save_batch", "when": [{"at": "/rows", "count_over": 3}], "then": "deny"}
]`

func policyOf(t testing.TB, text string) Policy {
	t.Helper()
	p, err := ParsePolicy([]byte(text))
	require.NoError(t, err)
	return p
}

// open returns an audited session, changed by with.
func open(t *testing.T, rules string, with ...func(*Options)) *fixture {
	t.Helper()
	d := &fixture{t: t, now: start}
	o := Options{Audited: true, Journal: d.journal, limits: defaultLimits}
	for _, f := range with {
		f(&o)
	}
	var err error
	d.Session, err = New(policyOf(t, rules), o)
	require.NoError(t, err)
	return d
}

func (d *fixture) journal(lines []byte) error {
	if d.fail != nil {
		return d.fail
	}
	d.calls++
	d.log.Write(lines)
	return nil
}

func contextOf(run string) Subject {
	return Subject{Kind: Context, Thread: "th", Run: run, Label: "stage",
		Body: json.RawMessage(`{"prompt":"log my weight"}`)}
}

func call(run, id, tool, args string) Subject {
	return Subject{Kind: Tool, Thread: "th", Run: run, Call: id, Tool: tool, Body: json.RawMessage(args)}
}

func draft(run, text string) Subject {
	body, _ := json.Marshal(map[string]string{"text": text})
	return Subject{Kind: Response, Thread: "th", Run: run, Body: body}
}

func (d *fixture) propose(sub Subject) Item {
	d.t.Helper()
	it, err := d.Propose(d.now, sub)
	require.NoError(d.t, err)
	return it
}

// started returns a run that goes on.
func (d *fixture) started(run string) string {
	d.t.Helper()
	it := d.propose(contextOf(run))
	if it.Status == Pending {
		it = d.resolve(it, Approve, "")
	}
	d.redeem(it)
	return run
}

func (d *fixture) decision(it Item, a Action, body string) Decision {
	return Decision{Item: it.ID, Digest: it.Digest, Action: a, By: "ann", Reason: "because", Body: json.RawMessage(body)}
}

func (d *fixture) resolve(it Item, a Action, body string) Item {
	d.t.Helper()
	got, err := d.Resolve(d.now, d.decision(it, a, body))
	require.NoError(d.t, err)
	return got
}

func (d *fixture) redeem(it Item) Subject {
	d.t.Helper()
	g, err := d.Redeem(d.now, it.ID)
	require.NoError(d.t, err)
	return g
}

func (d *fixture) status(id string) Status {
	it, ok := d.Item(id)
	require.True(d.t, ok)
	return it.Status
}

// types are the events since a number.
func (d *fixture) types(after uint64) []string {
	events, _ := d.Events(after)
	var types []string
	for _, e := range events {
		types = append(types, e.Type)
	}
	return types
}

func (d *fixture) seq() uint64 {
	seq, _, _ := d.Head()
	return seq
}

// again replays the journal as it is, under the same rules.
func (d *fixture) again(rules string, with ...func(*Options)) *Session {
	d.t.Helper()
	return replayed(d.t, policyOf(d.t, rules), d.options, d.log.String())
}

func replayed(t testing.TB, p Policy, o Options, journal string) *Session {
	t.Helper()
	s, err := Replay(p, o, strings.NewReader(journal))
	require.NoError(t, err)
	return s
}

// inside is everything that a session holds except its watchers and options, for a deep comparison.
func inside(s *Session) any { return s.st }

// readText is readJSON, with the text that a session keeps.
func readText(data []byte) ([]byte, error) {
	if _, err := readJSON(data); err != nil {
		return nil, err
	}
	return compact(data), nil
}

func errorIs(err, target error) bool { return errors.Is(err, target) }

// lines splits a journal, each with its newline.
func lines(journal string) []string {
	list := strings.SplitAfter(journal, "\n")
	return list[:len(list)-1]
}

var errDisk = errors.New("no space left")

// journaled returns the bytes of the whole lines.
func journaled(s *Session) int64 {
	_, _, size := s.Head()
	return size
}

// with returns the unfinished items of a status.
func with(s *Session, status Status) (items []Item) {
	for _, it := range s.Unfinished() {
		if it.Status == status {
			items = append(items, it)
		}
	}
	return items
}

func quote(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// verdict is Judge with all that it knows.
func (p Policy) verdict(sub Subject) verdict { return p.judge(&root{}, sub) }
