package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// random drives a session by chance, over few names so that they meet.
type random struct {
	*rand.Rand
	d *fixture
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func (r random) subject() Subject {
	run := fmt.Sprint("r", r.IntN(5))
	switch r.IntN(6) {
	case 0, 1:
		sub := contextOf(run)
		if r.IntN(8) == 0 {
			sub.Body = json.RawMessage(`{"other": 1.50}`)
		}
		return sub
	case 2:
		return draft(run, pick(r.Rand, "well", "done\u2028", "<b>&"))
	}
	args := pick(r.Rand, `{}`, `{"rows":[1,2,3,4]}`, `{"rows":[1.0, 2e3]}`, `{"id":"\u00e9"}`)
	return call(run, fmt.Sprint("c", r.IntN(9)),
		pick(r.Rand, "profile_get", "weight_delete", "meal_save_batch", "unheard_of"), args)
}

func (r random) item() Item {
	all := r.d.collect(func(*Item) bool { return true })
	if len(all) == 0 {
		return Item{ID: "i1"}
	}
	return pick(r.Rand, all...)
}

// step does one operation, legal or not, and returns its error.
func (r random) step() error {
	d := r.d
	d.now = d.now.Add(time.Duration(r.IntN(40)) * time.Second)
	switch r.IntN(16) {
	case 0, 1, 2, 3, 4:
		_, err := d.Propose(d.now, r.subject())
		return err
	case 5, 6, 7:
		it := r.item()
		if waiting := d.Pending(); len(waiting) > 0 && r.IntN(4) > 0 {
			it = pick(r.Rand, waiting...)
		}
		a := pick(r.Rand, Approve, Approve, Edit, Deny, Respond, Stop)
		body := ""
		if a == Edit || a == Respond {
			body = pick(r.Rand, `{"rows": [7]}`, `{"rows":[1,2,3,4,5]}`, `{"text":"edited","a2ui":[null]}`, `null`)
		}
		_, err := d.Resolve(d.now, d.decision(it, a, body))
		return err
	case 8, 9, 10, 11:
		for _, it := range with(d.Session, Approved) {
			if r.IntN(2) == 0 {
				_, err := d.Redeem(d.now, it.ID)
				return err
			}
		}
		_, err := d.Redeem(d.now, r.item().ID)
		return err
	case 12:
		it := r.item()
		if busy := with(d.Session, Redeemed); len(busy) > 0 && r.IntN(4) > 0 {
			it = pick(r.Rand, busy...)
		}
		_, err := d.Done(d.now, it.ID, json.RawMessage(pick(r.Rand, `null`, `{"ok":true}`, `12345678901234567890.10`)))
		return err
	case 13:
		_, err := d.Expire(d.now)
		return err
	case 14:
		switch r.IntN(6) {
		case 0:
			return d.Finish(d.now, fmt.Sprint("r", r.IntN(5)), "enough")
		case 1:
			return d.StopRun(d.now, fmt.Sprint("r", r.IntN(5)), "bob", "stop it")
		}
		return nil
	default:
		switch r.IntN(6) {
		case 0:
			return d.SetAudited(d.now, "bob", r.IntN(4) > 0)
		case 1:
			return d.SetPolicy(d.now, "bob",
				policyOf(d.t, pick(r.Rand, someRules, someRules, `[]`, `[{"tool":"*","then":"deny"}]`,
					`[{"tool":"weight_delete","when":[{"at":"/id","like":"*<&\u2028"},{"at":"","exists":true}],"then":"allow"},`+
						`{"tool":"meal_*","then":"allow"}]`)))
		}
		return nil
	}
}

func TestReplayAtAnyCutEqualsTheLiveSession(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	seen := make(map[any]int)
	for seed := range uint64(50) {
		r := random{rand.New(rand.NewPCG(seed, 1)), nil}
		small := func(o *Options) {
			o.TTL, o.limits.denials, o.limits.keepRuns = 5*time.Minute, 2, 1+int(seed%3)
			o.limits.events, o.limits.keepBytes = pick(r.Rand, 3, 50, 10_000), pick(r.Rand, 3_000, 0)
		}
		r.d = open(t, someRules, small)
		twin := replayed(t, policyOf(t, someRules), r.d.options, "") // takes the same lines, one operation at a time
		for n := range 120 {
			before, seq := r.d.log.Len(), r.d.seq()
			if r.IntN(10) == 0 {
				r.d.fail = errDisk
			}
			err := r.step()
			if r.d.fail != nil {
				require.Equal(t, before, r.d.log.Len())
				require.Equal(t, seq, r.d.seq())
				r.d.fail = nil
			}
			if err != nil {
				require.NotContains(t, err.Error(), "stands still")
			}
			require.NoError(t, twin.replay(strings.NewReader(r.d.log.String()[before:])))
			require.Equal(t, int64(r.d.log.Len()), journaled(r.d.Session))
			if n%12 > 0 {
				continue
			}
			again := r.d.again(someRules)
			if !reflect.DeepEqual(inside(r.d.Session), inside(again)) || !reflect.DeepEqual(inside(twin), inside(again)) {
				require.Equal(t, inside(r.d.Session), inside(again), "seed %d", seed)
			}
		}
		for _, e := range mustEvents(t, r.d.log.String()) {
			seen[e.Type]++
			seen[e.Action]++
		}
		for _, it := range r.d.st.items {
			seen[it.Status]++
		}
		for _, run := range r.d.Runs() {
			seen[run.Phase]++
		}
		// A cut inside an operation, or inside a line: the whole lines hold, and the session goes on from there.
		whole := r.d.log.String()
		for range 10 {
			cut := r.IntN(len(whole) + 1)
			kept := strings.LastIndexByte(whole[:cut], '\n') + 1
			s := replayed(t, policyOf(t, someRules), r.d.options, whole[:cut])
			require.Equal(t, int64(kept), journaled(s))
			require.Equal(t, inside(replayed(t, policyOf(t, someRules), r.d.options, whole[:kept])), inside(s))
			require.NoError(t, s.replay(strings.NewReader(whole[kept:])))
			require.True(t, reflect.DeepEqual(inside(r.d.Session), inside(s)))
		}
	}
	for _, what := range []any{
		"RUN_STAGED", "RUN_STAGE_APPROVED", "RUN_STAGE_DENIED", "RUN_STARTED", "TOOL_CALL_PROPOSED", "TOOL_CALL_APPROVED",
		"TOOL_CALL_DENIED", "TOOL_CALL_STARTED", toolCallResult, "ASSISTANT_DRAFT_PROPOSED", "ASSISTANT_FINAL_APPROVED",
		"ASSISTANT_FINAL_DENIED", runFinished, itemExpired, itemRedeemed, policyChanged, auditChanged, Approve, Edit, Deny,
		Respond, Stop, Pending, Approved, Denied, Expired, Done, Redeemed, Done, Withdrawn,
		staged, running, toolProposed, toolExecuting, responseProposed, finished, stopped,
	} {
		require.Positive(t, seen[what], "chance never made a %v", what)
	}
}

func mustEvents(t *testing.T, journal string) []Event {
	var events []Event
	for _, line := range lines(journal) {
		var e Event
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		events = append(events, e)
	}
	return events
}

// witness reads nothing but the journal and the grants, and knows nothing of how the session works.
type witness struct {
	digest  map[string]string // of each item, as it was approved; gone when it may not be redeemed
	spent   map[string]bool
	calls   map[string]string // digest of what each call ID of a run was first proposed with
	over    map[string]bool
	decided map[string]bool // by a human
	policy  Policy
	bodies  map[string]Subject
}

func (w *witness) read(t *testing.T, e Event) {
	t.Helper()
	switch e.Type {
	case "RUN_STAGED", "TOOL_CALL_PROPOSED", "ASSISTANT_DRAFT_PROPOSED":
		require.False(t, w.over[e.Run], "line %d proposes in a run that is over", e.Seq)
		key := e.Run + "/" + e.Call
		if e.Kind != Response {
			require.True(t, w.calls[key] == "" || w.calls[key] == e.Digest, "line %d uses an ID again", e.Seq)
			w.calls[key] = e.Digest
		}
		sub := Subject{Kind: e.Kind, Thread: e.Thread, Run: e.Run, Call: e.Call, Tool: e.Tool, Label: e.Label,
			Body: e.getBody(false)}
		w.bodies[e.Item] = sub
		delete(w.digest, e.Item)
	case "RUN_STAGE_APPROVED", "TOOL_CALL_APPROVED", "ASSISTANT_FINAL_APPROVED":
		require.False(t, w.over[e.Run])
		sub := w.bodies[e.Item]
		if body := e.getBody(true); body != nil {
			sub.Body = body
		}
		require.Equal(t, digest(sub), e.Digest)
		require.NotEqual(t, forbid, w.policy.verdict(sub).then, "line %d approves what the policy denies", e.Seq)
		w.digest[e.Item], w.bodies[e.Item] = e.Digest, sub
		if e.Action != "" {
			require.False(t, w.decided[e.Item], "line %d is a second decision", e.Seq)
			w.decided[e.Item] = true
		}
	case "RUN_STAGE_DENIED", "TOOL_CALL_DENIED", "ASSISTANT_FINAL_DENIED", itemExpired:
		if e.Action != "" {
			require.False(t, w.decided[e.Item], "line %d is a second decision", e.Seq)
			w.decided[e.Item] = true
		}
		if e.Type == itemExpired {
			require.Empty(t, e.By)
		}
		delete(w.digest, e.Item)
		if e.Kind == Context {
			w.over[e.Run] = true
		}
	case itemRedeemed:
		require.False(t, w.over[e.Run])
		require.False(t, w.spent[e.Item], "line %d redeems twice", e.Seq)
		require.Equal(t, w.digest[e.Item], e.Digest)
		require.NotEqual(t, forbid, w.policy.verdict(w.bodies[e.Item]).then, "line %d redeems what the policy denies", e.Seq)
		w.spent[e.Item] = true
	case runFinished:
		require.False(t, w.over[e.Run], "line %d ends a run twice", e.Seq)
		w.over[e.Run] = true
	case policyChanged:
		w.policy = *e.Policy
	}
}

func newWitness(t *testing.T, rules string) *witness {
	return &witness{
		digest: map[string]string{}, spent: map[string]bool{}, calls: map[string]string{}, over: map[string]bool{},
		decided: map[string]bool{}, bodies: map[string]Subject{}, policy: policyOf(t, rules),
	}
}

func TestJournalKeepsThePromises(t *testing.T) {
	for seed := range uint64(40) {
		r := random{rand.New(rand.NewPCG(seed, 2)), nil}
		r.d = open(t, someRules, func(o *Options) { o.limits.denials = 3 })
		for range 150 {
			r.step()
		}
		w := newWitness(t, someRules)
		for _, e := range mustEvents(t, r.d.log.String()) {
			w.read(t, e)
		}
	}
}

// Auditors, hosts, a clock and somebody who changes the rules, all at once: the journal keeps the promises, every grant
// is one of its lines, and the replayed session is the live one.
func TestEverybodyAtOnce(t *testing.T) {
	all := 0
	for seed := range uint64(3) {
		d := open(t, someRules)
		var mu sync.Mutex
		grants := map[string]Subject{}
		d.Watch(func(e Event) {
			if e.Type == "TOOL_CALL_APPROVED" && e.Seq%2 == 0 { // an answer from inside
				if g, err := d.Redeem(start, e.Item); err == nil {
					mu.Lock()
					defer mu.Unlock()
					_, twice := grants[e.Item]
					if twice {
						t.Error("granted twice")
					}
					grants[e.Item] = g
				}
			}
		})
		var wg sync.WaitGroup
		for worker := range uint64(20) {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(seed, worker))
				for i := range 60 {
					run := fmt.Sprint("r", r.IntN(6))
					switch worker % 5 {
					case 0: // a host
						d.Propose(start, contextOf(run))
						d.Propose(start, call(run, fmt.Sprint("c", i%20), pick(r, "profile_get", "weight_delete", "meal_save_batch"),
							pick(r, `{"rows":[]}`, `{"rows":[1,2,3,4]}`)))
						d.Propose(start, draft(run, "done"))
					case 1, 2: // auditors
						for _, it := range d.Pending() {
							body := ""
							a := pick(r, Approve, Approve, Deny, Edit)
							if a == Edit {
								body = `{"rows":[7]}`
							}
							d.Resolve(start, d.decision(it, a, body))
						}
					case 3: // another host
						for _, it := range with(d.Session, Approved) {
							if g, err := d.Redeem(start, it.ID); err == nil {
								mu.Lock()
								if _, twice := grants[it.ID]; twice {
									t.Error("granted twice")
								}
								grants[it.ID] = g
								mu.Unlock()
							}
						}
						for _, it := range with(d.Session, Redeemed) {
							d.Done(start, it.ID, json.RawMessage(`1`))
						}
					case 4:
						d.SetPolicy(start, "bob", policyOf(t,
							pick(r, someRules, `[{"tool":"*","then":"deny"}]`,
								`[{"tool":"*_delete","then":"allow"},{"tool":"*_get","then":"ask"}]`)))
						d.Items(run)
						d.Runs()
						d.Events(0)
					}
				}
			})
		}
		wg.Wait()
		w := newWitness(t, someRules)
		events := mustEvents(t, d.log.String())
		for _, e := range events {
			w.read(t, e)
		}
		require.Len(t, grants, len(w.spent))
		for id, g := range grants {
			require.Equal(t, w.bodies[id], g)
			it, _ := d.Item(id)
			require.True(t, it.ID == "" || it.Final == digest(g))
		}
		all += len(grants)
		require.Equal(t, inside(d.Session), inside(d.again(someRules)))
	}
	require.NotZero(t, all)
}

