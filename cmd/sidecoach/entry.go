package main

import (
	"encoding/json"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// entry is a line of the journal: a decision or, with Notice, something beside one.
type entry struct {
	autocontinue.Event
	Transcript string          `json:"transcript,omitempty"` // why its facts lack some
	Host       string          `json:"host"`
	Shadow     bool            `json:"shadow,omitempty"` // decided only: the agent was let stop all the same
	Notice     string          `json:"notice,omitempty"` // see notice
	Input      *classify.Input `json:"input,omitempty"`  // what the classifier was asked; with --keep-text
	Cut        bool            `json:"cut,omitempty"`    // Input is not all of it
}

// notice is a line that tells of no decision.
type notice struct {
	Time    time.Time `json:"time"`
	Host    string    `json:"host"`
	Session string    `json:"session,omitempty"`
	Notice  string    `json:"notice"`
}

// parseEntry reads a line. One that neither this program nor a newer one can have written is not ok.
func parseEntry(line []byte) (e entry, ok bool) {
	if json.Unmarshal(line, &e) != nil || e.Time.IsZero() {
		return entry{}, false
	}
	return e, true
}
