package filestore

import (
	"encoding/json"
	"errors"

	"github.com/sidecoach/sidecoach/autocontinue"
)

const sessionKind = "sessions"

// Session is what the file of a session holds.
type Session struct {
	State autocontinue.State
	Extra json.RawMessage // JSON of the host's own that belongs to the session; nil is none
}

// Session returns the document of a session, for hosts that keep something beside the state and change both in one step. An
// empty name is [autocontinue.ErrNoSession].
func (s *Store) Session(session string) (*Document[Session], error) {
	if session == "" {
		return nil, autocontinue.ErrNoSession
	}
	return newDocument[Session](s, sessionKind, s.opts.Host, session), nil
}

type sessionJSON struct {
	State *autocontinue.State `json:"state"`
	Extra json.RawMessage     `json:"extra,omitempty"`
}

// MarshalJSON writes the state and, if there is one, the extra.
func (v Session) MarshalJSON() ([]byte, error) {
	return json.Marshal(sessionJSON{&v.State, v.Extra})
}

// UnmarshalJSON reads what MarshalJSON wrote. A state that is missing is an error, and no empty one.
func (v *Session) UnmarshalJSON(data []byte) error {
	var j sessionJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	if j.State == nil {
		return errors.New("a session without state")
	}
	*v = Session{*j.State, j.Extra}
	return nil
}
