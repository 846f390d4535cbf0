package natskv

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/storetest"
	"github.com/sidecoach/sidecoach/classify"
)

func TestStore(t *testing.T) {
	s := serve(t)
	storetest.Run(t, func(t *testing.T) autocontinue.Store {
		return New(bucket(t, s.ClientURL(), jetstream.KeyValueConfig{}), Options{})
	})
}

func TestEmptyName(t *testing.T) {
	store := New(bucket(t, serve(t).ClientURL(), jetstream.KeyValueConfig{}), Options{})
	_, err := store.Load(t.Context(), "")
	require.ErrorIs(t, err, autocontinue.ErrNoSession)
	require.ErrorIs(t, store.Update(t.Context(), "", count), autocontinue.ErrNoSession)
}

// An update that always comes second gives up, and has written nothing.
func TestConflict(t *testing.T) {
	kv := bucket(t, serve(t).ClientURL(), jetstream.KeyValueConfig{})
	store, other := New(kv, Options{Tries: 5, Pause: time.Millisecond}), New(kv, Options{})
	calls := 0
	err := store.Update(t.Context(), "a", func(s autocontinue.State) (autocontinue.State, error) {
		calls++
		require.NoError(t, other.Update(t.Context(), "a", count))
		s.Seq = 1000
		return s, nil
	})
	require.ErrorIs(t, err, autocontinue.ErrConflict)
	assert.NotErrorIs(t, err, autocontinue.ErrUnavailable)
	assert.Equal(t, 5, calls)
	got, err := store.Load(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, 5, got.Seq)
}

// A key that was deleted, as a bucket's TTL does, is a session nothing is known of.
func TestDeleted(t *testing.T) {
	kv := bucket(t, serve(t).ClientURL(), jetstream.KeyValueConfig{})
	store := New(kv, Options{})
	require.NoError(t, store.Update(t.Context(), "a", count))
	require.NoError(t, kv.Delete(t.Context(), Key("a")))
	require.NoError(t, store.Update(t.Context(), "a", func(s autocontinue.State) (autocontinue.State, error) {
		assert.Zero(t, s.Seq)
		return count(s)
	}))
}

// A state of a newer version, or none at all, is never overwritten.
func TestUnreadable(t *testing.T) {
	kv := bucket(t, serve(t).ClientURL(), jetstream.KeyValueConfig{})
	store := New(kv, Options{})
	for value, want := range map[string]error{
		`{"version":99}`: autocontinue.ErrStateVersion, `{"version":4,"later":"x"}`: autocontinue.ErrStateVersion,
		`{"version":1,`: nil, ``: nil,
	} {
		_, err := kv.PutString(t.Context(), Key("a"), value)
		require.NoError(t, err)
		err = store.Update(t.Context(), "a", count)
		require.Error(t, err)
		assert.NotErrorIs(t, err, autocontinue.ErrUnavailable)
		if want != nil {
			require.ErrorIs(t, err, want)
		}
		entry, err := kv.Get(t.Context(), Key("a"))
		require.NoError(t, err)
		assert.Equal(t, value, string(entry.Value()))
	}
}

// A full bucket takes nothing, from known sessions either; nothing is continued until there is room again.
func TestFull(t *testing.T) {
	kv := bucket(t, serve(t).ClientURL(), jetstream.KeyValueConfig{MaxBytes: 4 << 10})
	store := New(kv, Options{})
	var err error
	for i := 0; i < 1000 && err == nil; i++ {
		err = store.Update(t.Context(), strings.Repeat("s", i+1), count)
	}
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	require.ErrorContains(t, err, "maximum bytes exceeded")

	ac, err := autocontinue.New(autocontinue.Config{
		Store: store,
		Classifier: classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
			return classify.Result{Type: classify.Status, Confidence: 1}, nil
		}),
	})
	require.NoError(t, err)
	for _, session := range []string{"s", "unknown"} {
		d, err := ac.Handle(t.Context(),
			autocontinue.Output{Session: session, Run: "r", ID: "1", Text: "Next I'll run the tests."})
		require.ErrorIs(t, err, autocontinue.ErrUnavailable)
		assert.Equal(t, autocontinue.Deliver, d.Action)
	}
	for i := range 8 {
		require.NoError(t, kv.Purge(t.Context(), Key(strings.Repeat("s", i+2))))
	}
	require.NoError(t, kv.PurgeDeletes(t.Context(), jetstream.DeleteMarkersOlderThan(-1)))
	d, err := ac.Handle(t.Context(),
		autocontinue.Output{Session: "s", Run: "r", ID: "1", Text: "Next I'll run the tests."})
	require.NoError(t, err)
	assert.Equal(t, autocontinue.Continue, d.Action)
}

