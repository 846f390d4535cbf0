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
var embedded embed.FS

const weightsFile = "weights.txt"

// builtin holds the built-in tables, which never change.
var builtin = sync.OnceValues(func() (*Heuristic, error) {
	fsys, err := fs.Sub(embedded, "lexicon")
	if err != nil {
		return nil, err
	}
	lex, err := newLexicons(fsys)
	if err != nil {
		return nil, err
	}
	w, err := parseWeights(embedded, weightsFile)
	if err != nil {
		return nil, err
	}
	return assemble(lex, w)
})

// Heuristic judges an output by the words and the shape it has, without any call. It is safe for concurrent use. Make one
// with [NewHeuristic]; the zero value has no tables, and its Classify returns an error.
type Heuristic struct {
	lex     *lexicons
	weights weights
	readers *[nTongues]func() *reader
	spare   *sync.Pool // of *reading, whose buffers serve again
}

// assemble returns a heuristic with these tables. It compiles the English one; an error is in it, or in a table that is
// of its tongue.
func assemble(lex *lexicons, w weights) (*Heuristic, error) {
	first, err := lex[english]()
	if err != nil {
		return nil, err
	}
	h := &Heuristic{lex: lex, weights: w, readers: new([nTongues]func() *reader), spare: new(sync.Pool)}
	for t := range h.readers {
		h.readers[t] = sync.OnceValue(func() *reader {
			l, err := lex[t]()
			if err != nil { // tested for the built-in tables, and [Tables] compiles all
				l = first
			}
			return &reader{lex: l, weigh: w.table(featureNames(l)), others: tongue(t) == english}
		})
	}
	return h, nil
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
	h := *b
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

// Tables replaces the built-in tables by those in fsys: the lexicons, "en.txt" and a file for each other language, and
// "weights.txt", in the formats of this package's lexicon/en.txt and weights.txt. Either may be missing: lexicons without
// an English one are none. A file that can't be read or has a fault, or an fsys with neither, is an error of
// [NewHeuristic] that names file and line.
//
// The files ru.txt, zh.txt and ja.txt are for texts in those scripts, all others for Latin script.
//
// Weights belong to a lexicon: a rule that is new in the lexicon counts nothing until the weights have a row for it.
func Tables(fsys fs.FS) Option {
	return func(h *Heuristic) error {
		if fsys == nil {
			return errors.New("tables: no file system")
		}
		lex, w, found := h.lex, h.weights, false
		switch _, err := fs.Stat(fsys, "en.txt"); {
		case err == nil:
			if lex, err = newLexicons(fsys); err != nil {
				return err
			}
			for _, compile := range lex {
				if _, err := compile(); err != nil {
					return err
				}
			}
			found = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		switch mine, err := parseWeights(fsys, weightsFile); {
		case err == nil:
			w, found = mine, true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		if !found {
			return errors.New("tables: neither en.txt nor weights.txt is there")
		}
		changed, err := assemble(lex, w)
		if err == nil {
			*h = *changed
		}
		return err
	}
}

// Classify judges in.Text. It never fails (but for the zero value), ignores ctx, takes time linear in the length of the text and keeps nothing of it.
func (h *Heuristic) Classify(_ context.Context, in Input) (Result, error) {
	if h == nil || h.readers == nil {
		return Result{}, errors.New("classify: a Heuristic without tables: use NewHeuristic")
	}
	if IsBlank(in.Text) {
		return Result{Type: Status, Confidence: 1, Reason: "empty output", Source: "heuristic"}, nil
	}
	rd, req := h.read(in)
	v := verdict{rd: rd, asked: req.asks(), host: in.Evidence, table: rd.reader.weigh, p: rd.reader.weigh.probabilities(rd.sheet.held)}
	r := v.result()
	h.done(rd, req)
	return r, nil
}

// Features returns what the verdict on in is computed from, for those who tune the tables.
func (h *Heuristic) Features(in Input) []Feature {
	if h == nil || h.readers == nil {
		return nil
	}
	rd, req := h.read(in)
	fs := make([]Feature, len(rd.sheet.held))
	for i, f := range rd.sheet.held {
		fs[i] = Feature{rd.reader.weigh.names[f], 1}
	}
	h.done(rd, req)
	return fs
}

const maxRequest = 2000 // bytes of the request that are read

// read reads an output and its request, and takes down the features.
func (h *Heuristic) read(in Input) (rd, req *reading) {
	rd = h.readText(in.Text, false)
	req = h.readText(request(in.Request), true)
	rd.features(req, &rd.sheet)
	return rd, req
}

func (h *Heuristic) readText(text string, request bool) *reading {
	rd := h.reading(text, h.readers[tongueOf(text)]())
	rd.read(request)
	if rd.reader.others && rd.words > 0 && (!request || rd.words > 3) && !rd.fits() { // perhaps in a language that needs no accents here
		h.done(rd)
		rd = h.reading(text, h.readers[latin]())
		rd.read(request)
	}
	return rd
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
func (h *Heuristic) reading(text string, t *reader) *reading {
	if rd, ok := h.spare.Get().(*reading); ok {
		*rd = reading{
			signals: signalSet{kept: rd.signals.kept[:0]}, buf: rd.buf, raw: rd.raw,
			toks: rd.toks, rawToks: rd.rawToks, sents: rd.sents, rawSents: rd.rawSents, found: rd.found,
			sheet: sheet{held: rd.sheet.held[:0]}, lex: t.lex, reader: t, text: text,
		}
		return rd
	}
	return &reading{lex: t.lex, reader: t, text: text}
}

// done gives back the buffers of readings whose verdict is made.
func (h *Heuristic) done(rds ...*reading) {
	for _, rd := range rds {
		rd.text = "" // keep nothing of it
		h.spare.Put(rd)
	}
}
