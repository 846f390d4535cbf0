package verify

import (
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
)

// The bytes of a text that are read for claims: its start, and the start of each line.
const (
	maxProse = 128 << 10
	maxRead  = 4000
)

// Words that any English text of some length has.
var english = lazy.New(`(?i)\b(?:the|a|an|and|is|are|in|to|of|for|with|was|it|this|that|on|i|all|now|no|not|as|by|` +
	`from|has|have|passed|failed|updated|added|fixed|created|changed|removed|ran)\b`)

const minForeign = 12 // words that show in which language a text is

// section is what a heading says about the lines below it.
type section struct {
	files    bool // each item names a changed file
	kind     ChangeKind
	change   bool // its items are changes
	silent   bool // nothing in it is a claim: next steps, questions, usage
	concerns bool // its items are concerns
}

var (
	openBox     = lazy.New(`^(?:[-*+]|\d+[.)])\s+\[ \]`)
	listMark    = lazy.New(`^\s*(?:(?:[-*+•–]|\d{1,2}[.)])\s+(?:\[[xX]\]\s+)?|[✅✓✔☑🟢❌✗]\x{fe0f}?\s*|\|\s*)+`)
	sentenceEnd = lazy.New(`[.!?](?:["')]|\*\*)?(?:\s+|$)|;\s+|\s[—–]\s|\s\|\s*`)
	titleLine   = lazy.New(`^\s*(?:#{1,6}\s+(.*?)#*|\*\*([^*]+)\*\*:?|([A-Z][\w '/&-]{2,40}):)\s*$`)
	headPaths   = lazy.New(`(?i)^(?:#{1,6}\s+)?[*_]{0,2}(?:the\s+)?(?:files?\s+(?:i\s+)?(changed|modified|updated|` +
		`edited|touched|created|added|removed|deleted|written)` +
		`|(changed|modified|updated|edited|touched|new|created|added|removed|deleted)\s+files?|(created|modified|changed|` +
		`updated|edited|deleted|removed|added))` +
		`(?:\s*\(\d+\))?[*_]{0,2}\s*(:|$)[*_]{0,2}\s*(.*)$`)
	titleSilent = lazy.New(`(?i)\b(?:next|todo|to do|future|follow-?ups?|suggest\w*|recommend\w*|questions?|remaining|` +
		`out of scope|how to|usage|` +
		`not (?:done|included|changed|touched)|plan|proposed|proposal|options?|alternatives?|instructions|prerequisites|` +
		`request|task|you)\b`)
	titleNot = lazy.New(`(?i)\b(?:not|never|no|unchanged|untouched|looked at|read|related|references?|reviewed|` +
		`considered)\b|n['’]t\b`)
	titleConcerns = lazy.New(`(?i)\b(?:concerns?|risks?|caveats?|known issues|limitations|warnings?|open points)\b`)
	titleChange   = lazy.New(`(?i)\b(?:change[sd]?|changelog|modifications|modified|edits|what i did|what was done|` +
		`fix(?:es|ed)?)\b`)
	titleDone = lazy.New(`(?i)\b(?:summary|implementation|implemented|done|work|files)\b`)
)

