package autocontinue

import "errors"

// ErrStateVersion is wrapped by the error for a stored state that a newer version wrote.
var ErrStateVersion = errors.New("autocontinue: state of a newer version")

// State is what a session remembers.
type State struct {
	Seq    int
	Resets int
}
