package verify

import (
	"slices"
	"strings"
)

// What of a text is read for claims, in bytes: the start of it, and of each line.
const (
	maxProse = 128 << 10
	maxRead  = 4000
)

// prose adds what a text claims. Code in fences, quotes and open checkboxes claim nothing.
func (r *Report) prose(text string) {
	text = start(text, maxProse)
	defer r.dropTakenBack(text)
	section := fileSection{}
	for _, line := range proseLines(text) {
		bare, marked := unmarked(line)
		switch heading, kind, rest := fileHeading(bare); {
		case heading && rest == "":
			section = fileSection{open: true, kind: kind}
			continue
		case heading:
			paths, _ := pathList(rest)
			for _, p := range paths {
				r.addFile(p, kind)
			}
			section = fileSection{}
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		if section.open && (marked || r.onlyPaths(bare)) && !isTitle(line) {
			if r.bullet(bare, section.kind) {
				continue
			}
		} else {
			section = fileSection{}
		}
		for _, s := range sentences(bare) {
			r.fileClaims(s)
			r.commitClaims(s)
			r.testClaims(s)
		}
	}
}

// fileSection is a heading such as "Files changed:", under which each bullet names a file.
type fileSection struct {
	open bool
	kind ChangeKind
}

// proseLines returns the lines of a text that are in nobody else's words.
func proseLines(text string) []string {
	var lines []string
	fence := ""
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if mark := fenceMark(t); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence) && strings.Trim(t, mark[:1]) == "":
				fence = ""
			}
			continue
		}
		if fence != "" || strings.HasPrefix(t, ">") || openBox.get().MatchString(t) {
			continue
		}
		lines = append(lines, start(strings.TrimRight(line, "\r\n"), maxRead))
	}
	return lines
}

// start returns the start of s, up to the last blank before max bytes.
func start(s string, max int) string {
	if len(s) <= max {
		return s
	}
	return s[:strings.LastIndexAny(s[:max], " \t\n")+1]
}

func fenceMark(t string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(t) - len(strings.TrimLeft(t, c)); n >= 3 {
			return t[:n]
		}
	}
	return ""
}

var (
	openBox = compiled(`^(?:[-*+]|\d+[.)])\s+\[ \]`)
	marker  = compiled(`^\s*(?:(?:[-*+•–]|\d{1,2}[.)])\s+(?:\[[xX]\]\s+)?|[✅✓✔☑]️?\s*|\|\s*)+`)
	// What a sentence says when nothing of a change is left.
	takenBack = compiled(`(?i)\b(?:revert(?:ed|ing)?|undid|undone|rolled (?:it |them |that )?back|put (?:it |them )?back|restored|discarded|stashed|temporar(?:y|ily)|throwaway|scratch|(?:deleted|removed|dropped) (?:it|them|again|afterwards)|cleaned (?:it |them |this |that )?up)\b`)
	title     = compiled(`^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$)`)
	// The end of a sentence: a full stop inside a path or a number is none.
	sentenceEnd = compiled(`[.!?](?:\s+|$)|;\s+|\s[—–]\s`)
)

func isTitle(line string) bool { return title.get().MatchString(line) }

// unmarked returns a line without what a list item begins with, and whether there was that.
func unmarked(line string) (string, bool) {
	m := marker.get().FindString(line)
	return strings.TrimSpace(line[len(m):]), m != ""
}

func sentences(line string) []string {
	var all []string
	for {
		at := sentenceEnd.get().FindStringIndex(line)
		if at == nil {
			return append(all, line)
		}
		if line[at[0]] != '?' { // a question claims nothing
			all = append(all, line[:at[0]])
		}
		line = line[at[1]:]
	}
}

// dropTakenBack drops the files of which the text says that nothing of the change is left.
func (r *Report) dropTakenBack(text string) {
	if !takenBack.get().MatchString(text) {
		return
	}
	gone := map[string]bool{}
	for _, line := range proseLines(text) {
		for _, s := range sentences(line) {
			if !takenBack.get().MatchString(s) {
				continue
			}
			for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == '(' || r == ')' || r == '`' }) {
				if p := tidyPath(word); isPath(p) {
					gone[cleanPath(p)] = true
				}
			}
		}
	}
	r.Files = slices.DeleteFunc(r.Files, func(c FileClaim) bool { return gone[cleanPath(c.Path)] })
}

// commitClaims reads "committed as abc1234", "commit: abc1234" and git's own "[main abc1234]". Commits that a sentence speaks about in
// another way ("reverts abc1234", "since commit abc1234") are none of its own.
func (r *Report) commitClaims(s string) {
	if strings.Contains(s, "http") || otherCommit.get().MatchString(s) {
		return
	}
	for _, p := range []*pattern{commitSaid, commitGit} {
		for _, m := range p.get().FindAllStringSubmatch(s, -1) {
			if isHash(m[1]) && m[2] == "" { // of a range, the first is not part
				r.addCommit(m[1])
			}
		}
	}
}

var (
	otherCommit = compiled(`(?i)\b(?:revert\w*|upstream|cherry|bisect\w*|introduc\w*|amend\w*|rebas\w*|squash\w*|fixup|regress\w*|since|before|after|until|based?|parent|broke\w*|ancestor|was at|from|previous|earlier|old|their|his|her|you|your|example|e\.g|e\.g\.|like|such as|original|merge base|last known|will|would|should|could|not)\b`)
	commitSaid  = compiled("(?i)\\b(?:commit(?:ted|s)?|pushed)\\b(?:\\s+(?:is|as|in|id|hash|sha|with|it|them|the|change|changes|work|everything|all|this|that)){0,5}\\s*[:=#(]*\\s*\\**[`(]?([0-9a-f]{7,40})\\b(\\.\\.)?")
	commitGit   = compiled(`^\[[\w./-]+(?: \(root-commit\))? ([0-9a-f]{7,40})\]()`)
)

// isHash reports whether a word is the name of a commit: hexadecimal, with a letter and a digit unless it has its full length.
func isHash(s string) bool {
	if len(s) < 7 || len(s) > 40 || strings.Trim(s, "0123456789abcdef") != "" {
		return false
	}
	return len(s) == 40 || strings.ContainsAny(s, "abcdef") && strings.ContainsAny(s, "0123456789")
}
