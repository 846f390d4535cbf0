package classifytest

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
)

// unanswered is the error of a request without a cassette. Package llm shows what Explain returns, and does not try again.
//
// It is a [context.Canceled] too: the call was called off here and reached no endpoint, so no circuit breaker may take it for
// a failure of one. An open breaker would keep the cases after it from telling what they miss.
type unanswered struct{ text string }

func (e unanswered) Error() string   { return e.text }
func (e unanswered) Explain() string { return e.text }
func (e unanswered) Unwrap() []error { return []error{ErrNoCassette, context.Canceled} }

// miss fails the test for a request without a cassette, once for each request.
func (c *Cassettes) miss(sc *scope, asked cassette) error {
	err := unanswered{ErrNoCassette.Error() + c.explain(asked)}
	c.complain(sc, asked.Key, err.text)
	return err
}

// complain reports through Run's subtest, which knows the case, or else through the test.
func (c *Cassettes) complain(sc *scope, key, text string) {
	c.mu.Lock()
	again := c.missed[key]
	c.missed[key] = true
	c.mu.Unlock()
	if sc != nil {
		sc.add(text)
	} else if !again {
		c.t.Errorf("%s", text)
	}
}

// explain says what is nearest to a request, what differs, and how to record it.
func (c *Cassettes) explain(asked cassette) string {
	var b strings.Builder
	if asked.Case != "" {
		fmt.Fprintf(&b, ", case %q", asked.Case)
	}
	near, alike := c.nearest(asked)
	hand := "\nto write the answer by hand, without a key:"
	if near == nil {
		fmt.Fprintf(&b, ": there are no cassettes in %s\n", c.dir)
	} else {
		other := near.Case != asked.Case
		if other && asked.Case != "" {
			b.WriteString("; this case has none yet")
		} else if isByHand(near.cassette) {
			hand = "\nto keep the answer that was written by hand:"
		}
		fmt.Fprintf(&b, "\nthe nearest is %s (%.0f %% the same, answer %s)\n", filepath.Join(c.dir, near.name), 100*alike, near.Origin)
		for _, line := range differences(near.Request, asked.Request, other && near.Case != "") {
			b.WriteString(line + "\n")
		}
	}
	fmt.Fprintf(&b, "to record it from the endpoint that the test names, with its key:\n\t%s=1 %s", RecordVariable, c.command)
	fmt.Fprintf(&b, "%s\n\t%s=hand %s", hand, RecordVariable, c.command)
	return b.String()
}

// draft is the origin of an answer that nobody has written yet.
const draft = "draft"

// todo says what is to be done about a draft.
func todo(path string) string {
	return fmt.Sprintf("classifytest: %s is a draft: write its answer's content, and as its origin %q", path, ByHand)
}

func isByHand(k cassette) bool { return strings.HasPrefix(k.Origin, ByHand) }

// byHand gives a request the answer that was written by hand for the same case, or a draft of one.
func (c *Cassettes) byHand(sc *scope, asked cassette) (cassetteResponse, error) {
	near, _ := c.nearest(asked)
	asked.Origin = ByHand
	switch {
	case near != nil && asked.Case != "" && near.Case == asked.Case && isByHand(near.cassette):
		asked.Origin, asked.Note, asked.Response = near.Origin, near.Note, near.Response
	case near != nil && asked.Case != "" && near.Case == asked.Case:
		err := unanswered{fmt.Sprintf("%v, case %q: the answer in %s is %s, and only one that was %s can be kept for another prompt",
			ErrNoCassette, asked.Case, filepath.Join(c.dir, near.name), near.Origin, ByHand)}
		c.complain(sc, asked.Key, err.text)
		return cassetteResponse{}, err
	default:
		asked.Origin = draft
		body := encode(Reply{Content: Verdict{Type: "question"}.JSON(), PromptTokens: 1, CompletionTokens: 1}.completion(nil), "")
		asked.Response = newResponse(200, http.Header{"Content-Type": {"application/json"}}, []byte(body))
		c.complain(sc, asked.Key, todo(filepath.Join(c.dir, asked.file())))
	}
	return asked.Response, c.keep(asked)
}

// nearest returns the most similar cassette, one of the same case before all others, and how similar it is, from 0 to 1.
func (c *Cassettes) nearest(asked cassette) (*tape, float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *tape
	var most float64
	want := linesOf(asked.Request.Body)
	for _, k := range c.tapes {
		score := similarity(want, linesOf(k.Request.Body))
		switch same, bestSame := k.Case == asked.Case && k.Case != "", best != nil && best.Case == asked.Case && best.Case != ""; {
		case best == nil, same && !bestSame:
		case bestSame && !same, score < most, score == most && k.name > best.name:
			continue
		}
		best, most = k, score
	}
	return best, most
}
