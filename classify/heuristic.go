package classify

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

//go:embed lexicon/*.txt weights.txt
var tables embed.FS

// builtin holds the compiled built-in tables, which never change.
var builtin = sync.OnceValues(compileTables)

func compileTables() (*Heuristic, error) {
	names, err := fs.Glob(tables, "lexicon/*.txt")
	if err != nil {
		return nil, err
	}
	lex, err := parseLexicon(tables, names...)
	if err != nil {
		return nil, err
	}
	w, err := parseWeights(tables, "weights.txt")
	if err != nil {
		return nil, err
	}
	return &Heuristic{lex: lex, weights: w, table: w.table(featureNames(lex))}, nil
}

// Heuristic judges an output by the words and the shape it has, without any call. It is safe for concurrent use. Make one
// with [NewHeuristic]; the zero value has no tables, and its Classify returns an error.
type Heuristic struct {
	lex     *lexicon
	weights weights
	table   *table
	spare   *sync.Pool // of *reading, whose buffers serve again
}

// Option changes how a [Heuristic] judges.
type Option func(*Heuristic) error

// NewHeuristic returns a heuristic with the built-in tables: an English lexicon and weights fitted on real outputs. An
// option that can't be applied is an error.
func NewHeuristic(opts ...Option) (*Heuristic, error) {
	b, err := builtin()
	if err != nil {
		return nil, fmt.Errorf("classify: %w", err)
	}
	h := Heuristic{lex: b.lex, weights: b.weights, table: b.table, spare: new(sync.Pool)}
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

// Tables replaces the built-in tables by those in fsys: "en.txt", the lexicon, and "weights.txt", either of which may be
// missing, in the formats of this package's lexicon/en.txt and weights.txt. A file that can't be read or has a fault, or an
// fsys with neither, is an error of [NewHeuristic] that names file and line.
//
// Weights belong to a lexicon: a rule that is new in the lexicon counts nothing until the weights have a row for it.
func Tables(fsys fs.FS) Option {
	return func(h *Heuristic) error {
		if fsys == nil {
			return errors.New("tables: no file system")
		}
		found := false
		lex, err := parseLexicon(fsys, "en.txt")
		switch {
		case err == nil:
			h.lex, found = lex, true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		w, err := parseWeights(fsys, "weights.txt")
		switch {
		case err == nil:
			h.weights, found = w, true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if !found {
			return errors.New("tables: neither en.txt nor weights.txt is there")
		}
		h.table = h.weights.table(featureNames(h.lex))
		return nil
	}
}

// Classify judges in.Text. It never fails (but for the zero value), ignores ctx, takes time linear in the length of the text and keeps nothing of it.
func (h *Heuristic) Classify(_ context.Context, in Input) (Result, error) {
	if h == nil || h.lex == nil {
		return Result{}, errors.New("classify: a Heuristic without tables: use NewHeuristic")
	}
	if IsBlank(in.Text) {
		return Result{Type: Status, Confidence: 1, Reason: "empty output", Source: "heuristic"}, nil
	}
	rd, req := h.read(in)
	rd.sheet.reset()
	rd.features(req, &rd.sheet)
	v := verdict{rd: rd, asked: req.asks(), host: in.Evidence, table: h.table, p: h.table.probabilities(rd.sheet.held)}
	r := v.result()
	h.done(rd, req)
	return r, nil
}

// Features returns what the verdict on in is computed from, for those who tune the tables.
func (h *Heuristic) Features(in Input) []Feature {
	if h == nil || h.lex == nil {
		return nil
	}
	rd, req := h.read(in)
	rd.sheet.reset()
	rd.features(req, &rd.sheet)
	fs := make([]Feature, len(rd.sheet.held))
	for i, f := range rd.sheet.held {
		fs[i] = Feature{h.table.names[f], 1}
	}
	h.done(rd, req)
	return fs
}

const maxRequest = 2000 // bytes of the request that are read

func (h *Heuristic) read(in Input) (rd, req *reading) {
	rd = h.reading(in.Text)
	rd.read(false)
	req = h.reading(request(in.Request))
	req.read(true)
	return rd, req
}

// request returns what is read of the human's words: all, or the beginning and the end of long ones, between which logs
// and files are pasted. A text that begins with our prefix is ours, never the human's.
func request(s string) string {
	if strings.HasPrefix(strings.TrimLeftFunc(s, invisible), "[System Coach]") {
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

// reading returns an empty reading of text, with the buffers of one that is done if there is any.
func (h *Heuristic) reading(text string) *reading {
	if rd, ok := h.spare.Get().(*reading); ok {
		*rd = reading{
			signals: signalSet{kept: rd.signals.kept[:0]}, buf: rd.buf, raw: rd.raw,
			toks: rd.toks, rawToks: rd.rawToks, sents: rd.sents, rawSents: rd.rawSents, found: rd.found, sheet: rd.sheet,
			lex: h.lex, text: text,
		}
		return rd
	}
	return &reading{lex: h.lex, text: text}
}

// done gives back the buffers of readings whose verdict is made.
func (h *Heuristic) done(rds ...*reading) {
	for _, rd := range rds {
		rd.text = "" // keep nothing of it
		h.spare.Put(rd)
	}
}
