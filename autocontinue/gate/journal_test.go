package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// sampleJournal is a journal with every kind of event.
func sampleJournal(t *testing.T) *fixture {
	d := open(t, someRules)
	d.started("r1")
	c1 := d.propose(call("r1", "c1", "weight_delete", `{"id":1}`))
	c2 := d.propose(call("r1", "c2", "profile_get", `{}`))
	d.resolve(c1, Edit, `{"id":2}`)
	d.redeem(c1)
	_, err := d.Done(d.now, c1.ID, json.RawMessage(`{"gone":2}`))
	require.NoError(t, err)
	require.NoError(t, d.SetPolicy(d.now, "bob", policyOf(t, someRules)))
	d.redeem(c2)
	c3 := d.propose(call("r1", "c3", "weight_delete", `{}`))
	d.resolve(c3, Respond, `null`)
	_, err = d.Done(d.now, c2.ID, json.RawMessage(`null`))
	require.NoError(t, err)
	d.resolve(d.propose(draft("r1", "one")), Deny, "")
	last := d.propose(draft("r1", "two"))
	d.resolve(last, Approve, "")
	d.redeem(last)
	d.resolve(d.propose(contextOf("r2")), Deny, "")
	d.started("r3")
	d.resolve(d.propose(call("r3", "c1", "weight_delete", `{}`)), Deny, "")
	d.propose(call("r3", "c2", "weight_delete", `{}`))
	d.now = d.now.Add(time.Hour)
	_, err = d.Expire(d.now)
	require.NoError(t, err)
	require.NoError(t, d.SetAudited(d.now, "bob", true))
	d.propose(call("r3", "c4", "profile_get", `{}`))
	d.propose(call("r3", "c5", "meal_delete", `{}`))
	return d
}

func TestLines(t *testing.T) {
	d := sampleJournal(t)
	var prev string
	for i, line := range lines(d.log.String()) {
		var e map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		require.EqualValues(t, i+1, e["seq"])
		if i > 0 {
			require.Equal(t, prev, e["prev"], "the hash of the line before")
		}
		prev = e["sum"].(string)
		sum := sha256.Sum256([]byte("sidecoach gate line 1\n" + strings.Split(line, `"sum":`)[0]))
		require.Equal(t, hex.EncodeToString(sum[:]), prev)
	}
	seq, sum, _ := d.Head()
	require.Equal(t, prev, sum)
	require.EqualValues(t, len(lines(d.log.String())), seq)
}

func TestDamagedLinesAreNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	d := sampleJournal(t)
	whole := lines(d.log.String())
	for n := range whole {
		damage := map[string][]string{
			"changed":   replaced(whole, n, strings.Replace(whole[n], `"th"`, `"ht"`, 1)),
			"its time":  replaced(whole, n, strings.Replace(whole[n], "2026", "2027", 1)),
			"its hash":  replaced(whole, n, strings.Replace(whole[n], `"sum":"`, `"sum":"0`, 1)),
			"a blank":   replaced(whole, n, strings.Replace(whole[n], `,"prev"`, `, "prev"`, 1)),
			"cut short": replaced(whole, n, whole[n][:len(whole[n])/2]+"\n"),
			"emptied":   replaced(whole, n, "\n"),
			"CRLF":      replaced(whole, n, strings.TrimSuffix(whole[n], "\n")+"\r\n"),
			"twice":     replaced(whole, n, whole[n]+whole[n]),
			"foreign":   replaced(whole, n, `{"seq":1}`+"\n"),
		}
		at := map[string]int{"twice": n + 2}
		if n+1 < len(whole) {
			damage["missing"] = replaced(whole, n, "")
			damage["moved"] = replaced(replaced(whole, n, whole[n+1]), n+1, whole[n])
			// Changed with its own hash put right: then the next line does not follow it.
			e, err := decode([]byte(whole[n]), uint64(n), prevOf(whole, n))
			require.NoError(t, err)
			e.At = e.At.Add(time.Nanosecond)
			line := encode(&e)
			damage["changed with its hash"] = replaced(whole, n, string(line))
			at["changed with its hash"] = n + 2
		}
		for name, journal := range damage {
			if journal[n] == whole[n] {
				continue // this line has no thread
			}
			want := n + 1
			if at[name] != 0 {
				want = at[name]
			}
			s, err := Replay(policyOf(t, someRules), d.options, strings.NewReader(strings.Join(journal, "")))
			require.True(t, s == nil, name)
			require.ErrorIs(t, err, ErrJournal)
			require.Equal(t, want, lineOf(t, err), "%s: %v", name, err)
			require.NotContains(t, err.Error(), "log my weight")
		}
	}
}

