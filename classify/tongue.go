package classify

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// tongue is a group of languages whose tables are compiled together. Which one a text needs its script tells, so a process
// that judges one English text compiles the English table alone. English is in each: code and terms are English everywhere.
type tongue uint8

const (
	english tongue = iota
	latin          // the languages in Latin script
	cyrillic
	chinese
	japanese
	nTongues
)

var tongueNames = [nTongues]string{"english", "latin", "cyrillic", "chinese", "japanese"}

// scripts are the files of each tongue beside en.txt. A file that is in none of these is one in Latin script.
var scripts = [nTongues][]string{cyrillic: {"ru.txt"}, chinese: {"zh.txt"}, japanese: {"ja.txt"}}

// files returns which of the names, all tables there are, belong to a tongue.
func (t tongue) files(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if name == "en.txt" {
			return false
		}
		home := latin
		for other, files := range scripts {
			if slices.Contains(files, name) {
				home = tongue(other)
			}
		}
		return home != t
	})
}

// reader is what one tongue is read and judged with.
type reader struct {
	tongue tongue
	lex    *lexicon
	weigh  *table
	others bool // there may be a language among the others that fits better
}

// lexicons compiles the lexicon of each tongue when it is first asked for.
type lexicons [nTongues]func() (*lexicon, error)

// newLexicons returns the lexicons in the files names of fsys.
func newLexicons(fsys fs.FS, names []string) *lexicons {
	l := new(lexicons)
	for t := range l {
		l[t] = sync.OnceValues(func() (*lexicon, error) { return parseLexicon(fsys, tongue(t).files(names)...) })
	}
	return l
}

// builtinLexicons returns the lexicons in the files names of fsys, which are the built-in ones.
func builtinLexicons(fsys fs.FS, names []string) *lexicons {
	l := new(lexicons)
	for t := range l {
		l[t] = sync.OnceValues(func() (*lexicon, error) { return builtinLexicon(fsys, tongue(t), tongue(t).files(names)) })
	}
	return l
}

// tableFiles returns the names of the lexicons in fsys, sorted, and whether there is a weights.txt.
func tableFiles(fsys fs.FS) (names []string, weighed bool, err error) {
	if names, err = textFiles(fsys, "."); err != nil {
		return nil, false, err
	}
	all := len(names)
	names = slices.DeleteFunc(names, func(name string) bool { return name == weightsFile })
	return names, len(names) < all, nil
}

// textFiles returns the names of the files in a folder that end in .txt, sorted.
func textFiles(fsys fs.FS, dir string) (names []string, err error) {
	list, err := fs.ReadDir(fsys, dir)
	for _, e := range list {
		if path.Ext(e.Name()) == ".txt" {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names) // not every file system does
	return names, err
}

const weightsFile = "weights.txt"

// weightTables reads the weights of each tongue when they are first asked for.
type weightTables [nTongues]func() (weights, error)

// newWeightTables reads the weights of each tongue from its own file.
func newWeightTables(fsys fs.FS) *weightTables {
	w := new(weightTables)
	for t := range w {
		w[t] = sync.OnceValues(func() (weights, error) { return parseWeights(fsys, "weights/"+tongueNames[t]+".txt") })
	}
	return w
}

// hostWeights returns for each tongue the weights in its own file, else, if common, those in weights.txt, else those in base.
// It reports whether any are of fsys.
func hostWeights(fsys fs.FS, common bool, base *weightTables) (w *weightTables, found bool, err error) {
	names, err := textFiles(fsys, "weights")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	for _, name := range names {
		if !slices.Contains(tongueNames[:], strings.TrimSuffix(name, ".txt")) {
			return nil, false, fmt.Errorf("tables: weights/%s is for no script: they are %s", name, strings.Join(tongueNames[:], ", "))
		}
	}
	shared := sync.OnceValues(func() (weights, error) { return parseWeights(fsys, weightsFile) })
	w = newWeightTables(fsys)
	for t, name := range tongueNames {
		switch {
		case slices.Contains(names, name+".txt"):
		case common:
			w[t] = shared
		default:
			w[t] = base[t]
		}
	}
	return w, common || len(names) > 0, nil
}

// tongueOf tells from the script of its prose which tables a text needs. What stands in fences and quotes is data, whose script
// says nothing.
func tongueOf(text string) tongue {
	if !hasForeign(text) {
		return english
	}
	var n scriptCounts
	if strings.IndexByte(text, '<') < 0 && strings.IndexByte(text, '>') < 0 && !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		n.add(text) // all of it is prose
	} else {
		lines := lineReader{text: text}
		for l, ok := lines.next(); ok; l, ok = lines.next() {
			if l.kind.voice() {
				n.add(text[l.start:l.end])
			}
			if l.check == tickedBox {
				n.ascii++ // its x
			}
		}
	}
	unspaced := n.han + n.kana
	switch {
	case unspaced*15 > n.ascii && n.kana*8 > unspaced:
		return japanese
	case unspaced*15 > n.ascii:
		return chinese
	case n.cyrillic*8 > n.ascii:
		return cyrillic
	case n.accented > 2 || n.accented*100 > n.ascii:
		return latin
	}
	return english
}

// hasForeign reports whether a text has letters of which scripts are told.
func hasForeign(s string) bool {
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) && isASCII(s[i:i+8]) {
			i += 8
		}
		if i < len(s) && s[i] >= 0xC3 && s[i] <= 0xE9 && s[i] != 0xE2 { // with E2 begins punctuation
			return true
		}
	}
	return false
}

// scriptCounts are how many letters of each script a text has.
type scriptCounts struct{ ascii, accented, cyrillic, han, kana int }

func (n *scriptCounts) add(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < utf8.RuneSelf:
			if c |= 0x20; 'a' <= c && c <= 'z' {
				n.ascii++
			}
		case c >= 0xC3 && c <= 0xC5: // Latin-1 and Latin Extended-A
			n.accented++
		case c >= 0xD0 && c <= 0xD3:
			n.cyrillic++
		case c == 0xE3 && i+1 < len(s) && s[i+1] >= 0x81 && s[i+1] <= 0x83:
			n.kana++
		case c >= 0xE4 && c <= 0xE9 || c == 0xE3 && i+1 < len(s) && s[i+1] >= 0x90:
			n.han++
		}
	}
}

// isASCII tells it of eight bytes.
func isASCII(s string) bool {
	return (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 == 0
}