// prose adds what a text claims. Quotes and open checkboxes claim nothing, and of code only the output of tests does.
func (r *Report) prose(text string) {
	text = start(plaintext.Clean(text), maxProse)
	if n := len(strings.Fields(text)); n >= minForeign && len(english.FindAll(text))*20 < n {
		r.add(Claim{Kind: OtherClaim, Text: "the report is not in English"})
	}
	var fence, block string
	var in section
	for raw := range strings.Lines(text) {
		line := start(strings.TrimRight(raw, "\r\n"), maxRead)
		t := strings.TrimSpace(line)
		if mark := fenceMark(t); mark != "" {
			switch {
			case fence == "":
				fence, block = mark, ""
				continue
			case strings.HasPrefix(mark, fence) && strings.Trim(t, mark[:1]) == "":
				if !in.silent {
					r.output(block)
				}
				fence = ""
				continue
			}
		}
		if fence != "" {
			block += raw
			continue
		}
		if t == "" || strings.HasPrefix(t, ">") || openBox.Match(t) {
			continue
		}
		mark := listMark.Regexp().FindString(line)
		bare := strings.TrimSpace(line[len(mark):])
		if m := headPaths.Find(bare); m != nil && m[4]+m[5] == "" && m[3] == "" || m != nil && m[4] != "" {
			word := strings.ToLower(m[1] + m[2] + m[3])
			kind := kindOfWord(word)
			if kind == Modified || word == "touched" || word == "written" {
				kind = "" // a list of changed files may well have new ones in it
			}
			paths, after := pathList(m[5])
			switch {
			case m[5] == "":
				in = section{files: true, kind: kind, change: true}
				continue
			case len(paths) > 0 && clearEnd.Match(after):
				for _, p := range paths {
					r.add(Claim{Kind: FileClaim, Text: bare, Path: p, Change: kind, Sure: true})
				}
				continue
			}
		}
		if m := titleLine.Find(line); m != nil {
			if title := m[1] + m[2] + m[3]; !(len(mark) > 0 && strings.Contains(title, ".")) {
				in = section{
					silent: titleSilent.Match(title) && !titleChange.Match(title) && !titleDone.Match(title) ||
						titleNot.Match(title),
					concerns: titleConcerns.Match(title),
					change:   titleChange.Match(title),
				}
				if m[2]+m[3] != "" || in.silent || in.concerns {
					continue
				}
				bare = title // "# All tests pass"
			}
		}
		switch {
		case in.concerns:
			r.concern(bare)
			continue
		case in.silent:
			continue
		case in.files && r.fileItem(bare, in.kind, true):
			continue
		case in.files && mark == "":
			in = section{}
		case mark != "" && r.fileItem(bare, "", in.change):
			_, bare, _ = cutLabel(bare)
		}
		for _, s := range sentences(bare) {
			r.sentence(s)
		}
	}
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

// sentences takes a line apart. A question claims nothing.
func sentences(line string) []string {
	var all []string
	for {
		at := sentenceEnd.FindIndex(line)
		if at == nil {
			return append(all, line)
		}
		if line[at[0]] != '?' {
			all = append(all, line[:at[0]])
		}
		line = line[at[1]:]
	}
}

func (r *Report) concern(s string) {
	if s = line(strings.Trim(s, "*_ "), 300); s != "" && len(r.Concerns) < 20 &&
		!strings.EqualFold(strings.TrimRight(s, "."), "none") {
		r.Concerns = append(r.Concerns, s)
	}
}

// output reads what a report shows of a run: the summary of a test runner.
func (r *Report) output(block string) {
	c, ok := testoutput.Read(block)
	if !ok || c.Partial || c.Total() == 0 {
		return
	}
	claim := Claim{Kind: RunClaim, Run: RunTests, Passed: &c.Passed, Text: "the report shows output of tests"}
	if c.Failed > 0 {
		claim.Failed = &c.Failed
	}
	first, _, _ := strings.Cut(strings.TrimSpace(block), "\n")
	if command, ok := strings.CutPrefix(first, "$ "); ok {
		claim.Command = strings.TrimSpace(command)
	}
	claim.settle()
	r.add(claim)
}

// A clause with these words claims nothing: a condition, a wish, a plan, a quote.
var (
	supposed = lazy.New(`(?i)\b(?:should|would|could|may|might|must|shall|will|if|once|until|unless|make sure|ensures?|` +
		`verify that|expect(?:s|ed)?|` +
		`assum\w*|hopefully|so that|needs?|needed|ha(?:ve|s) to|want(?:s|ed)?|requires?d?|criteri\w+|claim(?:s|ed)?|says?|` +
		`said|probably|likely|` +
		`presumably|todo|next|later|consider|suggest\w*|recommend\w*|propose\w*|please|going to|about to|plan(?:s|ned)? to|` +
		`let me know|feel free|you can|you may|can be|example|e\.g|try to|tried|trying|attempt\w*|instead of|rather than|` +
		`in order to)\b|^\s*(?:then |now |just |please |first )*(?:run|use|try|open|execute|start|install|call|type|` +
		`restart|set|see|add|check out)\b`)
	denied = lazy.New(`(?i)\b(?:not|no|never|neither|nor|nothing|none|nobody|without|cannot|unable|no longer|` +
		`un(?:changed|touched|modified|committed|pushed)|` +
		`left (?:\S+ ){0,3}alone|missing|absent|skipped running|refrained|avoided|yet to)\b|n['’]t\b`)
	earlier = lazy.New(`(?i)\b(?:before|previous(?:ly)?|earlier|formerly|original(?:ly)?|initially|at first|first run|` +
		`used to|had|was|were|upstream|old|already|baseline)\b`)
	undone = lazy.New(`(?i)\b(?:revert(?:ed|ing)?|undid|undone|rolled (?:it |them |that )?back|put (?:it |them )?back|` +
		`restored|discarded|stashed|temporar(?:y|ily)|throwaway|scratch|` +
		`(?:deleted|removed|dropped) (?:it|them|again|afterwards)|cleaned (?:it|them|this|that) up)\b`)
	clauseEnd = lazy.New(`(?:,\s+|\s+)(?:but|however|although|though|whereas|because|except)\b\s*|,\s+(?:so|which|` +
		`while|since|as|no|not|nothing|without|then|with no)\b|\s\((?:not|no|it|which|that|was|were)\b`)
	spans = lazy.New("`([^`\\n]{1,200})`")
)

// clauses takes a sentence apart where another statement begins. The word that begins it stays with it.
func clauses(s string) []string {
	var all []string
	from := 0
	for _, at := range clauseEnd.FindAllIndex(s) {
		if at[0] > from && !(harmlessFailure.FindIndex(s[at[0]:]) != nil && harmlessFailure.FindIndex(s[at[0]:])[0] <= 2) {
			all = append(all, strings.TrimLeft(s[from:at[0]], ", ("))
			from = at[0]
		}
	}
	return append(all, strings.TrimLeft(s[from:], ", ("))
}

// masked replaces code and paths by letters, so that words in them decide nothing.
func masked(s string) string {
	s = spans.Regexp().ReplaceAllStringFunc(s, func(c string) string { return strings.Repeat("x", len(c)) })
	for _, m := range anyPath.FindAllIndex(s) {
		if isPath(tidyPath(s[m[2]:m[3]])) {
			s = s[:m[2]] + strings.Repeat("x", m[3]-m[2]) + s[m[3]:]
		}
	}
	return s
}

// sentence reads what a sentence claims, clause by clause.
func (r *Report) sentence(s string) {
	if undone.Match(masked(s)) {
		r.takeBack(s)
		return
	}
	for _, c := range clauses(s) {
		m := masked(c)
		r.scope(c, m)
		if supposed.Match(m) {
			continue
		}
		r.runs(c, m)
		if r.testNames(c, m); denied.Match(harmlessFailure.Replace(m, " ")) {
			continue
		}
		r.fileClaims(c)
		r.folders(c)
		r.commits(c, m, s)
		r.others(c, m)
		r.changes(c, m)
	}
}

// takeBack drops the files of which a sentence says that nothing of their change is left.
func (r *Report) takeBack(s string) {
	for _, m := range anyPath.FindAll(s) {
		p := cleanPath(tidyPath(m[1]))
		for i := len(r.Claims) - 1; i >= 0; i-- {
			if c := r.Claims[i]; c.Kind == FileClaim && cleanPath(c.Path) == p {
				r.Claims = append(r.Claims[:i], r.Claims[i+1:]...)
			}
		}
	}
}
