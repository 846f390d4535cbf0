package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrOpen is wrapped by the error of a call that was not made: the calls before it failed, so the circuit breaker is
// open.
var ErrOpen = errors.New("llm: too many calls failed in a row, so no call is made")

// Error says why a call has no answer. Its text holds no key, nothing of the call, and no line break.
type Error struct {
	Answered   bool          // the model answered: it refused, was cut off, or wrote something else than was asked for
	Status     int           // the HTTP status of a server that rejected the call; 0 is none
	RetryAfter time.Duration // how long the server asked to wait; 0 is nothing
	Why        string        // what happened, in our words
	Server     string        // what the server or the program said, cleaned, at most 200 characters; may be empty
	Err        error         // the error of the transport; may be nil

	final   bool // another attempt would fail as well
	refused bool // the model or a filter refused, or the answer was cut at the limit of tokens
}

func (e *Error) Error() string {
	text := "llm: " + e.Why
	if e.Server != "" {
		text += ": " + e.Server
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether another attempt may succeed.
func (e *Error) Temporary() bool { return !e.final }

func unparseable(why string) *Error {
	return &Error{Answered: true, Why: "unparseable answer: " + why, final: true}
}

func refused(why string) *Error { return &Error{Answered: true, Why: why, final: true, refused: true} }

// rejected is the error of an HTTP status.
func rejected(status int, retryAfter time.Duration, server string) *Error {
	why := fmt.Sprintf("the endpoint answered %d", status)
	if text := http.StatusText(status); text != "" {
		why += " " + text
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		why += " (is the key right?)"
	case status == http.StatusNotFound:
		why += " (are base URL and model right?)"
	case status >= 300 && status < 400:
		why += " (redirects are not followed)"
	}
	again := status >= 500 || status == http.StatusRequestTimeout || status == http.StatusConflict ||
		status == http.StatusTooManyRequests
	return &Error{Status: status, RetryAfter: retryAfter, Why: why, Server: server, final: !again}
}

// ended is the error of a call whose context ended.
func ended(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Errorf("llm: no answer in time: %w", context.DeadlineExceeded)
	}
	return fmt.Errorf("llm: given up: %w", context.Canceled)
}
