package verify

import "strings"

var (
	heading = compiled(`(?i)^(?:#{1,6}\s+)?[*_]{0,2}(?:the\s+)?(?:` +
		`files?\s+(?:i\s+)?(changed|modified|updated|edited|touched|created|added|removed|deleted|written)` +
		`|(changed|modified|updated|edited|touched|new|created|added|removed|deleted)\s+files?` +
		`|(created|modified|changed|updated|edited|deleted|removed|added)` +
		`)(?:\s*\(\d+\))?[*_]{0,2}\s*(:|$)[*_]{0,2}\s*(.*)$`)
	madeVerb = compiled(`(?i)^(?:(?:i|we)(?:'ve|’ve|\s+have)?\s+(?:also\s+|then\s+|just\s+)?|also\s+|then\s+|and\s+)?` +
		`(created|added|wrote|updated|modified|changed|edited|rewrote|refactored|removed|deleted|renamed|moved)\s+` +
		`(?:the\s+|a\s+|both\s+|new\s+|following\s+|files?\s*:?\s+|these\s+|two\s+|three\s+)*`)
	andVerb = compiled(`(?i)^\s*(?:,\s*(?:(?:and|then)\s+)?|(?:and|then)\s+)(?:i\s+)?(?:also\s+|then\s+)?((?:created|added|wrote|updated|modified|changed|edited|rewrote|refactored|removed|deleted|renamed|moved)\s)`)
	// After the path of a claim: what makes the path the object of something else.
	asPlace = compiled(`(?i)^(?:-\w|\s*(?:endpoint|route|url|page|api|handler|path|entry|import|reference|section|support|integration|\(?unchanged|not\b))`)
	// After the last path of a list: what makes it the subject of a clause of its own, "Updated a.go, b.go calls it".
	asSubject = compiled(`(?i)^\s+(?:already|still|never|no longer|only|is|was|are|were|has|had|did|need|can|could|would|will|[a-z]{2,}s)\b`)
	fromTo    = compiled(`(?i)^\s*(?:->|→|=>|to|into)\s+`)
	clearEnd  = compiled("^\\s*(?:$|[,.;:(—–-]|and\\b|as\\b|because\\b|since\\b|which\\b|entirely\\b|completely\\b|altogether\\b|after\\b|with\\b)")
	untold    = compiled(`(?i)\b(?:unchanged|no changes?|not (?:changed|modified|touched)|untouched|unmodified|left as)\b`)
)

// fileHeading reports whether a line is a heading of changed files, how they were changed, and what follows its colon. Without a
// colon the heading stands alone. "Created:" is one only with paths after it or below it.
func fileHeading(line string) (ok bool, kind ChangeKind, rest string) {
	m := heading.get().FindStringSubmatch(line)
	if m == nil {
		return false, "", ""
	}
	word := m[1] + m[2] + m[3]
	rest = strings.TrimSpace(m[5])
	if m[4] == "" && rest != "" {
		return false, "", ""
	}
	if m[3] != "" && m[4] == "" {
		return false, "", "" // a lone "Added" may head anything
	}
	if rest != "" {
		if paths, after := pathList(rest); len(paths) == 0 || !clearEnd.get().MatchString(after) {
			return false, "", ""
		}
	}
	if strings.EqualFold(word, "touched") || strings.EqualFold(word, "written") {
		word = ""
	}
	kind = kindOfWord(word)
	if kind == Modified {
		kind = "" // a list of changed files may well have new ones in it
	}
	return true, kind, rest
}

// onlyPaths reports whether a line is nothing but paths.
func (r *Report) onlyPaths(line string) bool {
	paths, rest := pathList(line)
	return len(paths) > 0 && strings.Trim(rest, " .,") == ""
}

// bullet reads an item below a heading of files: the paths it begins with, perhaps after a word such as "new:".
func (r *Report) bullet(line string, kind ChangeKind) bool {
	if word, rest, ok := strings.Cut(line, " "); ok {
		if k := kindOfWord(strings.Trim(word, ":*_")); k != "" {
			line, kind = rest, k
			if kind == Modified {
				kind = ""
			}
		}
	}
	paths, rest := pathList(line)
	if len(paths) == 0 {
		return false
	}
	if untold.get().MatchString(rest[:min(len(rest), 200)]) {
		return true
	}
	said := strings.TrimSuffix(strings.TrimSpace(line), strings.TrimSpace(rest))
	for _, k := range []struct {
		mark string
		kind ChangeKind
	}{{"(new", Added}, {"(created", Added}, {"(added", Added}, {"(deleted", Removed}, {"(removed", Removed}} {
		if len(paths) == 1 && strings.Contains(strings.ToLower(said), k.mark) {
			kind = k.kind
		}
	}
	if from := fromTo.get().FindString(rest); from != "" && len(paths) == 1 {
		if to, _ := pathList(rest[len(from):]); len(to) == 1 {
			r.addFile(paths[0], Removed)
			r.addFile(to[0], Added)
			return true
		}
	}
	for _, p := range paths {
		r.addFile(p, kind)
	}
	return true
}

// fileClaims reads a sentence that begins with what was done and to which files: "Updated a.go and b.go", "I've added c.go". A file
// that something was done in, to or about is not read: the sentence may mean another place.
func (r *Report) fileClaims(s string) {
	for s != "" {
		m := madeVerb.get().FindStringSubmatchIndex(s)
		if m == nil {
			return
		}
		verb, rest := strings.ToLower(s[m[2]:m[3]]), s[m[1]:]
		paths, after := pathList(rest)
		if len(paths) > 1 && asSubject.get().MatchString(after) {
			paths = paths[:len(paths)-1]
		}
		if len(paths) > 0 && !asPlace.get().MatchString(after) && !untold.get().MatchString(after[:min(len(after), 80)]) {
			r.made(verb, paths, after)
		}
		next := andVerb.get().FindStringSubmatchIndex(after)
		if next == nil {
			return
		}
		s = after[next[2]:]
	}
}

func (r *Report) made(verb string, paths []string, after string) {
	arrow := fromTo.get().FindString(after)
	switch kind := kindOfWord(verb); verb {
	case "renamed", "moved":
		to, _ := pathList(after[len(arrow):])
		if len(paths) == 1 && arrow != "" && len(to) == 1 {
			r.addFile(paths[0], Removed)
			r.addFile(to[0], Added)
		}
	case "removed", "deleted":
		if clearEnd.get().MatchString(after) {
			for _, p := range paths {
				r.addFile(p, Removed)
			}
		}
	default:
		if arrow != "" && kind == Added {
			return // "added a.go to the list"
		}
		if to, _ := pathList(after[len(arrow):]); arrow != "" && len(to) > 0 {
			return // "changed a.go to b.go"
		}
		if kind == Added && !clearEnd.get().MatchString(after) && !strings.HasPrefix(strings.TrimSpace(after), "f") {
			kind = "" // "added a.go handling": who knows what
		}
		if kind == Modified {
			kind = ""
		}
		for _, p := range paths {
			r.addFile(p, kind)
		}
	}
}
