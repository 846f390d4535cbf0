package session

import "go.temporal.io/sdk/workflow"

const (
	maxBytes = 8 << 20 // of history, from which on a run continues as new
	maxCarry = 1 << 20 // of what the next run begins with; a payload has 2 MB at most
)

// due reports whether this run should end and the next one begin.
func (s *session) due() bool {
	info := workflow.GetInfo(s.ctx)
	return info.GetContinueAsNewSuggested() || info.GetCurrentHistoryLength() >= s.Config.events() ||
		info.GetCurrentHistorySize() >= maxBytes
}

// fits reports whether what the next run has to know is small enough for it to be given. If not, reports are handled
// first.
func (s *session) fits() bool {
	s.RunGate = s.runGate.written()
	return size(s.Session) <= maxCarry
}
