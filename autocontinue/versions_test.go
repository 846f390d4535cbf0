package autocontinue

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach"
)

var writeState = flag.Bool("write-state", false, "write testdata/state for the current version, if it has no files yet")

const firstVersion = 4 // the first that was kept

// story is what every version of the state has lived through before it was written. It never changes: the hashes in old
// files are those of its names and texts.
func story(t *testing.T) (*session, []Decision) {
	x := play(t, Policy{})
	return x, []Decision{
		x.decide("going on", progress, turnIs("t1"), idIs("1")),
		x.decide("Which?", question, turnIs("t1"), idIs("2")),
		x.decide("done", rejected, turnIs("t2"), idIs("3")),
		x.decide("done!", rejected, turnIs("t2"), idIs("4")),
	}
}

// fields lists what a stored state is made of, one line each.
func fields(prefix string, t reflect.Type) []string {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return []string{fmt.Sprint(prefix, " ", t.Kind())}
	}
	var list []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" {
			name = "/" + name
		}
		list = append(list, fields(prefix+name, t.Field(i).Type)...)
	}
	return list
}

// A field, a reason or a tier that older code does not know is another version: it would refuse the state without
// saying that it is a newer one's.
func TestTheVersionSaysWhatIsStored(t *testing.T) {
	list := fields("", reflect.TypeFor[stateJSON]())
	for _, r := range []Reason{
		"run_reused", "superseded", "crash_guard", "hold", "question", "blocker", "completion",
		"low_confidence", "waiting", "repeat", "cap", "rejected_completion", "progress", "empty",
		"next_stage",
	} {
		list = append(list, "reason "+string(r))
	}
	for _, tier := range coach.Tiers() {
		list = append(list, "tier "+string(tier))
	}
	slices.Sort(list)
	got := strings.Join(list, "\n") + "\n"
	name := filepath.Join("testdata", "state", fmt.Sprintf("v%d.fields", stateVersion))
	if _, err := os.Stat(name); *writeState && os.IsNotExist(err) {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err, "write it with -write-state")
	assert.Equal(t, string(want), got,
		"raise stateVersion, read the versions before, and write this one's files with -write-state")
}

// A session that an older version wrote goes on in this one as if nothing had been: what was decided is told again,
// what was closed stays closed, and what was counted counts.
func TestOlderVersions(t *testing.T) {
	path := func(version int) string { return filepath.Join("testdata", "state", fmt.Sprintf("v%d.json", version)) }
	x, decisions := story(t)
	if current := path(stateVersion); *writeState {
		_, err := os.Stat(current)
		require.ErrorIs(t, err, os.ErrNotExist, "a version's file is written once")
		b, err := json.MarshalIndent(x.s, "", "\t")
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(current), 0o755))
		require.NoError(t, os.WriteFile(current, append(b, '\n'), 0o644))
	}
	for version := firstVersion; version <= stateVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			b, err := os.ReadFile(path(version))
			require.NoError(t, err, "write it with -write-state")
			var read State
			require.NoError(t, json.Unmarshal(b, &read))
			old := &session{t: t, s: read, runs: x.runs}

			for i, want := range decisions {
				got, _, ok := Known(read,
					Output{Session: "s", Run: fmt.Sprint("run", i+1), ID: fmt.Sprint(i + 1), Text: "whatever"})
				require.True(t, ok)
				assert.True(t, got.Replayed, i)
				assert.Equal(t, want.ID, got.ID)
				if want.Action == Continue && i > 1 {
					assert.Equal(t, Continue, got.Action)
					assert.NotEmpty(t, got.Message)
				}
			}
			again := old.decide("done", progress, turnIs("t2"), runIs("run3"))
			assert.NotEqual(t, Continue, again.Action, "it stays closed")
			assert.NotEqual(t, Reason("run_reused"), again.Reason)
			old.wants(old.decide("Which?", question, turnIs("t1"), runIs("run2")), Suppress, "duplicate", "same_text")
			old.wants(old.decide("late", progress, turnIs("t1")), Deliver, "needs_human", "superseded")
			old.wants(old.decide("done", rejected, turnIs("t2")), Deliver, "stalled", "repeat")
		})
	}
}
