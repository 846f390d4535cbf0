package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// ErrOpen is wrapped by the error of a call that was not made because those before it failed: the circuit breaker is open.
var ErrOpen = errors.New("llm: the endpoint failed too often in a row and is left alone")

// StatusError is an answer with an HTTP status that is no success.
type StatusError struct {
	Code       int
	RetryAfter time.Duration // what the server asked for; 0 is nothing
}

func (e StatusError) Error() string {
	s := fmt.Sprintf("llm: the endpoint answered %d", e.Code)
	if t := http.StatusText(e.Code); t != "" {
		s += " " + t
	}
	switch {
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden:
		s += ": is the key right?"
	case e.Code == http.StatusNotFound:
		s += ": are base URL and model right?"
	case e.Code >= 300 && e.Code < 400:
		s += ": redirects are not followed"
	}
	return s
}

// ReportedError is a success by its HTTP status whose body reports an error.
type ReportedError struct{}

func (ReportedError) Error() string {
	return "llm: the endpoint answered 200 with an error in the body"
}

// RefusalError is a model that refused to answer.
type RefusalError struct{}

func (RefusalError) Error() string { return "llm: the model refused to answer" }

// NoChoiceError is an answer without choices.
type NoChoiceError struct{}

func (NoChoiceError) Error() string { return "llm: the answer has no choices" }

// LengthError is an answer that was cut off at the limit of tokens.
type LengthError struct{}

func (LengthError) Error() string { return "llm: the answer was cut off at the limit of tokens" }

// FilterError is a request or an answer that a content filter of the provider withheld.
type FilterError struct{}

func (FilterError) Error() string { return "llm: a content filter withheld the answer" }

// SizeError is a body above 1 MiB.
type SizeError struct{}

func (SizeError) Error() string { return "llm: the answer is larger than 1 MiB" }

// ParseError is an answer that is not what was asked for.
type ParseError struct {
	Why string // in words of ours
}

func (e ParseError) Error() string { return "llm: unparseable answer: " + e.Why }

// ConnectionError is a request that got no, or only part of an, answer. Its text is ours, since what a transport says may
// quote the server. An error of [Config.Transport] that has a method Explain() string is shown by what that returns,
// and is not tried again.
type ConnectionError struct {
	Err error // of the transport
}

func (e ConnectionError) Error() string {
	if why := explanation(e.Err); why != "" {
		return "llm: " + why
	}
	return "llm: no answer: " + connection(e.Err)
}

func (e ConnectionError) Unwrap() error { return e.Err }

// explanation is what a transport of the host wants to be shown for its error.
func explanation(err error) string {
	var x interface{ Explain() string }
	if errors.As(err, &x) {
		return x.Explain()
	}
	return ""
}

// connection says in words of ours why there was no connection.
func connection(err error) string {
	var (
		dns *net.DNSError
		op  net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "no such host"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "connection reset"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the base URL says https, and the server speaks http"
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return "the server's certificate is not trusted, or not for this host"
	case errors.As(err, &op) && op.Timeout():
		return "connection timed out"
	}
	return "the connection failed"
}

// late is the error of a call whose context ended.
func late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Errorf("llm: no answer in time: %w", context.DeadlineExceeded)
	}
	return fmt.Errorf("llm: given up: %w", context.Canceled)
}
