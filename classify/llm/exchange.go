package llm

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const maxBody = 1 << 20 // bytes of an answer that are read

// exchange is one request and its answer. It stands between go-openai and the network, so that a body is bounded before
// anything reads it, and every failure has a type of ours.
type exchange struct {
	client   *http.Client
	now      func() time.Time
	sent     bool
	rejected *rejection // the answer, if its status is no success
}

func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	x.sent = true
	res, err := x.client.Do(req)
	if err != nil {
		if ue := (*url.Error)(nil); errors.As(err, &ue) {
			err = ue.Err // without the URL
		}
		return nil, ConnectionError{err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		x.rejected = &rejection{res.StatusCode, bytes.ToLower(body)}
		if res.StatusCode == http.StatusBadRequest && x.rejected.filtered() {
			return nil, FilterError{}
		}
		return nil, StatusError{res.StatusCode, retryAfter(res.Header, x.now())}
	}
	switch {
	case len(body) > maxBody:
		return nil, SizeError{}
	case err != nil:
		return nil, ConnectionError{err}
	}
	if body, err = readBody(bytes.TrimPrefix(body, []byte("\ufeff"))); err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

const never = 1 << 62 // longer than any deadline

// retryAfter reads how long the server asks to wait: in seconds, as a date, or in the milliseconds that OpenAI and Azure send
// beside. What it can't read, and what is not in the future, is 0.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms := h.Get("Retry-After-Ms"); ms != "" {
		if d := duration(ms, time.Millisecond); d > 0 {
			return d
		}
	}
	s := strings.TrimSpace(h.Get("Retry-After"))
	if d := duration(s, time.Second); d > 0 {
		return d
	}
	if at, err := http.ParseTime(s); err == nil {
		return min(max(0, at.Sub(now)), never)
	}
	return 0
}

func duration(s string, unit time.Duration) time.Duration {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	switch {
	case !(f > 0): // 0, negative, not a number
		return 0
	case f > 1e9: // infinite too
		return never
	case err != nil:
		return 0
	}
	return time.Duration(f * float64(unit))
}
