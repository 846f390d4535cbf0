package hook

import (
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// output returns what [autocontinue.AutoContinue.Handle] decides about. Each pause is a run of its own. Turn is empty
// when a hook continued the agent: that opens no turn. Text is the message of the event, else the one that the memory
// holds, else the transcript's; if the host's message accumulates, it is the last message, if the transcript has that.
func (m memory) output(e event, t transcript.Trace) autocontinue.Output {
	turn := m.inTurn(e)
	out := autocontinue.Output{Session: e.key(), Request: t.Request, Continues: max(t.Continues, turn.Loop, 0)}
	prompt := e.Prompt.text
	if !plaintext.IsBlank(prompt) && !transcript.Format(e.host).IsNotice(prompt) && !m.Transcript.IsOurs(prompt) {
		out.Request = strings.ToValidUTF8(prompt[:min(len(prompt), maxRequest)], "")
	}
	if !turn.active() {
		out.Turn = t.Turn
	}
	message := e.Message
	if held, ok := m.heldFor(e); ok && !message.given {
		message = some(held)
	}
	shown := message.given && e.host.accumulates() && t.Shows(message.text, true)
	if shown || !message.given && t.Message != "" && (!t.Old || m.knows(e, t)) {
		message = some(t.Message)
	}
	out.Text = message.text
	out.ID = m.id(e, t)
	out.Work = t.Work
	if e.kind == broke && plaintext.IsBlank(out.Text) {
		out.Text = e.Status
	}
	status := strings.ToLower(e.Status)
	out.Failed = e.kind == broke || status == "error" || status == "failed"
	if !out.Failed {
		out.Hold = m.hold(e, t, message.given, out.Continues)
	}
	return out
}

const maxRequest = 64 << 10 // bytes of the human's words

// hold returns why the agent must not be continued, "" if it may.
func (m memory) hold(e event, t transcript.Trace, message bool, continues int) string {
	status := strings.ToLower(e.Status)
	switch {
	case e.kind == subagentStopped && e.AgentType != nil && *e.AgentType == "":
		return "an agent of the host's own"
	case strings.EqualFold(e.Mode, "plan"), (e.host != Claude || e.Mode == "") && strings.EqualFold(t.Mode, "plan"):
		return "plan mode" // Claude Code's event says what holds now; Codex's has another mode beside that of its transcript
	case status == "aborted" || status == "cancelled" || t.Aborted:
		return "aborted"
	case !e.ended():
		return "an end that is not known"
	case e.Tasks == nil && t.Waits, slices.ContainsFunc(e.Tasks, e.waitsFor):
		return "background work"
	case len(e.Crons) > 0:
		return "a scheduled prompt"
	}
	switch lost := m.Pauses == 0 && m.inTurn(e).active(); {
	case !message:
		return "there is no message of the agent to judge"
	case lost && (t.Err != nil || e.host.echoes() && continues == 0):
		return "state lost, so nobody knows how often this turn was continued"
	}
	return ""
}
