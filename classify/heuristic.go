package classify

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

//go:embed lexicon/*.txt weights/*.txt
var embedded embed.FS

//go:embed weights/words.txt
var wordWeights string

// builtin has the built-in tables, which never change.
var builtin = unread()

// unread returns a heuristic with the built-in tables. Each is read when a text first needs it.
func unread() Heuristic {
	return Heuristic{
		languages: sync.OnceValues(func() (*languages, error) { return newLanguages(folder(embedded, "lexicon"), nil) }),
		model:     sync.OnceValues(func() (*model, error) { return parseModel(folder(embedded, "weights"), wordWeights) }),
	}
}

// folder returns a folder of fsys, whose name is valid.
func folder(fsys fs.FS, name string) fs.FS {
	sub, err := fs.Sub(fsys, name)
	if err != nil {
		panic(err)
	}
	return sub
}

// Heuristic judges an output by the words and the shape it has, without any call. It is safe for concurrent use. Make
// one with [NewHeuristic]; the zero value has no tables, and its Classify returns an error.
type Heuristic struct {
	languages func() (*languages, error)
	model     func() (*model, error)
}

// Option changes how a [Heuristic] judges.
type Option func(*Heuristic) error

// NewHeuristic returns a heuristic with the built-in tables: lexicons of nine languages, and weights fitted on real
// outputs. An option that can't be applied is an error.
func NewHeuristic(opts ...Option) (*Heuristic, error) {
	h := builtin
	for _, opt := range opts {
		if opt == nil {
			return nil, errors.New("classify: a nil option")
		}
		if err := opt(&h); err != nil {
			return nil, fmt.Errorf("classify: %w", err)
		}
	}
	return &h, nil
}

// Tables replaces the built-in tables by those in fsys, in the formats of this package. Lexicons are "en.txt" and a
// file for each other language. The weights are "weights/features.txt" and "weights/words.txt". Either all lexicons
// or all weights may be missing; then the built-in ones stay.
//
// A file that can't be read or has a fault is an error of [NewHeuristic] that names file and line, and so is a
// language without en.txt, or an fsys without any table. A rule that is new in the lexicon counts nothing until the
// weights have a row for it.
func Tables(fsys fs.FS) Option {
	return func(h *Heuristic) error {
		if fsys == nil || HoldsNil(fsys) {
			return errors.New("tables: no file system")
		}
		lexicons, _ := fs.Glob(fsys, "*.txt") // a good pattern is no error
		weights := folder(fsys, "weights")
		_, err := fs.Stat(weights, featuresFile)
		if len(lexicons) == 0 && err != nil {
			return errors.New("tables: neither en.txt nor weights/features.txt is there")
		}
		if len(lexicons) > 0 {
			l, err := newLanguages(fsys, nil)
			if err != nil {
				return fmt.Errorf("tables: %w", err)
			}
			for _, read := range l.lexicons {
				if _, err := read(); err != nil {
					return err
				}
			}
			h.languages = func() (*languages, error) { return l, nil }
		}
		if err == nil {
			m, err := parseModel(weights, "")
			if err != nil {
				return err
			}
			h.model = func() (*model, error) { return m, nil }
		}
		return nil
	}
}

// Phrases adds the phrases in fsys to the built-in lexicons: a file for each language, such as "en.txt", in the format
// of the lexicons. A file needs no [words]; its groups are its own. "[claim done]" and a line "shipped it to staging"
// make these words a claim. A file that can't be read or has a fault is an error of [NewHeuristic], and so is one of an
// unknown language. Phrases and [Tables] with lexicons exclude each other: the later one counts.
func Phrases(fsys fs.FS) Option {
	return func(h *Heuristic) error {
		if fsys == nil || HoldsNil(fsys) {
			return errors.New("phrases: no file system")
		}
		l, err := newLanguages(folder(embedded, "lexicon"), fsys)
		if err != nil {
			return fmt.Errorf("phrases: %w", err)
		}
		files, err := fs.ReadDir(fsys, ".")
		if err != nil {
			return fmt.Errorf("phrases: %w", err)
		}
		for _, file := range files {
			language, isText := strings.CutSuffix(file.Name(), ".txt")
			i := slices.Index(l.names, language)
			if !isText || i < 0 {
				return fmt.Errorf("phrases: %q: the file name is not a language; use one of %s, and .txt",
					file.Name(), strings.Join(l.names, ", "))
			}
			if _, err := l.lexicons[i](); err != nil {
				return err
			}
		}
		h.languages = func() (*languages, error) { return l, nil }
		return nil
	}
}

