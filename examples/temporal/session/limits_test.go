package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// TestLongIDs: what a run leaves to the next cannot be made too large to leave by those who signal.
func TestLongIDs(t *testing.T) {
	long := strings.Repeat("é/", 200<<10)
	w := newWorld(t, Config{Agent: true}, Activities{Agent: says(question)})
	w.at(0, func() {
		for i := range 3 {
			mine := string(rune('a'+i)) + long
			w.SignalWorkflow(SignalWord, Word{ID: mine, Text: "go on"})
			w.SignalWorkflow(SignalWord, Word{ID: "w", Text: "go on", PlanFile: mine})
			w.SignalWorkflow(SignalOutput, autocontinue.Output{Turn: mine, Run: "r", ID: "turn" + mine[:1], Text: claim})
			w.SignalWorkflow(SignalOutput, autocontinue.Output{Run: mine, ID: "run" + mine[:1], Text: claim})
			w.SignalWorkflow(SignalOutput, autocontinue.Output{Run: "r", ID: mine, Text: claim})
		}
	})
	w.at(time.Minute, func() {
		v := w.view()
		assert.Empty(t, v.Refused)
		assert.Equal(t, 4, v.Counts.Words, "the same ID is the same word still, and another is another one")
		assert.Contains(t, w.box.said(), "r deliver superseded")
		assert.Less(t, size(v), 8<<10, "nor are they repeated to whoever asks")
		w.SetContinueAsNewSuggested(true)
		w.SignalWorkflow(SignalWord, Word{ID: "工作流/1", Text: "fix the cart"}) // a name like any other
	})
	w.at(time.Hour, func() { w.SignalWorkflow(SignalEnd, nil) })
	next, _ := w.run(Session{Name: "s", Config: w.config})
	require.NotNil(t, next)
	assert.Equal(t, "工作流/1", next.Turn)
	assert.Less(t, size(next), 64<<10)
}

// TestTextThatGrowsInJSON: six bytes for one are no reason not to show an output to the human.
func TestTextThatGrowsInJSON(t *testing.T) {
	for name, char := range map[string]string{"control characters": "\x01", "markup": "<", "line separators": "\u2028",
		"invalid": "\xff"} {
		t.Run(name, func(t *testing.T) {
			long := strings.Repeat(char, 200<<10/len(char)) + question
			agent := &script{
				says: []Reply{
					{Text: long, Evidence: []classify.Evidence{{Kind: classify.EvidenceOutput, Text: long[:180<<10] + "."}}},
				},
			}
			w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
			w.say(0, "w1", strings.Repeat(char, 300<<10)+" fix the cart")
			w.at(time.Second, func() {
				w.SignalWorkflow(SignalOutput, autocontinue.Output{Turn: "w1", Run: "sub", ID: "o1", Text: long})
			})
			w.end(time.Minute)
			w.play()
			require.Len(t, w.box.effects, 2)
			for _, d := range w.box.effects {
				assert.Equal(t, autocontinue.Deliver, d.Action)
				assert.True(t, strings.HasSuffix(d.Text, question))
				assert.LessOrEqual(t, size(d.Text), maxText+64)
				assert.True(t, utf8.ValidString(d.Text))
			}
			for _, p := range agent.told() {
				assert.LessOrEqual(t, size(p), maxText+1024)
			}
		})
	}
}

// TestWordOfAnOldTurn: a turn that reports had opened, and that is over, is not opened again by its word.
func TestWordOfAnOldTurn(t *testing.T) {
	w := newWorld(t, Config{}, Activities{})
	for i := range 20 {
		turn := string(rune('a' + i))
		w.report(time.Duration(i)*time.Second,
			autocontinue.Output{Turn: turn, Run: "r" + turn, ID: "o" + turn, Text: question})
	}
	w.say(time.Minute, "a", "fix the cart")
	w.at(2*time.Minute, func() {
		assert.Equal(t, []string{"word: its ID is that of a turn that is over"}, w.view().Refused)
	})
	w.report(time.Hour, autocontinue.Output{Turn: "t", Run: "more", ID: "more", Text: claim})
	w.end(2 * time.Hour)
	w.play()
	said := w.box.said()
	assert.Equal(t, "more deliver waiting", said[len(said)-1], "the turn of before goes on")
}

// TestTurnOfNoWord: a report from so long ago that nothing knows of it any more is shown. It does not send the
// workflow's agent on, nor end the turn that goes on.
func TestTurnOfNoWord(t *testing.T) {
	for name, request := range map[string]string{"the human's": "fix the cart", "ours": "[System Coach] Run the tests."} {
		t.Run(name, func(t *testing.T) {
			agent := &script{run: func(context.Context, int, Prompt) (Reply, error) { return Reply{Text: shown}, nil }}
			w := newWorld(t, Config{Agent: true}, Activities{Agent: agent})
			for i := range maxTurns + 10 {
				w.say(time.Duration(i)*time.Minute, fmt.Sprint("w", i), "go on")
			}
			for i, turn := range []string{"w0", "w40"} { // forgotten, and known to be over
				w.report(
					100*time.Hour,
					autocontinue.Output{Turn: turn, Run: "sub-" + turn, ID: fmt.Sprint("o", i), Text: claim, Request: request},
				)
			}
			last := fmt.Sprint("w", maxTurns+9)
			w.at(101*time.Hour, func() { assert.Equal(t, last, w.view().Turn) })
			w.report(102*time.Hour, autocontinue.Output{Turn: last, Run: "sub", ID: "o", Text: claim, Request: request})
			w.end(200 * time.Hour)
			w.play()
			said := w.box.said()
			assert.Equal(t, []string{"sub-w0 deliver superseded", "sub-w40 deliver superseded"}, said[maxTurns+10:maxTurns+12])
			prompts := agent.told()
			require.Len(t, prompts, maxTurns+11)
			assert.Equal(t, last, prompts[maxTurns+10].Turn)
		})
	}
}
