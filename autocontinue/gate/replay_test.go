package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// random drives a session by chance, over few names so that they meet.
type random struct {
	*rand.Rand
	d *desk
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
	return call(run, fmt.Sprint("c", r.IntN(9)), pick(r.Rand, "profile_get", "weight_delete", "meal_save_batch", "unheard_of"), args)
}

func (r random) item() Item {
	all := r.d.collect(func(x *run) map[string]struct{} {
		ids := make(map[string]struct{})
		for _, id := range x.items {
			ids[id] = struct{}{}
		}
		return ids
	}, func(*item) bool { return true })
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
			return d.SetPolicy(d.now, "bob", policyOf(d.t, pick(r.Rand, someRules, someRules, `[]`, `[{"tool":"*","then":"deny"}]`,
				`[{"tool":"weight_delete","when":[{"at":"/id","like":"*<&\u2028"},{"at":"","exists":true}],"then":"allow"},{"tool":"meal_*","then":"allow"}]`)))
		}
		return nil
	}
}

func TestReplayAtAnyCutEqualsTheLiveSession(t *testing.T) {
	seen := make(map[any]int)
	for seed := range uint64(50) {
		r := random{rand.New(rand.NewPCG(seed, 1)), nil}
		small := func(o *Options) {
			o.TTL, o.DenyLimit, o.KeepRuns = 5*time.Minute, 2, 1+int(seed%3)
			o.MaxEvents, o.KeepBytes = pick(r.Rand, 3, 50, 10_000), pick(r.Rand, 3_000, 0)
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
			if n%6 > 0 {
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
		runStaged, runStageApproved, runStageDenied, runStarted, toolCallProposed, toolCallApproved, toolCallDenied,
		toolCallStarted, toolCallResult, draftProposed, finalApproved, finalDenied, runFinished,
		itemExpired, itemRedeemed, policyChanged, auditChanged, Approve, Edit, Deny, Respond, Stop,
		Pending, Approved, Denied, Expired, Answered, Redeemed, Done, Withdrawn,
		staged, running, toolProposed, toolExecuting, responseProposed, Finished, Refused,
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
