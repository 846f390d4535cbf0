package autocontinue

import (
	"fmt"

	"github.com/sidecoach/sidecoach/coach"
)

const maxHold = 120 // characters of Output.Hold in a note

// note returns the sentence for the human that goes with a reason. It is empty for what is not delivered.
func note(r Reason) string {
	switch r {
	case ReasonSuperseded:
		return "You have spoken since this was written, so the agent was not sent on."
	case ReasonCrashGuard:
		return "The run broke; a broken run is never sent on by itself."
	case ReasonHold:
		return "The agent is not to be sent on now."
	case ReasonQuestion:
		return "The agent asks you something."
	case ReasonBlocker:
		return "The agent cannot go on without you."
	case ReasonCompletion:
		return "The agent is done and shows it."
	case ReasonLowConfidence:
		return "It is not clear enough what the agent wants, so it was not sent on."
	case ReasonWaiting:
		return "This turn was handed to you already, so the agent was not sent on."
	case ReasonRepeat:
		return "The agent stopped at the same gap again despite coaching."
	case ReasonCap:
		return "The agent has been sent on as often as one turn allows."
	case ReasonError:
		return "The output could not be judged, so the agent was not sent on."
	}
	return ""
}

// answerNote goes with a completion that shows no evidence of its own.
const answerNote = "The agent answers you, or reports what it found."

const maxVerified = 250 // characters of Verification.Note in a note

// verifiedNote returns the note of a completion with what a verifier said; the note there is, without a verifier.
func verifiedNote(d Decision, said string) string {
	if d.Verified == "" {
		return d.Note
	}
	base := d.Note
	if base == "" {
		base = note(d.Reason)
	}
	if d.Verified == Unverified {
		base += " It could not be verified."
	}
	if said = coach.Clean(said, maxVerified); said != "" {
		base += " " + said
	}
	return base
}

func holdNote(why string) string {
	if why = coach.Clean(why, maxHold); why == "" {
		return note(ReasonHold)
	}
	return "The agent is not sent on now: " + why + "."
}

func lowConfidenceNote(confidence, least float64) string {
	if !(least <= 1) {
		return note(ReasonLowConfidence)
	}
	return fmt.Sprintf("It is not clear enough what the agent wants, so it was not sent on (%.2f sure, %.2f is asked for).",
		confidence, least)
}

func capNote(limit int) string {
	switch limit {
	case 0:
		return "Sending the agent on is switched off."
	case 1:
		return "The agent has been sent on once, which is as often as one turn allows."
	}
	return fmt.Sprintf("The agent has been sent on %d times, which is as often as one turn allows.", limit)
}

const emptyRepeatNote = "The agent printed nothing again, despite coaching."