// lineOf returns the line that an error of Replay names.
func lineOf(t *testing.T, err error) int {
	t.Helper()
	require.ErrorIs(t, err, ErrJournal)
	_, rest, _ := strings.Cut(err.Error(), ": line ")
	n, err := strconv.Atoi(rest[:strings.IndexByte(rest+":", ':')])
	require.NoError(t, err)
	return n
}

func replaced(lines []string, n int, line string) []string {
	c := append([]string(nil), lines...)
	c[n] = line
	return c
}

func prevOf(lines []string, n int) string {
	if n == 0 {
		return firstPrev
	}
	var e Event
	if err := json.Unmarshal([]byte(lines[n-1]), &e); err != nil {
		panic(err)
	}
	return e.Sum
}

func TestHalfWrittenLastLine(t *testing.T) {
	d := sampleJournal(t)
	whole := d.log.String()
	last := strings.LastIndexByte(strings.TrimSuffix(whole, "\n"), '\n') + 1
	for cut := last; cut < len(whole); cut += 7 {
		s := replayed(t, policyOf(t, someRules), d.options, whole[:cut])
		require.EqualValues(t, last, journaled(s))
	}
	// The host truncates, and goes on.
	kept := strings.Builder{}
	kept.WriteString(whole[:last])
	o := d.options
	o.Journal = func(lines []byte) error { kept.Write(lines); return nil }
	s := replayed(t, policyOf(t, someRules), o, whole[:last+20])
	_, err := s.Propose(d.now, call("r3", "c7", "profile_get", `{}`))
	require.NoError(t, err)
	require.Equal(t, inside(s), inside(replayed(t, policyOf(t, someRules), o, kept.String())))
	// A host that forgets to hears of it.
	_, err = Replay(policyOf(t, someRules), o, strings.NewReader(whole[:last+20]+kept.String()[last:]))
	require.ErrorIs(t, err, ErrJournal)
}