// Classify judges in.Text, of which it keeps nothing. It fails only for the zero value and a nil context. Time is
// linear in the length of the text. It reads the last 512 KiB of a longer text, and then it is unsure.
func (h *Heuristic) Classify(ctx context.Context, in Input) (Result, error) {
	if ctx == nil {
		return Result{}, errors.New("classify: a nil context")
	}
	if len(in.Text) <= maxText && plaintext.IsBlank(in.Text) {
		return Result{Type: Status, Confidence: 1, Reason: "empty output", Source: "heuristic"}, nil
	}
	rd, req, err := h.read(in, false)
	if err != nil {
		return Result{}, fmt.Errorf("classify: %w", err)
	}
	v := verdict{rd: rd, req: req, host: in.Evidence, work: in.Work}
	v.p = rd.words.model.probabilities(features(rd, req), &rd.words)
	return v.result(), nil
}

// OnlyAsks reports whether a request asks for an answer, and not for a change or another act: "What does Add do?". A
// request of more than four sentences does not.
func (h *Heuristic) OnlyAsks(ctx context.Context, request string) (bool, error) {
	_, req, err := h.read(Input{Request: request}, false)
	if err != nil {
		return false, fmt.Errorf("classify: %w", err)
	}
	asks := false
	for _, s := range req.head[:min(req.sentences, len(req.head))] {
		open := req.in(s.rules, "request.open")
		if !open && req.in(s.rules, "request.change", "request.act", "request.go") {
			return false, nil
		}
		asks = asks || open || s.question || req.in(s.rules, "request.question", "request.explain")
	}
	return asks && req.sentences <= len(req.head), nil
}

// maxText is how many bytes of a text are read: its last ones.
const maxText = 512 << 10

const maxRequest = 2000 // bytes of the request that are read

// read reads an output and its request. With collect it takes down words that the model does not know, too.
func (h *Heuristic) read(in Input, collect bool) (rd, req *reading, err error) {
	if h == nil || h.languages == nil {
		return nil, nil, errors.New("a Heuristic without tables: use NewHeuristic")
	}
	l, err := h.languages()
	if err != nil {
		return nil, nil, err
	}
	m, err := h.model()
	if err != nil && !collect {
		return nil, nil, err
	}
	asked := request(in.Request)
	language, known := l.of(in.Text)
	askedIn, sure := l.of(asked)
	if !known && sure && l.scripts[askedIn] == l.scripts[language] {
		language = askedIn
	}
	if !sure || askedIn == english { // which every language is read with
		askedIn = language
	}
	if rd, err = newReading(l, language, in.Text); err != nil {
		return nil, nil, err
	}
	if req, err = newReading(l, askedIn, asked); err != nil {
		return nil, nil, err
	}
	rd.words = newWordReader(m, collect)
	rd.read(false)
	req.read(true)
	return rd, req, nil
}

// newReading returns a reading of text that has read nothing yet.
func newReading(l *languages, language int, text string) (*reading, error) {
	lex, err := l.lexicons[language]()
	if err != nil {
		return nil, err
	}
	return &reading{lex: lex, language: l.names[language], text: text}, nil
}

// request returns what is read of the human's words: all, or the beginning and the end of long ones, between which logs
// and files are pasted. A text that begins with our prefix is ours, never the human's.
func request(s string) string {
	if plaintext.IsOurs(s[:min(len(s), maxText)]) {
		return ""
	}
	if len(s) <= maxRequest {
		return s
	}
	head, tail := s[:maxRequest/2], s[len(s)-maxRequest/2:]
	if i := strings.LastIndexByte(head, '\n'); i > 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		tail = tail[i:]
	}
	return strings.ToValidUTF8(head, "") + "\n" + strings.ToValidUTF8(tail, "")
}
