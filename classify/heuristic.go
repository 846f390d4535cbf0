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
)

//go:embed lexicon/*.txt weights/*.txt
var embedded embed.FS

// builtin holds the built-in tables, which never change.
var builtin = sync.OnceValues(func() (*Heuristic, error) {
	fsys, err := fs.Sub(embedded, "lexicon")
	if err != nil {
		return nil, err
	}
	names, _, err := tableFiles(fsys)
	if err != nil {
		return nil, err
	}
	return assemble(builtinLexicons(fsys, names), newWeightTables(embedded))
})

// Heuristic judges an output by the words and the shape it has, without any call. It is safe for concurrent use. Make one
// with [NewHeuristic]; the zero value has no tables, and its Classify returns an error.
type Heuristic struct {
	lex     *lexicons
	weights *weightTables
	readers *[nTongues]func() *reader
	spare   *sync.Pool // of *reading, whose buffers serve again
}

// assemble returns a heuristic with these tables. It reads those for English; an error is in them.
func assemble(lex *lexicons, w *weightTables) (*Heuristic, error) {
	h := &Heuristic{lex: lex, weights: w, readers: new([nTongues]func() *reader), spare: new(sync.Pool)}
	read := func(t tongue) (*reader, error) {
		l, err := lex[t]()
		if err != nil {
			return nil, err
		}
		own, err := w[t]()
		if err != nil {
			return nil, err
		}
		return &reader{tongue: t, lex: l, weigh: own.table(featureNames(l)), others: t == english}, nil
	}
	first, err := read(english)
	if err != nil {
		return nil, err
	}
	h.readers[english] = func() *reader { return first }
	for t := english + 1; t < nTongues; t++ {
		h.readers[t] = sync.OnceValue(func() *reader {
			r, err := read(t)
			if err != nil { // can't be: tests read all built-in tables, and [Tables] those of a host
				return first
			}
			return r
		})
	}
	return h, nil
}

// Option changes how a [Heuristic] judges.
type Option func(*Heuristic) error

// NewHeuristic returns a heuristic with the built-in tables: lexicons of nine languages, and weights fitted on real outputs. An
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

// Tables replaces the built-in tables by those in fsys, in the formats of this package's lexicon/en.txt and
// weights/english.txt. The lexicons are "en.txt" and a file for each other language: ru.txt, zh.txt and ja.txt for texts
// in those scripts, all others for Latin script. The weights are "weights.txt" or, for one script, "weights/NAME.txt" (english,
// latin, cyrillic, chinese, japanese). Lexicons may be missing altogether, weights altogether or for some scripts; then the
// built-in ones stay.
//
// A file that can't be read or has a fault, one that would not be used (a language without en.txt, weights for no script), or
// an fsys without any is an error of [NewHeuristic] that names file and line.
//
// Weights belong to a lexicon: a rule that is new in the lexicon counts nothing until the weights have a row for it.
func Tables(fsys fs.FS) Option {
	return func(h *Heuristic) error {
		if fsys == nil {
			return errors.New("tables: no file system")
		}
		names, common, err := tableFiles(fsys)
		if err != nil {
			return fmt.Errorf("tables: %w", err)
		}
		lex := h.lex
		if len(names) > 0 {
			if !slices.Contains(names, "en.txt") {
				return fmt.Errorf("tables: %s without en.txt, which every lexicon is built on", names[0])
			}
			lex = newLexicons(fsys, names)
		}
		w, weighed, err := hostWeights(fsys, common, h.weights)
		if err != nil {
			return err
		}
		if len(names) == 0 && !weighed {
			return errors.New("tables: neither en.txt nor weights.txt is there")
		}
		for t := range nTongues {
			if _, err := lex[t](); err != nil {
				return err
			}
			if _, err := w[t](); err != nil {
				return err
			}
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
	rd = h.readText(in.Text, false, english)
	req = h.readText(request(in.Request), true, rd.reader.tongue)
	rd.features(req, &rd.sheet)
	return rd, req
}

// readText reads a text with the tables that its script asks for. Where that leaves open which language in Latin script
// it is, that of the answer tells the request's: beside is the tongue of what stands beside the text.
func (h *Heuristic) readText(text string, request bool, beside tongue) *reading {
	t := tongueOf(text)
	if t == english && beside == latin {
		t = latin
	}
	rd := h.reading(text, h.readers[t]())
	rd.read(request)
	if rd.reader.others && rd.words > 0 && (!request || rd.words > 3) && (!rd.fits() || rd.alien > 0 && rd.alien*2 >= rd.common) { // perhaps in a language that needs no accents here
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
