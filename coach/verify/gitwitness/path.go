package gitwitness

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
)

// isThere reports whether something of that name is in the working tree, be it a symbolic link that leads nowhere.
func (r *repository) isThere(name string) bool {
	_, err := os.Lstat(filepath.Join(r.root, filepath.FromSlash(name)))
	return err == nil
}

// place is where a claimed path leads.
type place struct {
	name    string // in slashes, from the top of the working tree; "." is the top
	real    string // where symbolic links in it lead to, if that is elsewhere in the tree
	link    bool   // it is a symbolic link itself
	there   bool
	outside bool
	why     string // in words, where it is outside or not what was claimed
}

// find returns where a path leads that somebody wrote: from the folder that was given, else from the top of the working tree, or an
// absolute one. Where there is nothing of that name, one that differs in upper and lower case alone is meant, and then one that is
// written with backslashes, or with a place in the file behind it.
func (r *repository) find(claimed string) place {
	p := r.findAs(claimed)
	if p.there || p.name == "" {
		return p
	}
	bare := inFile().ReplaceAllString(strings.TrimPrefix(strings.ReplaceAll(strings.TrimSpace(claimed), `\`, "/"), "@"), "")
	if other := r.findAs(bare); other.there && !other.outside {
		if other.why == "" {
			other.why = "it is spelled " + other.name
		}
		return other
	}
	return p
}

// inFile is a line behind a path: "a.go:12", "a.go:12:3", "a.go:12-30", "a.go#L12".
var inFile = compiled(`(?::[0-9]+(?:[:-][0-9]+)?|#L[0-9]+(?:-L?[0-9]+)?)$`)

func (r *repository) findAs(claimed string) place {
	claimed = strings.TrimSpace(claimed)
	if claimed == "" || strings.ContainsRune(claimed, 0) {
		return place{why: "it is no path"}
	}
	slashed := filepath.ToSlash(claimed)
	if filepath.IsAbs(claimed) {
		real := claimed
		// The tree may have been named by way of a link: the longest part that is there is what counts.
		for rest := ""; ; {
			if p, err := filepath.EvalSymlinks(real); err == nil {
				real = filepath.Join(p, rest)
				break
			}
			parent := filepath.Dir(real)
			if parent == real {
				break
			}
			rest, real = filepath.Join(filepath.Base(real), rest), parent
		}
		rel, err := filepath.Rel(r.root, real)
		if err != nil || rel != "." && !filepath.IsLocal(rel) {
			return place{name: slashed, outside: true, there: exists(claimed), why: "it is not in the repository"}
		}
		return r.look(filepath.ToSlash(rel))
	}
	var first place
	for i, from := range []string{r.sub, "."} {
		if i == 1 && r.sub == "." {
			break
		}
		p := r.look(path.Join(from, slashed))
		if p.there && !p.outside {
			return p
		}
		if i == 0 {
			first = p
		}
	}
	return first
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// look returns what a path from the top of the working tree leads to.
func (r *repository) look(name string) place {
	name = path.Clean(name)
	if name == ".." || strings.HasPrefix(name, "../") {
		return place{name: name, outside: true, there: exists(filepath.Join(r.root, filepath.FromSlash(name))), why: "it leads out of the repository"}
	}
	if name == ".git" || strings.HasPrefix(name, ".git/") {
		return place{name: name, outside: true, there: r.isThere(name), why: "it is in git's own folder"}
	}
	spelled, ok := r.spelling(name)
	if !ok {
		return place{name: name}
	}
	p := place{name: spelled, there: true}
	if spelled != name {
		p.why = "it is spelled " + spelled
	}
	full := filepath.Join(r.root, filepath.FromSlash(spelled))
	real, err := filepath.EvalSymlinks(full)
	if err == nil {
		rel, err := filepath.Rel(r.root, real)
		switch rel = filepath.ToSlash(rel); {
		case err != nil || !filepath.IsLocal(rel):
			p.outside, p.why = true, "it is a symbolic link that leads out of the repository"
		case rel != spelled:
			p.real = rel
			_, err := os.Readlink(full)
			p.link = err == nil
			if p.why == "" {
				p.why = "it is a symbolic link to " + rel
			}
		}
		return p
	}
	target, lerr := os.Readlink(full)
	switch {
	case lerr == nil && errors.Is(err, fs.ErrNotExist):
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(full), target)
		}
		p.there, p.why = false, "it is a symbolic link that leads nowhere"
		if rel, err := filepath.Rel(r.root, target); err != nil || !filepath.IsLocal(rel) {
			p.outside = true
		}
	case errors.Is(err, fs.ErrPermission):
		p.why = "it cannot be read"
	default:
		p.there, p.why = false, "it is a symbolic link that leads nowhere"
	}
	return p
}

// spelling returns a path as it is written in the working tree, part by part: as it was given if there is such a file, else the
// only one that differs in case, or in how letters with marks are put together.
func (r *repository) spelling(name string) (string, bool) {
	if name == "." {
		return name, true
	}
	at := ""
	for part := range strings.SplitSeq(name, "/") {
		entries, err := os.ReadDir(filepath.Join(r.root, filepath.FromSlash(at)))
		if err != nil {
			return "", false
		}
		found, alike := "", 0
		for _, e := range entries {
			if e.Name() == part {
				found, alike = part, 1
				break
			}
			if strings.EqualFold(e.Name(), part) || sameLetters(e.Name(), part) {
				found = e.Name()
				alike++
			}
		}
		if alike != 1 {
			return "", false
		}
		at = path.Join(at, found)
	}
	return at, true
}

// sameLetters reports whether two names can be the same text in composed and decomposed Unicode: one of them has marks that stand
// apart from their letters, and they agree in all that is plain.
func sameLetters(a, b string) bool {
	plainA, apartA := plain(a)
	plainB, apartB := plain(b)
	return apartA != apartB && strings.EqualFold(plainA, plainB)
}

// plain returns a name in which each run of letters with marks is one replacement character, and whether marks stand apart in it.
func plain(name string) (text string, apart bool) {
	var list []rune
	for _, r := range name {
		mark := unicode.Is(unicode.Mn, r) || 0x1100 <= r && r <= 0x11ff // and the parts of Korean syllables
		apart = apart || mark
		if mark && len(list) > 0 {
			list = list[:len(list)-1] // its letter
		}
		if mark || r > unicode.MaxASCII {
			r = unicode.ReplacementChar
		}
		if n := len(list); r == unicode.ReplacementChar && n > 0 && list[n-1] == r {
			continue
		}
		list = append(list, r)
	}
	return string(list), apart
}
