package classify

import (
	"bytes"
	"io/fs"
	"strings"
	"sync"
)

// languageReader tells languages in one script apart, by the words in the [words] section of their lexicons.
type languageReader struct {
	names []string          // of the languages, such as "en"
	words map[string]uint64 // a common word, and a bit for each language that has it
}

// newLanguageReader reads the most frequent words of the languages in the lexicons names, and nothing else of them.
func newLanguageReader(fsys fs.FS, names []string) (*languageReader, error) {
	d := &languageReader{words: map[string]uint64{}}
	for i, name := range names {
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, err
		}
		d.names = append(d.names, strings.TrimSuffix(name, ".txt"))
		_, words, _ := bytes.Cut(src, []byte("\n[words]\n"))
		words, _, _ = bytes.Cut(words, []byte("\n["))
		for line := range strings.SplitSeq(string(words), "\n") {
			if line == "" || strings.HasPrefix(line, "//") || strings.ContainsAny(line, "@[") {
				continue
			}
			for w := range strings.SplitSeq(strings.TrimSpace(line), "|") {
				d.words[w] |= 1 << i
			}
		}
	}
	return d, nil
}

// languageOf returns the language that has the most of the words in prose, the first of equals, or "" if hardly any
// language has them.
func (d *languageReader) languageOf(prose []byte) string {
	counts := make([]int, len(d.names))
	all := 0
	for i := 0; i < len(prose); {
		c := prose[i]
		if !('a' <= c && c <= 'z' || c >= 0x80) {
			i++
			continue
		}
		var scratch [maxWord]byte
		end, w := scanWord(prose, i, scratch[:0])
		i = max(end, i+1)
		all++
		for bits, k := d.words[string(w)], 0; bits != 0; bits, k = bits>>1, k+1 {
			counts[k] += int(bits & 1)
		}
	}
	best := 0
	for k, n := range counts {
		if n > counts[best] {
			best = k
		}
	}
	if counts[best]*9 < all || counts[best] == 0 {
		return ""
	}
	return d.names[best]
}

// latinLanguages tells the built-in languages in Latin script apart.
var latinLanguages = sync.OnceValue(func() *languageReader {
	fsys, err := fs.Sub(embedded, "lexicon")
	if err != nil {
		panic(err) // the folder is embedded
	}
	names, _, _ := tableFiles(fsys)
	d, err := newLanguageReader(fsys, latin.files(names))
	if err != nil {
		panic(err)
	}
	return d
})

const maxSample = 1 << 14 // bytes of prose that tell its language

// languageOf returns the language of a text that is read with the tables of t, or "".
func languageOf(t tongue, text string) string {
	switch t {
	case english:
		return "en"
	case cyrillic:
		return "ru"
	case chinese:
		return "zh"
	case japanese:
		return "ja"
	}
	var prose []byte
	lines := lineReader{text: text}
	for l, ok := lines.next(); ok && len(prose) < maxSample; l, ok = lines.next() {
		if l.kind.voice() {
			prose = append(append(prose, text[l.start:l.end]...), '\n')
		}
	}
	prose, _ = lower(nil, string(prose))
	return latinLanguages().languageOf(prose)
}
