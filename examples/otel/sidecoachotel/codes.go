package sidecoachotel

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach"
)

// other stands for every value that is none of those an attribute may have, as the semantic conventions write it.
const other = "_OTHER"

var (
	reasons = []autocontinue.Reason{
		"run_closed", "run_reused", "same_text",
		"superseded", "crash_guard", "hold", "question",
		"blocker", "completion", "low_confidence",
		"waiting", "repeat", "cap", "rejected_completion",
		"progress", "empty", "next_stage", "error",
	}
	outcomes = []autocontinue.Outcome{
		"completed", "needs_human", "failed",
		"stalled", "capped", "continuing",
		"duplicate",
	}
	// ends are the reasons with which a turn is completed, or handed over for the first time.
	ends = []autocontinue.Reason{
		"completion", "crash_guard", "question", "blocker",
		"low_confidence", "repeat", "cap",
	}
	statuses    = []autocontinue.VerificationStatus{autocontinue.Verified, autocontinue.Unverified, autocontinue.Rejected}
	types       = classify.Types()
	tiers       = coach.Tiers()
	degradables = []string{"classifier", "evidence", "output ID", "plan", "run", "stages", "verifier"} // and the tiers
)

// code returns v if it is one of those known, nothing for nothing, and otherwise other.
func code[S ~string](v S, known []S) string {
	if v == "" || slices.Contains(known, v) {
		return string(v)
	}
	return other
}

func actionCode(a autocontinue.Action) string {
	switch a {
	case autocontinue.Deliver, autocontinue.Continue, autocontinue.Suppress:
		return a.String()
	}
	return other
}

// errorCodes are the error.type of errors of ours, the first that is one's.
var errorCodes = []struct {
	is   error
	code string
}{
	{autocontinue.ErrNoSession, "no_session"},
	{autocontinue.ErrStateVersion, "state_version"},
	{autocontinue.ErrConflict, "store_conflict"},
	{autocontinue.ErrUnavailable, "store_unavailable"},
	{context.DeadlineExceeded, "timeout"},
	{context.Canceled, "canceled"},
}

func errorCode(err error) string {
	if err == nil {
		return ""
	}
	for _, known := range errorCodes {
		if errors.Is(err, known.is) {
			return known.code
		}
	}
	return other
}

// failures are how the texts in classify.Result.Fallback begin, from the more special to the more general.
var failures = []struct{ prefix, code string }{
	{"llm: too many calls failed in a row", "circuit_open"},
	{"llm: no answer in time", "timeout"},
	{"llm: the endpoint answered 429", "status_429"},
	{"llm: the endpoint answered 4", "status_4xx"},
	{"llm: the endpoint answered 5", "status_5xx"},
	{"llm: the endpoint answered ", "status_other"},
	{"llm: no answer: ", "connection"},
	{"llm: the model refused", "refusal"},
	{"llm: the answer was cut off", "length"},
	{"llm: a content filter", "content_filter"},
	{"llm: unparseable answer", "unparseable"},
	{"llm: cannot run ", "program"},
	{"not one of the five output types", "invalid_verdict"},
	{"confidence ", "invalid_verdict"},
	{"a rejected completion of type ", "invalid_verdict"},
}

// fallbackCode says in a word why the first classifier did not answer.
func fallbackCode(why string) string {
	if why == "" {
		return ""
	}
	for _, f := range failures {
		if strings.HasPrefix(why, f.prefix) {
			return f.code
		}
	}
	for _, end := range []error{context.DeadlineExceeded, context.Canceled} {
		if strings.Contains(why, end.Error()) {
			return errorCode(end)
		}
	}
	return other
}

// degradedCode says in a word what could not be used.
func degradedCode(why string) string {
	what, _, _ := strings.Cut(why, ": ")
	if slices.Contains(degradables, what) || slices.Contains(tiers, coach.Tier(what)) {
		return what
	}
	return other
}
