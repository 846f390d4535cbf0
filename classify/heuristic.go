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
	return assemble(builtinLexicons(fsys, names), newWeightTables(embedded)), nil
})

// Heuristic judges an output by the words and the shape it has, without any call. It is safe for concurrent use. Make one
// with [NewHeuristic]; the zero value has no tables, and its Classify returns an error.
type Heuristic struct {
	lex     *lexicons
	weights *weightTables
	readers *[nTongues]func() (*reader, error)
	spare   *sync.Pool // of *reading, whose buffers serve again
}

// assemble returns a heuristic with these tables, which it reads when a text first asks for them. Tests read all built-in ones,
// and [Tables] those of a host, so that none has a fault then.
func assemble(lex *lexicons, w *weightTables) *Heuristic {
	h := &Heuristic{lex: lex, weights: w, readers: new([nTongues]func() (*reader, error)), spare: new(sync.Pool)}
	for t := range h.readers {
		h.readers[t] = sync.OnceValues(func() (*reader, error) {
			l, err := lex[t]()
			if err != nil {
				return nil, err
			}
			own, err := w[t]()
			if err != nil {
				return nil, err
			}
			return &reader{tongue: tongue(t), lex: l, weigh: own.table(featureNames(l)), others: tongue(t) == english}, nil
		})
	}
	return h
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
		*h = *assemble(lex, w)
		return nil
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
	rd, req, err := h.read(in)
	if err != nil {
		return Result{}, fmt.Errorf("classify: %w", err)
	}
	v := verdict{rd: rd, asked: req.asks(), host: in.Evidence, work: in.Work, table: rd.reader.weigh, p: rd.reader.weigh.probabilities(rd.sheet.held)}
	r := v.result()
	if rd.fits() {
		r.Language = languageOf(rd.reader.tongue, in.Text)
	}
	h.done(rd, req)
	return r, nil
}

// Features returns what the verdict on in is computed from, for those who tune the tables.
func (h *Heuristic) Features(in Input) []Feature {
	if h == nil || h.readers == nil {
		return nil
	}
	rd, req, err := h.read(in)
	if err != nil {
		return nil
	}
	fs := make([]Feature, len(rd.sheet.held))
	for i, f := range rd.sheet.held {
		fs[i] = Feature{rd.reader.weigh.names[f], 1}
	}
	h.done(rd, req)
	return fs
}

const maxRequest = 2000 // bytes of the request that are read

// read reads an output and its request, and takes down the features.
func (h *Heuristic) read(in Input) (rd, req *reading, err error) {
	if rd, err = h.readText(in.Text, false, english); err != nil {
		return nil, nil, err
	}
	if req, err = h.readText(request(in.Request), true, rd.reader.tongue); err != nil {
		return nil, nil, err
	}
	rd.features(req, &rd.sheet)
	return rd, req, nil
}

// readText reads a text with the tables that its script asks for. Where that leaves open which language in Latin script
// it is, that of the answer tells the request's: beside is the tongue of what stands beside the text.
func (h *Heuristic) readText(text string, request bool, beside tongue) (*reading, error) {
	t := tongueOf(text)
	if t == english && beside == latin || text == "" {
		t = beside
	}
	rd, err := h.readWith(t, text, request)
	if err == nil && rd.reader.others && rd.words > 0 && (!request || rd.words > 3) && (!rd.fits() || rd.alien > 0 && rd.alien*2 >= rd.common) { // perhaps in a language that needs no accents here
		h.done(rd)
		return h.readWith(latin, text, request)
	}
	return rd, err
}

// readWith reads a text with the tables of a tongue.
func (h *Heuristic) readWith(t tongue, text string, request bool) (*reading, error) {
	tables, err := h.readers[t]()
	if err != nil {
		return nil, err
	}
	rd := h.reading(text, tables)
	rd.read(request)
	return rd, nil
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
