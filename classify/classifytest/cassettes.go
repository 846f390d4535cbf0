package classifytest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// recordVariable is documented at [Replay].
const recordVariable = "SIDECOACH_RECORD"

const (
	byHand = "written by hand" // the origin of an answer that no model gave
	draft  = "draft"           // the origin of an answer that nobody has written yet
)

// cassettes is a cache of recorded answers. It is safe for concurrent use.
type cassettes struct {
	t    testing.TB
	dir  string
	mode string // what recordVariable says
}

// cassette is a recorded answer beside its request. The messages are lists of lines, so that a diff shows a change.
type cassette struct {
	Case    string          `json:"case,omitempty"`
	Origin  string          `json:"origin"` // what made the answer: a model and a date, or a person
	Request llm.Request     `json:"request"`
	System  []string        `json:"system"`
	User    []string        `json:"user"`
	Answer  json.RawMessage `json:"answer"`
	Model   string          `json:"model,omitempty"` // as the endpoint names it
}

// Replay returns a cache that answers from the cassettes in dir: [llm.Config].Cache of the client that a classifier is
// given. A cassette is the file of a case of [Run], or of a request outside of Run. The cache fails t for a request
// that differs from the cassette or has none. It says what differs and which command records it. The environment
// variable SIDECOACH_RECORD says what else to do with such a request:
//
//	(empty)  fail the test
//	1        ask the model, with the key and the base URL that the test is configured with
//	hand     ask nobody: keep the answer of the same case if it was written by hand, else write a draft to fill in
//
// A cassette has the model, the settings and both messages, and neither the key nor any header. To record everything
// anew, delete the folder first. A classifier may make one request for a case.
func Replay(t testing.TB, dir string) llm.Cache {
	return &cassettes{t: t, dir: dir, mode: os.Getenv(recordVariable)}
}

var notInFileNames = regexp.MustCompile(`[^a-z0-9]+`)

// file returns the name of the file for a request, and what fails if it does not fit: a case of Run, or the test.
func (c *cassettes) file(ctx context.Context, r llm.Request) (string, scope) {
	name := r.Key()[:16]
	in, isCase := ctx.Value(scopeKey{}).(scope)
	if isCase {
		name = strings.Trim(notInFileNames.ReplaceAllString(strings.ToLower(in.name), "-"), "-")
		name = cmp.Or(name[:min(len(name), 60)], "case")
	} else {
		in.TB = c.t
	}
	return filepath.Join(c.dir, name+".json"), in
}

// Load returns the recorded answer to a request.
func (c *cassettes) Load(ctx context.Context, r llm.Request) (llm.Answer, error) {
	file, in := c.file(ctx, r)
	old, err := readCassette(file)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !missing:
	case !missing && old.Request.Key() == r.Key():
	case c.mode == "1":
		return llm.Answer{}, fs.ErrNotExist
	case c.mode == "hand":
		if !strings.HasPrefix(old.Origin, byHand) {
			old = cassette{Origin: draft, Answer: json.RawMessage(Verdict{Type: classify.Question}.JSON())}
		}
		old.Request = r
		err = c.write(ctx, old)
	default:
		err = c.explain(in.name, file, old, r)
	}
	if err == nil && old.Origin == draft {
		err = fmt.Errorf("%s is a draft: write its answer, and as its origin %q", file, byHand)
	}
	if err != nil {
		err = fmt.Errorf("classifytest: %w", err)
		in.Error(err)
	}
	return llm.Answer{Object: old.Answer, Usage: classify.Usage{Model: old.Model}}, err
}

// Store writes an answer that a model gave.
func (c *cassettes) Store(ctx context.Context, r llm.Request, a llm.Answer) error {
	origin := fmt.Sprintf("recorded from %s on %s", cmp.Or(a.Usage.Model, "a model without a name"),
		time.Now().UTC().Format(time.DateOnly))
	return c.write(ctx, cassette{Origin: origin, Request: r, Answer: a.Object, Model: a.Usage.Model})
}

func (c *cassettes) write(ctx context.Context, k cassette) error {
	file, in := c.file(ctx, k.Request)
	k.Case = in.name
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(k.text()), 0o600)
}

