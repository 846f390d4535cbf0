package session

import (
	"encoding/json"
	"strings"

	"go.temporal.io/sdk/workflow"
)

const (
	maxBytes = 8 << 20   // of history, from which on a run continues as new
	maxCarry = 1 << 20   // of what the next run begins with; a payload has 2 MB at most
	maxText  = 256 << 10 // kept of an output
)

// due reports whether this run should end and the next one begin.
func (s *session) due() bool {
	info := workflow.GetInfo(s.ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() >= s.Config.events() ||
		info.GetCurrentHistorySize() >= maxBytes
}

// fits reports whether what the next run has to know is small enough for it to be given. If not, reports are handled first.
func (s *session) fits() bool {
	s.Door = s.door.written()
	data, err := json.Marshal(s.Session)
	return err == nil && len(data) <= maxCarry
}

// clip keeps a payload within its limit: of a text that is too long its head and, what counts most, its end.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	head, tail := text[:maxText/4], text[len(text)-maxText/2:]
	return strings.ToValidUTF8(head, "") + "\n[…]\n" + strings.ToValidUTF8(tail, "")
}
