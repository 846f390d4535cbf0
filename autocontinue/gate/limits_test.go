package gate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLargeHostileDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	text := "<script>" + strings.Repeat("\u202e\x00\"\\", 1<<18/6)
	d := open(t, someRules)
	it := d.propose(draft(d.started("r"), text))
	d.resolve(it, Approve, "")
	var body struct{ Text string }
	require.NoError(t, json.Unmarshal(d.redeem(it).Body, &body))
	require.True(t, text == body.Text)
	again, _ := d.again(someRules).Item(it.ID)
	require.True(t, string(it.Body) == string(again.Body))
}

func TestHostFunctionsThatMisbehave(t *testing.T) {
	t.Run("a journal that overwrites its lines", func(t *testing.T) {
		var log strings.Builder
		d := open(t, someRules, func(o *Options) {
			o.Journal = func(lines []byte) error { log.Write(lines); clear(lines); return nil }
		})
		d.started("r")
		require.Equal(t, inside(d.Session), inside(replayed(t, policyOf(t, someRules), d.options, log.String())))
	})
	t.Run("a journal that panics", func(t *testing.T) {
		var log strings.Builder
		ill := false
		d := open(t, someRules, func(o *Options) {
			o.Journal = func(lines []byte) error {
				log.Write(lines)
				if ill {
					panic("disk")
				}
				return nil
			}
		})
		d.started("r")
		ill = true
		require.Panics(t, func() { d.Propose(d.now, contextOf("s")) })
		require.Len(t, d.Runs(), 1, "the lock is free and nothing changed")
		ill = false
		_, err := d.Propose(d.now, contextOf("s"))
		require.ErrorIs(t, err, ErrJournal, "the line may be there, and a second of its number would damage the journal")
		s := replayed(t, policyOf(t, someRules), d.options, log.String())
		require.Len(t, s.Pending(), 1)
	})
	t.Run("a schema that panics", func(t *testing.T) {
		d := open(t, someRules, func(o *Options) { o.Schema = func(Subject) error { panic("schema") } })
		require.Panics(t, func() { d.Propose(d.now, contextOf("r")) })
		require.Empty(t, d.Runs())
	})
}

// crowded is a session with n pending calls, and its journal.
func crowded(tb testing.TB, n int) (*Session, *strings.Builder) {
	var log strings.Builder
	s, err := New(policyOf(tb, someRules),
		Options{Audited: true, Journal: func(lines []byte) error { log.Write(lines); return nil }})
	require.NoError(tb, err)
	for i := range n {
		run := fmt.Sprint("r", i/10)
		if i%10 == 0 {
			it, err := s.Propose(start, contextOf(run))
			require.NoError(tb, err)
			_, err = s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Approve, By: "ann"})
			require.NoError(tb, err)
			_, err = s.Redeem(start, it.ID)
			require.NoError(tb, err)
		}
		_, err := s.Propose(start, call(run, fmt.Sprint("c", i), "weight_delete", fmt.Sprintf(`{"id":%d}`, i)))
		require.NoError(tb, err)
	}
	return s, &log
}

func TestThousandPending(t *testing.T) {
	s, log := crowded(t, 1000)
	pending := s.Pending()
	require.Len(t, pending, 1000)
	for i, it := range pending {
		require.Equal(t, fmt.Sprint("c", i), it.Call)
	}
	gone, err := s.Expire(start.Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, gone, 1000)
	require.Empty(t, s.Pending())
	require.Equal(t, inside(s), inside(replayed(t, policyOf(t, someRules), s.options, log.String())))
}

// Each turn proposes, approves, redeems and finishes one call beside those that wait.
func BenchmarkCallBesidePending(b *testing.B) {
	for _, n := range []int{0, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, _ := crowded(b, n)
			s.options.Journal = nil
			it, err := s.Propose(start, contextOf("bench"))
			require.NoError(b, err)
			_, err = s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Approve, By: "ann"})
			require.NoError(b, err)
			_, err = s.Redeem(start, it.ID)
			require.NoError(b, err)
			i := 0
			for b.Loop() {
				it, err := s.Propose(start, call("bench", fmt.Sprint("n", i), "meal_delete", `{"id":1}`))
				if err == nil {
					_, err = s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Approve, By: "ann"})
				}
				if err == nil {
					_, err = s.Redeem(start, it.ID)
				}
				if err == nil {
					_, err = s.Done(start, it.ID, json.RawMessage(`true`))
				}
				if err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
}

func BenchmarkPending(b *testing.B) {
	s, _ := crowded(b, 1000)
	for b.Loop() {
		s.Pending()
	}
}

func BenchmarkExpireNothing(b *testing.B) {
	s, _ := crowded(b, 1000)
	for b.Loop() {
		if gone, err := s.Expire(start.Add(time.Minute)); err != nil || len(gone) > 0 {
			b.Fatal(gone, err)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	s, log := crowded(b, 1000)
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		if _, err := Replay(s.Policy(), Options{Audited: true}, strings.NewReader(log.String())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProposeFiveMegabytes(b *testing.B) {
	s, err := New(Policy{}, Options{Audited: true})
	require.NoError(b, err)
	sub := contextOf("r")
	sub.Body = json.RawMessage(`{"text":"` + strings.Repeat("hostile \u202e", 5<<20/11) + `"}`)
	b.SetBytes(int64(len(sub.Body)))
	i := 0
	for b.Loop() {
		sub.Run = fmt.Sprint("r", i)
		it, err := s.Propose(start, sub)
		if err == nil {
			_, err = s.Resolve(start, Decision{Item: it.ID, Digest: it.Digest, Action: Deny, By: "ann"})
		}
		if err != nil {
			b.Fatal(err)
		}
		i++
	}
}
