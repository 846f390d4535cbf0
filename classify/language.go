package classify

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// script is a group of alphabets that tell languages apart.
type script int

const (
	latinScript script = iota
	cyrillicScript
	hanScript
	kanaScript
)

// languages are the languages of a folder of lexicons. The [words] section at the head of each file, its most
// frequent words, tells in which script it is and which texts are in it. The rest of a file is read when a text is.
type languages struct {
	names    []string // such as "en"
	scripts  []script
	words    map[string]uint64 // a frequent word, and a bit for each language that has it
	lexicons []func() (*lexicon, error)
}

const english = 0 // the index of English in languages

// newLanguages reads the heads of the lexicons in fsys. There must be en.txt, which every text is read with. Phrases,
// when not nil, holds further phrases in files of the same names.
func newLanguages(fsys, phrases fs.FS) (*languages, error) {
	list, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, err
	}
	l := &languages{words: make(map[string]uint64, 1<<12)}
	for _, e := range list {
		if path.Ext(e.Name()) == ".txt" {
			l.names = append(l.names, strings.TrimSuffix(e.Name(), ".txt"))
		}
	}
	i := slices.Index(l.names, "en")
	if i < 0 {
		return nil, errors.New("no en.txt, which every text is read with")
	}
	l.names[0], l.names[i] = l.names[i], l.names[0]
	head := make([]byte, 64<<10)
	for i, name := range l.names {
		file, err := fsys.Open(name + ".txt")
		if err != nil {
			return nil, err
		}
		n, err := io.ReadFull(file, head) // a fault is one of whoever reads all of it
		src := head[:n]
		if _, words, _ := bytes.Cut(src, []byte("\n[words]\n")); err == nil && !bytes.Contains(words, []byte("\n[")) {
			rest, _ := io.ReadAll(file) // a host's file may have a longer head
			src = slices.Concat(src, rest)
		}
		file.Close()
		var counts scriptCounts
		frequentWords(src, func(w string) (more bool) {
			l.words[w] |= 1 << i
			counts.add(w) // a script that is not Latin tells the language alone
			return counts.script() == latinScript || counts.ascii+counts.cyrillic+counts.han+counts.kana <= 100
		})
		l.scripts = append(l.scripts, counts.script())
		files := []string{"en.txt", name + ".txt"}[:min(i+1, 2)]
		l.lexicons = append(l.lexicons, sync.OnceValues(func() (*lexicon, error) {
			return parseLexicon(fsys, phrases, files)
		}))
	}
	delete(l.words, "") // of blank lines
	return l, nil
}

// frequentWords calls add for the words at the head of a lexicon, until add wants no more: those of its [words] section
// and of its groups.
func frequentWords(src []byte, add func(w string) (more bool)) {
	_, head, _ := bytes.Cut(src, []byte("\n[words]\n"))
	head, _, _ = bytes.Cut(head, []byte("\n["))
	for line := range strings.SplitSeq(string(head), "\n") {
		if _, list, ok := strings.Cut(line, "="); ok {
			line = list
		}
		for w := range strings.SplitSeq(strings.TrimSpace(line), "|") {
			if !strings.HasPrefix(line, "//") && !add(w) {
				return
			}
		}
	}
}

const maxSample = 1 << 12 // bytes of prose that tell its language

// of returns the language of a text: the one of its script that has most of its words, English before others. known
// says whether enough of the text are words of that language to be sure; a short text may be too short for that.
func (l *languages) of(text string) (language int, known bool) {
	var prose []byte
	var scripts scriptCounts
	lines := newLineReader(text)
	for line, ok := lines.next(); ok && len(prose) < maxSample; line, ok = lines.next() {
		if line.kind.voice() {
			prose = append(append(prose, text[line.start:line.end]...), '\n')
		}
	}
	prose, _ = mask(nil, string(prose))
	scripts.add(string(prose))
	script := scripts.script()
	counts, all := l.count(prose)
	best := -1
	for i, n := range counts {
		if l.scripts[i] == script && (best < 0 || n > counts[best]) {
			best = i
		}
	}
	switch {
	case best < 0:
		return english, false
	case script == hanScript || script == kanaScript: // whose words no blanks part
		return best, true
	}
	return best, counts[best] > 0 && counts[best]*9 >= all
}

// count counts the words of prose, in lower case, that each language has, and all words.
func (l *languages) count(prose []byte) (counts []int, all int) {
	counts = make([]int, len(l.names))
	var scratch [maxWord]byte
	for i := 0; i < len(prose); {
		if !isWordByte(prose[i]) {
			i++
			continue
		}
		end, w := scanWord(prose, i, scratch[:0])
		i = max(end, i+1)
		all++
		for bits, k := l.words[string(w)], 0; bits != 0; bits, k = bits>>1, k+1 {
			counts[k] += int(bits & 1)
		}
	}
	return counts, all
}

// scriptCounts are how many letters of each script a text has.
type scriptCounts struct{ ascii, cyrillic, han, kana int }

func (n *scriptCounts) add(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < utf8.RuneSelf:
			if c |= 0x20; 'a' <= c && c <= 'z' {
				n.ascii++
			}
		case c >= 0xD0 && c <= 0xD3:
			n.cyrillic++
		case c == 0xE3 && i+1 < len(s) && s[i+1] >= 0x81 && s[i+1] <= 0x83:
			n.kana++
		case c >= 0xE4 && c <= 0xE9 || c == 0xE3 && i+1 < len(s) && s[i+1] >= 0x90:
			n.han++
		}
	}
}

// script returns the script that a text is in. Names and terms in a text are in Latin script everywhere, so little of
// another one is enough.
func (n *scriptCounts) script() script {
	unspaced := n.han + n.kana
	switch {
	case unspaced*15 > n.ascii && n.kana*8 > unspaced:
		return kanaScript
	case unspaced*15 > n.ascii:
		return hanScript
	case n.cyrillic*8 > n.ascii:
		return cyrillicScript
	}
	return latinScript
}
