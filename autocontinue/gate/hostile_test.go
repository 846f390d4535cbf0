package gate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLargeHostileDraft(t *testing.T) {
	text := "<script>" + strings.Repeat("\u202e\x00\"\\", 1<<20/6)
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
