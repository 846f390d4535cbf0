package session

import (
	"encoding/json"
	"math"
	"strings"

	"go.temporal.io/sdk/workflow"
)

const (
	maxBytes  = 8 << 20   // of history, from which on a run continues as new
	maxCarry  = 1 << 20   // of what the next run begins with; a payload has 2 MB at most
	maxReport = 1 << 20   // of an output with all that the host says about it
	maxText   = 256 << 10 // kept of an output
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
	return size(s.Session) <= maxCarry
}

// size is what a payload of v takes.
func size(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return math.MaxInt
	}
	return len(data)
}

// clip keeps a payload within its limit: of a text that is too long its head and, what counts most, its end.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	head, tail := text[:maxText/4], text[len(text)-maxText/2:]
	return strings.ToValidUTF8(head, "") + "\n[…]\n" + strings.ToValidUTF8(tail, "")
}
