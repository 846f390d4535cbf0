package autocontinue

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestActionText(t *testing.T) {
	var zero Action
	assert.Equal(t, Deliver, zero, "the zero value shows the output to the human")
	for a, want := range map[Action]string{Deliver: "deliver", Continue: "continue", Suppress: "suppress"} {
		assert.Equal(t, want, a.String())
		b, err := json.Marshal(a)
		require.NoError(t, err)
		assert.Equal(t, `"`+want+`"`, string(b))
		back := Action(9)
		require.NoError(t, json.Unmarshal(b, &back))
		assert.Equal(t, a, back)
	}
}

func TestActionRefusesOtherTexts(t *testing.T) {
	for _, text := range []string{`""`, `"Continue"`, `"continue "`, `"stop"`, `1`, `true`, `{}`} {
		a := Suppress
		assert.Error(t, json.Unmarshal([]byte(text), &a), text)
		assert.Equal(t, Suppress, a, "unchanged after %s", text)
	}
	for _, a := range []Action{-1, 3} {
		_, err := json.Marshal(a)
		assert.Error(t, err)
		assert.Contains(t, a.String(), "Action(")
	}
}

func TestDecisionJSON(t *testing.T) {
	b, err := json.Marshal(Decision{ID: "d", Action: Suppress, Outcome: "duplicate", Reason: "run_closed"})
	require.NoError(t, err)
	assert.JSONEq(
		t,
		`{"id":"d","action":"suppress","outcome":"duplicate","reason":"run_closed","continues":0,"classification":{
		"type":"","confidence":0,"reason":"","coaching_message":null,"was_rejected_completion":false,"source":""}}`,
		string(b),
	)

	b, err = json.Marshal(Decision{
		Action: Continue, Outcome: "continuing", Reason: "progress", Note: "n", Message: "m", Tier: "plain",
		Attempt: 2, Continues: 3, Verified: Unverified, Replayed: true, Degraded: []string{"plan: gone"},
	})
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(b, &got))
	delete(got, "classification")
	assert.Equal(t, map[string]any{
		"id": "", "action": "continue", "outcome": "continuing", "reason": "progress", "note": "n", "message": "m",
		"tier": "plain", "attempt": 2.0, "continues": 3.0, "verified": "unverified", "replayed": true,
		"degraded": []any{"plan: gone"},
	}, got)
}

func TestEveryReasonHasItsActionAndNote(t *testing.T) {
	for _, r := range []Reason{
		"run_closed", "run_reused", "same_text", "superseded", "crash_guard", "hold", "question",
		"blocker", "completion", "low_confidence", "waiting", "repeat", "cap",
		"rejected_completion", "progress", "empty", "error",
	} {
		v := verdicts[r]
		assert.NotEmpty(t, v.outcome, r)
		assert.Equal(t, v.action == Deliver, v.note != "", "%s: a note goes with what the human sees", r)
	}
	assert.Zero(t, verdicts[Reason("invented")])
}