func (k cassette) text() string {
	k.System, k.User = strings.Split(k.Request.System, "\n"), strings.Split(k.Request.User, "\n")
	k.Request.System, k.Request.User = "", ""
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(k) // what was read from JSON, and strings
	return b.String()
}

func readCassette(file string) (k cassette, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return k, err
	}
	if err = json.Unmarshal(b, &k); err == nil && k.Origin == "" {
		err = errors.New("its origin does not say what made the answer")
	}
	if err != nil {
		return k, fmt.Errorf("%s: %w", file, err)
	}
	k.Request.System, k.Request.User = strings.Join(k.System, "\n"), strings.Join(k.User, "\n")
	return k, nil
}

// explain says what differs from the old cassette, if there is one, and how to record the request.
func (c *cassettes) explain(name, file string, old cassette, now llm.Request) error {
	text := "no cassette for this request"
	if name != "" {
		text += fmt.Sprintf(", case %q", name)
	}
	if old.Origin != "" {
		text += fmt.Sprintf("\n%s (%s) has another request, which differs first here:", file, old.Origin)
		before := strings.Split(old.text(), "\n")
		old.Request = now
		for i, line := range strings.Split(old.text(), "\n") {
			if was := before[min(i, len(before)-1)]; was != line {
				text += "\n\t- " + plaintext.Line(was, 100) + "\n\t+ " + plaintext.Line(line, 100)
				break
			}
		}
	}
	root, _, _ := strings.Cut(c.t.Name(), "/")
	command := "go test -count=1 -run '^" + root + "$'"
	return fmt.Errorf("%s\nto record it from the model that the test names, with its key:\n\t%s=1 %s"+
		"\nto write the answer by hand, or to keep one that was:\n\t%s=hand %s", text, recordVariable, command,
		recordVariable, command)
}

// Run judges each case in a subtest of its name, one after another. It fails the subtest with what differs: the type,
// whether it is a rejected completion, the action that follows at [classify.DefaultThreshold], what the case asks of
// the coaching message, and what the contract of [classify.Classifier] asks of any result. A request without a cassette
// (see [Replay]) fails its case, also if a fallback answered. A list without cases fails t.
func Run(t *testing.T, c classify.Classifier, cases []evaluate.Case) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("classifytest: there are no cases to run")
	}
	for i, cs := range cases {
		cs.Name = cmp.Or(cs.Name, fmt.Sprintf("case-%d", i+1))
		// -run takes a slash as the beginning of another level.
		t.Run(strings.NewReplacer("/", "-", "\\", "-").Replace(plaintext.Line(cs.Name, 80)), func(t *testing.T) {
			ctx := context.WithValue(t.Context(), scopeKey{}, scope{t, cs.Name})
			report, err := evaluate.Evaluate(ctx, c, []evaluate.Case{cs}, evaluate.Options{})
			if err != nil {
				t.Fatalf("classifytest: %v", err)
			}
			if t.Failed() { // a cassette did not fit: there is no verdict on the prompt as it is now
				return
			}
			o := report.Outcomes[0]
			if faults := o.Faults(); len(faults) > 0 {
				t.Error(strings.Join(faults, "\n") + describe(cs, o))
			} else {
				t.Logf("%s, confidence %.2f: %s", o.Verdict.Label(), o.Verdict.Confidence, plaintext.Line(o.Result.Reason, 100))
			}
		})
	}
}

// scope is one case of Run, on its way through the context to the cassettes, which fail it even if a fallback answers.
type scope struct {
	testing.TB
	name string
}

type scopeKey struct{}

// describe says what led to a wrong verdict.
func describe(c evaluate.Case, o evaluate.Outcome) (text string) {
	rows := [][2]string{
		{"source", o.Result.Source}, {"fallback", o.Verdict.Fallback}, {"reason", plaintext.Line(o.Result.Reason, 100)},
		{"message", plaintext.Line(o.Result.CoachingMessage, 300)}, {"request", plaintext.Line(c.Input.Request, 200)},
		{"text", plaintext.Line(c.Input.Text, 200)},
	}
	for _, signal := range o.Signals() {
		rows = append(rows, [2]string{"signal", signal})
	}
	for _, row := range rows {
		if row[1] != "" {
			text += fmt.Sprintf("\n  %-10s %s", row[0], row[1])
		}
	}
	return text
}