// What a client without connection was told to write is not written behind anybody's back.
func TestNothingIsWrittenLate(t *testing.T) {
	s := serve(t)
	port := s.Addr().(*net.TCPAddr).Port
	dir := s.JetStreamConfig().StoreDir
	gone := make(chan struct{})
	once := sync.OnceFunc(func() { close(gone) })
	kv := bucket(t, s.ClientURL(), jetstream.KeyValueConfig{}, nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { once() }))
	store := New(kv, Options{Timeout: 300 * time.Millisecond})
	require.NoError(t, store.Update(t.Context(), "a", count))
	err := store.Update(t.Context(), "a", func(state autocontinue.State) (autocontinue.State, error) {
		s.Shutdown()
		s.WaitForShutdown()
		<-gone
		return count(state)
	})
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	require.ErrorContains(t, err, "no connection to the server")
	serveAt(t, port, filepath.Dir(dir))
	require.Eventually(t, func() bool { return store.Update(t.Context(), "a", count) == nil }, 10*time.Second,
		20*time.Millisecond)
	state, err := store.Load(t.Context(), "a")
	require.NoError(t, err)
	assert.Equal(t, 2, state.Seq)
}

// While the server cannot be reached the human sees the output, and nothing is continued. Afterwards the same output is
// decided about as if nothing had been, whether or not the server had written.
func TestUnreachable(t *testing.T) {
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	w := newWire(t, serve(t))
	store := New(bucket(t, w.url, jetstream.KeyValueConfig{}), Options{Timeout: 200 * time.Millisecond})
	out := autocontinue.Output{
		Session: "s",
		Turn:    "t",
		Run:     "r",
		ID:      "1",
		Text:    "Fixed the login redirect, it should work now.",
		Request: "fix the login redirect",
	}

	cut := func(ac *autocontinue.AutoContinue) {
		w.mu.Lock()
		d, err := ac.Handle(t.Context(), out)
		w.mu.Unlock()
		require.ErrorIs(t, err, autocontinue.ErrUnavailable)
		assert.ErrorContains(t, err, "no answer within 200ms")
		assert.NotErrorIs(t, err, context.DeadlineExceeded, "nobody's deadline but our own")
		assert.Equal(t, autocontinue.Deliver, d.Action)
		assert.Equal(t, autocontinue.Reason("error"), d.Reason)
	}
	ac, err := autocontinue.New(autocontinue.Config{Classifier: h, Store: store})
	require.NoError(t, err)
	cut(ac)
	late, err := autocontinue.New(
		autocontinue.Config{
			Store: store,
			Classifier: classify.ClassifierFunc(func(ctx context.Context, in classify.Input) (classify.Result, error) {
				w.mu.Lock() // the wire is cut between reading and writing
				time.AfterFunc(400*time.Millisecond, w.mu.Unlock)
				return h.Classify(ctx, in)
			}),
		},
	)
	require.NoError(t, err)
	d, err := late.Handle(t.Context(), out)
	require.ErrorIs(t, err, autocontinue.ErrUnavailable)
	assert.Equal(t, autocontinue.Deliver, d.Action)

	require.Eventually(t, func() bool {
		d, err = ac.Handle(t.Context(), out)
		return err == nil
	}, 10*time.Second, 20*time.Millisecond)
	assert.Equal(t, autocontinue.Continue, d.Action)
	assert.NotEmpty(t, d.Message)
	again, err := ac.Handle(t.Context(), out)
	require.NoError(t, err)
	assert.True(t, again.Replayed)
	assert.Equal(t, d.ID, again.ID)
}

// Many workers with outputs of one session: each run is continued once, whoever wins.
func TestManyWorkersOneRun(t *testing.T) {
	h, err := classify.NewHeuristic()
	require.NoError(t, err)
	s := serve(t)
	first := bucket(t, s.ClientURL(), jetstream.KeyValueConfig{})
	var mu sync.Mutex
	ids := make(map[string]int)
	var wg sync.WaitGroup
	for range 16 {
		ac, err := autocontinue.New(autocontinue.Config{Classifier: h, Store: New(first, Options{})})
		require.NoError(t, err)
		wg.Go(func() {
			d, err := ac.Handle(t.Context(),
				autocontinue.Output{Session: "s", Turn: "t", Run: "r", ID: "same", Text: "I'll run the tests next."})
			if assert.NoError(t, err) && assert.Equal(t, autocontinue.Continue, d.Action) {
				mu.Lock()
				ids[d.ID]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.Len(t, ids, 1, "one decision, however often it is told: %v", ids)
}

func count(s autocontinue.State) (autocontinue.State, error) {
	s.Seq++
	return s, nil
}

// A bucket holds what MarshalJSON writes, and nothing else.
func TestValue(t *testing.T) {
	kv := bucket(t, serve(t).ClientURL(), jetstream.KeyValueConfig{})
	require.NoError(t, New(kv, Options{}).Update(t.Context(), "a", count))
	entry, err := kv.Get(t.Context(), Key("a"))
	require.NoError(t, err)
	var state autocontinue.State
	require.NoError(t, json.Unmarshal(entry.Value(), &state))
	assert.Equal(t, 1, state.Seq)
}
