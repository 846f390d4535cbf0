package classify

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
)

// A compiled table is what parseLexicon finds in the files of a tongue, written down so that it is read in a fraction of the
// time. The text tables are the source: a compiled one is for the texts whose checksum it bears, and with any others it is not
// used. go generate writes it. It holds one after the other, all numbers being uvarints and all texts a length and bytes:
//
//	compiledVersion, the checksum of the sources and that of what follows, four bytes each
//	the endings; the rules: kind, name, weight (bits of a float64)
//	the words: their lengths, then all of them
//	the groups that code asks for, [words] last, a set each
//	the choices: a set and the runs, each a list of words
//	the patterns: rule+1, options, elements; an element is its flags, endings and the number of its choices
//
// A set is its size and the differences between its words, which are sorted.
const compiledVersion = "sidecoach tables 1\n"

const compiledHead = len(compiledVersion) + 2*crc32.Size

//go:embed compiled/english.bin
var compiledEnglish string

//go:embed compiled/latin.bin
var compiledLatin string

//go:embed compiled/cyrillic.bin
var compiledCyrillic string

//go:embed compiled/chinese.bin
var compiledChinese string

//go:embed compiled/japanese.bin
var compiledJapanese string

// builtinLexicon returns the built-in lexicon of a tongue, whose files have these names: as it is compiled, or, where these
// are not the files it was compiled of, from them.
func builtinLexicon(fsys fs.FS, t tongue, names []string) (*lexicon, error) {
	data := [nTongues]string{compiledEnglish, compiledLatin, compiledCyrillic, compiledChinese, compiledJapanese}[t]
	sum, err := checksum(fsys, names)
	if err != nil {
		return nil, err
	}
	if lex, ok := decompile(data, sum); ok {
		return lex, nil
	}
	return parseLexicon(fsys, names...)
}

// checksum returns the checksum of the files, names included.
func checksum(fsys fs.FS, names []string) (uint32, error) {
	sum := crc32.NewIEEE()
	var buf [4096]byte
	for _, name := range names {
		sum.Write([]byte(name + "\n"))
		f, err := fsys.Open(name)
		if err != nil {
			return 0, fmt.Errorf("read lexicon: %w", err)
		}
		_, err = io.CopyBuffer(sum, f, buf[:])
		f.Close()
		if err != nil {
			return 0, fmt.Errorf("read lexicon: %w", err)
		}
	}
	return sum.Sum32(), nil
}

// textSum returns the checksum of a text, of which it makes no copy.
func textSum(s string) uint32 {
	sum := uint32(0)
	var buf [4096]byte
	for len(s) > 0 {
		n := copy(buf[:], s)
		sum, s = crc32.Update(sum, crc32.IEEETable, buf[:n]), s[n:]
	}
	return sum
}

// tableWriter writes a compiled table.
type tableWriter struct{ out []byte }

func (w *tableWriter) uint(n int) { w.out = binary.AppendUvarint(w.out, uint64(n)) }

func (w *tableWriter) text(s string) {
	w.uint(len(s))
	w.out = append(w.out, s...)
}

func (w *tableWriter) list(ids []wordID) {
	w.uint(len(ids))
	for _, id := range ids {
		w.uint(int(id))
	}
}

func (w *tableWriter) set(ids []wordID) {
	w.uint(len(ids))
	last := wordID(0)
	for _, id := range ids {
		w.uint(int(id - last))
		last = id
	}
}

// compile returns the compiled table of a lexicon that has been parsed from sources with that checksum.
func (lex *lexicon) compile(sum uint32) []byte {
	w := new(tableWriter)
	w.uint(len(lex.endings))
	for _, e := range lex.endings {
		w.text(e)
	}
	w.uint(len(lex.rules))
	for _, r := range lex.rules {
		w.text(string(r.kind))
		w.text(r.name)
		w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(r.weight))
	}
	w.uint(lex.vocab.size())
	for id := 1; id < lex.vocab.size(); id++ {
		w.uint(len(lex.vocab.word(wordID(id))))
	}
	w.text(lex.vocab.text)
	for _, g := range lex.asked() {
		w.set(g.set.list())
	}
	w.set(lex.common.list())

	w.uint(len(lex.choices))
	w.uint(len(lex.ids))
	w.uint(len(lex.runs))
	for i := range lex.choices {
		e := element{from: uint16(i)}
		w.set(lex.words(&e))
		w.uint(len(lex.several(&e)))
		for _, run := range lex.several(&e) {
			w.list(run)
		}
	}
	w.uint(len(lex.patterns))
	w.uint(len(lex.elems))
	for _, p := range lex.patterns {
		w.uint(p.rule + 1)
		w.out = append(w.out, packed(p.start, p.end, p.plain, p.clause, p.raw, p.verbless, p.request, p.ignored))
		w.uint(int(p.last - p.first))
		for _, e := range lex.elements(&p) {
			w.out = append(w.out, packed(e.num, e.full, e.part, e.any, e.code, e.gap, e.sure, e.opt), e.tail)
			w.uint(int(e.from))
		}
	}
	out := binary.LittleEndian.AppendUint32([]byte(compiledVersion), sum)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(w.out))
	return append(out, w.out...)
}