// A journal that was changed anywhere is either an error or, cut at its end, what was there before.
func FuzzReplay(f *testing.F) {
	const rules = `[{"tool":"*_delete","then":"ask"},{"tool":"get","then":"allow"}]`
	var log bytes.Buffer
	o := Options{Audited: true, Journal: func(lines []byte) error { log.Write(lines); return nil }}
	p := policyOf(f, rules)
	s, err := New(p, o)
	require.NoError(f, err)
	step := func(it Item, err error) Item {
		require.NoError(f, err)
		return it
	}
	it := step(s.Propose(start, contextOf("r")))
	step(s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Edit, By: "ann",
		Body: json.RawMessage(`{"prompt":2}`)}))
	_, err = s.Redeem(start, it.ID)
	require.NoError(f, err)
	step(s.Propose(start, call("r", "c", "get", `{"a":1.50}`)))
	it = step(s.Propose(start, call("r", "d", "x_delete", `{}`)))
	step(s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Deny, By: "ann"}))
	whole := log.String()
	o.Journal = nil

	for i := 0; i < len(whole); i += 97 {
		f.Add(i, 1, "x")
		f.Add(i, 0, "\n")
		f.Add(i, 40, "")
	}
	f.Add(len(whole), 0, whole)
	f.Add(0, len(whole), "")
	f.Fuzz(func(t *testing.T, at, drop int, put string) {
		if at < 0 || drop < 0 || at > len(whole) || drop > len(whole)-at {
			t.Skip("outside of the journal")
		}
		changed := whole[:at] + put + whole[at+drop:]
		s, err := Replay(p, o, strings.NewReader(changed))
		kept := changed[:strings.LastIndexByte(changed, '\n')+1]
		if err == nil {
			require.True(t, strings.HasPrefix(whole, kept), "%q", changed)
			require.True(t, reflect.DeepEqual(inside(s), inside(replayed(t, p, o, kept))))
			_, _, size := s.Head()
			require.EqualValues(t, len(kept), size)
			return
		}
		require.False(t, strings.HasPrefix(whole, kept), "%q: %v", changed, err)
		good := 0 // whole lines that are untouched
		for i, line := range lines(kept) {
			if original := lines(whole); i >= len(original) || line != original[i] {
				break
			}
			good++
		}
		require.Equal(t, good+1, lineOf(t, err))
	})
}
