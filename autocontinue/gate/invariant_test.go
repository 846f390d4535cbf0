package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	case runStaged, toolCallProposed, draftProposed:
		require.False(t, w.over[e.Run], "line %d proposes in a run that is over", e.Seq)
		key := e.Run + "/" + e.Call
		if e.Kind != Response {
			require.True(t, w.calls[key] == "" || w.calls[key] == e.Digest, "line %d uses an ID again", e.Seq)
			w.calls[key] = e.Digest
		}
		sub := e.subject()
		w.bodies[e.Item] = sub
		delete(w.digest, e.Item)
	case runStageApproved, toolCallApproved, finalApproved:
		require.False(t, w.over[e.Run])
		sub := w.bodies[e.Item]
		sub.Body = e.approvedBody(Item{Subject: sub})
		require.Equal(t, digest(sub), e.Digest)
		require.NotEqual(t, Forbid, w.policy.Judge(sub).Then, "line %d approves what the policy denies", e.Seq)
		w.digest[e.Item], w.bodies[e.Item] = e.Digest, sub
		if e.Action != "" {
			require.False(t, w.decided[e.Item], "line %d is a second decision", e.Seq)
			w.decided[e.Item] = true
		}
	case runStageDenied, toolCallDenied, finalDenied, itemExpired:
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
		require.NotEqual(t, Forbid, w.policy.Judge(w.bodies[e.Item]).Then, "line %d redeems what the policy denies", e.Seq)
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
		r.d = open(t, someRules, func(o *Options) { o.DenyLimit = 3 })
		for range 150 {
			r.step()
		}
		w := newWitness(t, someRules)
		for _, e := range mustEvents(t, r.d.log.String()) {
			w.read(t, e)
		}
	}
}

// Auditors, hosts, a clock and somebody who changes the rules, all at once: the journal keeps the promises, every grant is
// one of its lines, and the replayed session is the live one.
func TestEverybodyAtOnce(t *testing.T) {
	all := 0
	for seed := range uint64(3) {
		d := open(t, someRules)
		var mu sync.Mutex
		grants := map[string]Grant{}
		d.Watch(func(e Event) {
			if e.Type == toolCallApproved && e.Seq%2 == 0 { // an answer from inside
				if g, err := d.Redeem(start, e.Item); err == nil {
					mu.Lock()
					defer mu.Unlock()
					_, twice := grants[g.Item]
					if twice {
						t.Error("granted twice")
					}
					grants[g.Item] = g
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
						d.Propose(start, call(run, fmt.Sprint("c", i%20), pick(r, "profile_get", "weight_delete", "meal_save_batch"), pick(r, `{"rows":[]}`, `{"rows":[1,2,3,4]}`)))
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
								if _, twice := grants[g.Item]; twice {
									t.Error("granted twice")
								}
								grants[g.Item] = g
								mu.Unlock()
							}
						}
						for _, it := range with(d.Session, Redeemed) {
							d.Done(start, it.ID, json.RawMessage(`1`))
						}
					case 4:
						d.SetPolicy(start, "bob", policyOf(t, pick(r, someRules, `[{"tool":"*","then":"deny"}]`, `[{"tool":"*_delete","then":"allow"},{"tool":"*_get","then":"ask"}]`)))
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
			require.Equal(t, digest(g.Subject), g.Digest)
			require.Equal(t, w.bodies[id], g.Subject)
		}
		all += len(grants)
		require.Equal(t, inside(d.Session), inside(d.again(someRules)))
	}
	require.NotZero(t, all)
}