func packed(flags ...bool) byte {
	var b byte
	for i, f := range flags {
		if f {
			b |= 1 << i
		}
	}
	return b
}

// tableReader reads a compiled table whose checksum is right, so that nothing in it can be amiss.
type tableReader struct {
	data string
	at   int
}

func (r *tableReader) byte() byte {
	b := r.data[r.at]
	r.at++
	return b
}

func (r *tableReader) uint() int {
	b := r.byte()
	n := int(b & 0x7f)
	for shift := 7; b >= 0x80; shift += 7 {
		b = r.byte()
		n |= int(b&0x7f) << shift
	}
	return n
}

func (r *tableReader) text() string {
	n := r.uint()
	r.at += n
	return r.data[r.at-n : r.at]
}

// set appends the words of a set to room.
func (r *tableReader) set(room []wordID) []wordID {
	last := 0
	for range r.uint() {
		last += r.uint()
		room = append(room, wordID(last))
	}
	return room
}

// decompile returns the lexicon of which data is the compiled table. ok is false if it is one of other sources or another
// version.
func decompile(data string, sum uint32) (_ *lexicon, ok bool) {
	if len(data) < compiledHead || data[:len(compiledVersion)] != compiledVersion {
		return nil, false
	}
	head, body := []byte(data[len(compiledVersion):compiledHead]), data[compiledHead:]
	if binary.LittleEndian.Uint32(head) != sum || binary.LittleEndian.Uint32(head[4:]) != textSum(body) {
		return nil, false
	}
	r := &tableReader{data: body}
	lex := new(lexicon)
	if n := r.uint(); n > 0 {
		lex.endings = make([]string, n)
	}
	for i := range lex.endings {
		lex.endings[i] = r.text()
	}
	lex.rules = make([]rule, r.uint())
	for i := range lex.rules {
		kind, name := r.text(), r.text()
		lex.rules[i] = rule{SignalKind(kind), name, math.Float64frombits(binary.LittleEndian.Uint64([]byte(body[r.at : r.at+8])))}
		r.at += 8
	}
	lex.vocab = r.words()
	size := (lex.vocab.size() + 63) / 64
	var room []wordID
	for _, g := range lex.asked() {
		room = r.set(room[:0])
		*g.set = newWordSet(size, room)
	}
	lex.common = newWordSet(size, r.set(room[:0]))
	r.choices(lex)
	r.patterns(lex)
	lex.index()
	return lex, true
}

func (r *tableReader) words() *vocabulary {
	v := &vocabulary{ends: make([]uint32, r.uint())}
	for i := 1; i < len(v.ends); i++ {
		v.ends[i] = v.ends[i-1] + uint32(r.uint())
	}
	v.text = r.text()
	return v
}

func (r *tableReader) choices(lex *lexicon) {
	lex.choices = make([]choices, 0, r.uint())
	lex.ids = make([]wordID, 0, r.uint())
	if n := r.uint(); n > 0 {
		lex.runs = make([][]wordID, 0, n)
	}
	for range cap(lex.choices) {
		c := choices{ids: span{first: uint32(len(lex.ids))}, runs: span{first: uint32(len(lex.runs))}}
		id := 0
		for range r.uint() {
			id += r.uint()
			lex.ids = append(lex.ids, wordID(id))
			c.sieve |= wordSieve(wordID(id))
		}
		for range r.uint() {
			run := make([]wordID, r.uint())
			for i := range run {
				run[i] = wordID(r.uint())
			}
			lex.runs = append(lex.runs, run)
		}
		c.ids.last, c.runs.last = uint32(len(lex.ids)), uint32(len(lex.runs))
		lex.choices = append(lex.choices, c)
	}
}

func (r *tableReader) patterns(lex *lexicon) {
	lex.patterns = make([]pattern, r.uint())
	lex.elems = make([]element, 0, r.uint())
	for i := range lex.patterns {
		p := &lex.patterns[i]
		p.rule = r.uint() - 1
		f := r.byte()
		p.start, p.end, p.plain, p.clause = f&1 != 0, f&2 != 0, f&4 != 0, f&8 != 0
		p.raw, p.verbless, p.request, p.ignored = f&16 != 0, f&32 != 0, f&64 != 0, f&128 != 0
		p.first = uint32(len(lex.elems))
		for range r.uint() {
			f := r.byte()
			e := element{
				num: f&1 != 0, full: f&2 != 0, part: f&4 != 0, any: f&8 != 0,
				code: f&16 != 0, gap: f&32 != 0, sure: f&64 != 0, opt: f&128 != 0,
				tail: r.byte(), from: uint16(r.uint()),
			}
			runs := lex.choices[e.from].runs
			e.row = runs.first < runs.last
			lex.elems = append(lex.elems, e)
		}
		p.last = uint32(len(lex.elems))
	}
}