func TestReadersThatFail(t *testing.T) {
	d := sampleJournal(t)
	broken := errors.New("unplugged")
	_, err := Replay(policyOf(t, someRules), d.options,
		io.MultiReader(strings.NewReader(d.log.String()[:100]), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, err, ErrJournal)
	s, err := Replay(policyOf(t, someRules), d.options, iotest.OneByteReader(strings.NewReader(d.log.String())))
	require.NoError(t, err)
	require.Equal(t, inside(d.Session), inside(s))
}

func TestWhatWaitedSurvivesARestart(t *testing.T) {
	d := sampleJournal(t)
	executing := d.propose(call("r3", "c8", "profile_get", `{"x":1}`))
	d.redeem(executing)
	s := d.again(`[]`)
	require.Equal(t, d.Policy(), s.Policy(), "the journal's policy")
	require.True(t, s.Audited())
	before, _, _ := s.Head()
	pending, unfinished := s.Pending(), s.Unfinished()
	require.Len(t, pending, 1)
	require.Equal(t, d.Pending(), pending)
	require.Len(t, unfinished, 2)
	require.Equal(t, "c4", unfinished[0].Call)
	require.Equal(t, "c8", unfinished[1].Call)
	after, _, _ := s.Head()
	require.Equal(t, before, after, "nothing resumes by itself")
	require.Equal(t, d.Runs(), s.Runs())
	_, err := s.Resolve(d.now, d.decision(pending[0], Approve, ""))
	require.NoError(t, err)
	_, err = s.Redeem(d.now, unfinished[0].ID)
	require.NoError(t, err)
	_, err = s.Redeem(d.now, executing.ID)
	require.ErrorIs(t, err, ErrDecided)
}

// A crash between the lines of one operation, which only a failing disk can cause.
func TestProposalWrittenByHalfIsCompleted(t *testing.T) {
	for tool, want := range map[string]Status{"profile_get": Approved, "unheard_of": Denied, "weight_delete": Pending} {
		d := open(t, someRules)
		sub := call(d.started("r"), "c", tool, `{}`)
		cut := d.log.Len()
		d.propose(sub)
		first := strings.IndexByte(d.log.String()[cut:], '\n') + 1
		s := replayed(t, policyOf(t, someRules), d.options, d.log.String()[:cut+first])
		require.Len(t, s.Pending(), 1)
		it, err := s.Propose(d.now, sub)
		require.NoError(t, err)
		require.Equal(t, want, it.Status)
	}
}

// halved is the session as it is after a crash that took the last line.
func (d *fixture) halved() *Session {
	all := lines(d.log.String())
	return replayed(d.t, policyOf(d.t, someRules), d.options, strings.Join(all[:len(all)-1], ""))
}

func TestStopWrittenByHalf(t *testing.T) {
	d := open(t, someRules)
	it := d.propose(call(d.started("r"), "c", "weight_delete", `{}`))
	d.resolve(it, Stop, "")
	s := d.halved()
	require.Equal(t, stopped, s.Phase("r"), "the denial says so, too")
	require.Equal(t, d.Runs(), s.Runs())
	seq, _, _ := s.Head()
	_, err := s.Resolve(d.now, d.decision(it, Stop, ""))
	require.NoError(t, err)
	again, _, _ := s.Head()
	require.Equal(t, seq, again)
}

func TestRedeemWrittenByHalf(t *testing.T) {
	t.Run("context", func(t *testing.T) {
		d := open(t, someRules)
		d.started("r")
		s := d.halved()
		require.Equal(t, running, s.Phase("r"), "a run that nobody could start or approve would stay staged")
		_, err := s.Propose(d.now, call("r", "c", "profile_get", `{}`))
		require.NoError(t, err)
	})
	t.Run("tool", func(t *testing.T) {
		d := open(t, someRules)
		it := d.propose(call(d.started("r"), "c", "profile_get", `{}`))
		d.redeem(it)
		s := d.halved()
		require.Len(t, s.Unfinished(), 1)
		_, err := s.Done(d.now, it.ID, json.RawMessage(`1`))
		require.NoError(t, err)
	})
	t.Run("response", func(t *testing.T) {
		d := open(t, someRules)
		d.started("r")
		it := d.resolve(d.propose(draft("r", "one")), Approve, "")
		d.redeem(it)
		s := d.halved()
		require.Equal(t, finished, s.Phase("r"))
		_, err := s.Propose(d.now, draft("r", "two"))
		require.ErrorIs(t, err, ErrIllegal, "a run has one response")
		require.ErrorIs(t, s.StopRun(d.now, "r", "ann", ""), ErrIllegal)
		require.NoError(t, s.Finish(d.now, "r", ""))
	})
}

func TestFailingJournalChangesNothing(t *testing.T) {
	d := sampleJournal(t)
	pending, unspent := d.Pending()[0], d.Unfinished()[0]
	busy := d.propose(call("r3", "c6", "profile_get", `{}`))
	d.redeem(busy)
	heard := 0
	d.Watch(func(Event) { heard++ })
	for name, op := range map[string]func() error{
		"propose": func() error { return second(d.Propose(d.now, contextOf("r9"))) },
		"pass":    func() error { return second(d.Propose(d.now, call("r3", "c7", "profile_get", `{}`))) },
		"resolve": func() error { return second(d.Resolve(d.now, d.decision(pending, Approve, ""))) },
		"redeem":  func() error { return second(d.Redeem(d.now, unspent.ID)) },
		"done":    func() error { return second(d.Done(d.now, busy.ID, json.RawMessage(`1`))) },
		"expire":  func() error { return second(d.Expire(d.now.Add(2 * time.Hour))) },
		"late":    func() error { return second(d.Redeem(d.now.Add(2*time.Hour), unspent.ID)) },
		"finish":  func() error { return d.Finish(d.now, "r3", "") },
		"stop":    func() error { return d.StopRun(d.now, "r3", "ann", "") },
		"policy":  func() error { return d.SetPolicy(d.now, "ann", Policy{}) },
		"audited": func() error { return d.SetAudited(d.now, "ann", false) },
	} {
		t.Run(name, func(t *testing.T) {
			d.fail = errDisk
			err := op()
			require.ErrorIs(t, err, ErrJournal)
			require.ErrorIs(t, err, errDisk)
			d.fail = nil
			require.Equal(t, inside(d.again(someRules)), inside(d.Session))
			require.Zero(t, heard)
		})
	}
	_, err := d.Redeem(d.now, unspent.ID)
	require.NoError(t, err, "and then it works")
}

func TestTimes(t *testing.T) {
	d := open(t, someRules)
	zone := time.FixedZone("far", 9*3600)
	it, err := d.Propose(start.In(zone), contextOf("r"))
	require.NoError(t, err)
	require.Equal(t, start, it.Proposed)
	for _, now := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)} {
		_, err := d.Propose(now, contextOf("r2"))
		require.ErrorIs(t, err, ErrInput)
	}
	d = open(t, someRules)
	_, err = d.Propose(time.Now(), contextOf("r")) // with a monotonic reading
	require.NoError(t, err)
	require.Equal(t, inside(d.Session), inside(d.again(someRules)))
}

func TestJournalIsOneCallAnOperation(t *testing.T) {
	d := open(t, someRules)
	calls := 0
	step := func(lines int) {
		t.Helper()
		calls++
		require.Equal(t, calls, d.calls)
		require.Equal(t, lines, strings.Count(d.log.String(), "\n"))
	}
	it := d.propose(contextOf("r"))
	step(1)
	d.resolve(it, Approve, "")
	step(2)
	d.redeem(it)
	step(4)
	d.propose(call("r", "c", "profile_get", `{}`))
	step(6)
}
