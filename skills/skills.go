// Package skills answers one question: which way of working did the human ask for? Planning, building, testing,
// documenting?
//
// Build a registry with [NewRegistry] and ask it with [Registry.Detect]. [Builtin] returns the four skills of a
// software development cycle. A [Skill] says what evidence its result needs, and coaching asks for that. A host adds
// a skill as a value, or its own rule as another [Detector]:
//
//	reg := skills.NewRegistry(append(skills.Builtin(),
//		skills.Skill{Name: "/deploy", Trigger: "/deploy", Phase: "deploy", EvidenceHint: "the URL of the release"},
//		mine)...)
//
// [FromFS] reads the skills that agents keep in folders with a SKILL.md, such as .claude/skills.
//
// # Limits
//
// Only the words of the human count: not code, quotes and comments, see [Skill.Detect]. The package does not read
// meaning: "don't run /do-build yet" asks for /do-build. In a script without spaces between words, a trigger needs
// white space or punctuation around it.
//
// # Errors
//
// A request is never an error. [FromFS] skips and names the files that it cannot use. Time is linear in the length of a
// text.
package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Skill is a way of working that an agent was asked for. It is its own [Detector].
type Skill struct {
	Name         string // what people call it, as shown in messages
	Trigger      string // the word in a request that asks for it; if empty, only the phase does
	Phase        string // the phase of a workflow that it belongs to; if empty, only the trigger counts
	Description  string // what the agent is doing, to follow "You are"
	EvidenceHint string // what shows that it was done, to follow "show"
}

// Query is what is known about a turn. Either field may be empty.
type Query struct {
	Text  string // the human's request; need not be valid UTF-8
	Phase string // the phase the host's workflow is in
}

// Detector recognises a skill. It must be safe for concurrent use and must give the same answer to the same query.
type Detector interface {
	Detect(q Query) (Skill, bool)
}

// Detect returns s if the text asks for it or the phase is its own.
//
// The text asks for s if it contains s.Trigger as a word, in any case:
//
//   - The beginning or white space is before the word; the end or white space is after it. Punctuation may stand
//     between, as in ("/do-build") or **/do-build**: opening brackets, quotes and emphasis before it, closing ones
//     and . : ! ? after.
//   - A comma or semicolon after it, and a dash (not a hyphen) on either side, need no white space.
//   - So the word is not found in /do-builder, docs/do-build, ./do-build/x, /do-build.md, /do-build:12, [x](/do-build),
//     https://example.com/do-build.
//   - Detect skips fenced code (to its closing fence, or to the end), inline code, lines quoted with > and HTML
//     comments that begin a line.
//
// Detect compares phases in any case, without the white space around them.
func (s Skill) Detect(q Query) (Skill, bool) {
	phase := strings.TrimSpace(s.Phase)
	isPhase := phase != "" && strings.EqualFold(phase, strings.TrimSpace(q.Phase))
	if isPhase || mentions(q.Text, strings.TrimSpace(s.Trigger)) {
		return s, true
	}
	return Skill{}, false
}

// Registry asks several detectors in order. It never changes, and it is safe for concurrent use if its detectors are.
// The zero value and nil recognise nothing. A registry is a [Detector] itself.
type Registry struct{ detectors []Detector }

// NewRegistry returns a registry of ds in their order.
func NewRegistry(ds ...Detector) *Registry { return &Registry{slices.Clone(ds)} }

// Detect asks all detectors with the text alone, then all with the phase alone. So an explicit trigger beats the phase.
// In each pass the first detector that recognises a skill wins, wherever its trigger is in the text.
func (r *Registry) Detect(q Query) (Skill, bool) {
	if r == nil {
		return Skill{}, false
	}
	for _, part := range [...]Query{{Text: q.Text}, {Phase: q.Phase}} {
		for _, d := range r.detectors {
			if s, ok := d.Detect(part); ok {
				return s, true
			}
		}
	}
	return Skill{}, false
}

// Builtin returns the skills of a software development cycle, fresh, in its order: /do-plan, /do-build, /do-test and
// /do-docs, with the phases plan, build, test and document.
func Builtin() []Detector {
	return []Detector{
		Skill{"/do-plan", "/do-plan", "plan", "writing the plan for a piece of work",
			"a finalized plan doc with all required sections"},
		Skill{"/do-build", "/do-build", "build", "implementing the plan",
			"passing tests, commit hashes, and a PR link"},
		Skill{"/do-test", "/do-test", "test", "running the test suites and reporting what they say",
			"test output with pass/fail counts and coverage"},
		Skill{"/do-docs", "/do-docs", "document", "bringing the documentation up to date with the work",
			"created/updated doc file paths and an index entry"},
	}
}

// What may stand around a word: white space, or a full stop, comma or dash outside ASCII; between it and the word,
// marks that open or close.
const (
	separator = `[\s\v\x{200b}\x{feff}]|[^\x00-\x7f\pL\pM\pN\pS\pC\p{Pc}\p{Ps}\p{Pe}\p{Pi}\p{Pf}]`
	before    = `(?:^|` + separator + `)["'*_\p{Ps}\p{Pi}\p{Pf}]*`
	after     = `["'*_.:!?\p{Pe}\p{Pi}\p{Pf}]*(?:$|[,;]|` + separator + `)`
)

// mentions reports whether the human's own words in text contain word, as a whole word.
func mentions(text, word string) bool {
	if word == "" || !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
		return false // most texts: their structure need not be read
	}
	mention, err := regexp.Compile(`(?i)` + before + regexp.QuoteMeta(word) + after)
	if err != nil {
		return false // a word that is not UTF-8
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return mention.MatchString(notOwn().ReplaceAllString(text, "x"))
}

// compiled returns a function that compiles expr when a text first needs it.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// notOwn matches what is not the human's own words: fenced code, quoted lines and HTML comments that begin a line, and
// inline code. It is more lenient than CommonMark, because people type a request: a fence counts at any indentation,
// and each line of a quote needs its own >. A fence of four marks or more may hold one of three.
var notOwn = sync.OnceValue(func() *regexp.Regexp {
	fence := func(open, mark string) string { return open + `$(?s:.*?)(?:^[ \t]*` + mark + `[ \t]*$|\z)` }
	atLineStart := []string{
		`>.*`, `<!--(?:-?>|(?s:.*?)(?:-->|\z))`,
		fence("```[^`\n]*", "`{3,}"), fence("`{4,}[^`\n]*", "`{4,}"),
		fence("~~~(?:[^~\n].*)?", "~{3,}"), fence("~{4,}.*", "~{4,}"),
	}
	return regexp.MustCompile(`(?m)^[ \t]*(?:(?:[-+*]|\d+[.)])[ \t]+)*(?:` + strings.Join(atLineStart, "|") + ")" +
		"|``+(?s:.+?)``+|`[^`\n]*(?:\n[^`\n#>*+-][^`\n]*)*`" + // code within a paragraph
		"|" + `\\[\\` + "`]")
})

// Limits of [FromFS].
const (
	maxHead    = 16 << 10 // bytes of a SKILL.md in which its front matter ends
	maxFolders = 500      // that are read of one folder
)

// Folders returns, fresh, where the agents keep skills: below a project, and below the home of a user.
func Folders() []string { return []string{".claude/skills", ".agents/skills", ".codex/skills"} }

// FromFS returns the skills in fsys: one for each file DIR/NAME/SKILL.md, for the given folders DIR in order. The
// front matter of that file, in YAML, must have the name and the description of the skill. It may have trigger, phase
// and evidence, for [Skill.EvidenceHint]. Without a trigger, the skill is asked for by a slash and NAME. Other fields
// do not count.
//
// A file that cannot be used is skipped; its error names it and says why. A folder that cannot be read holds nothing.
func FromFS(fsys fs.FS, folders ...string) (found []Skill, skipped []error) {
	defer func() { // a nil pointer in the interface, for example
		if p := recover(); p != nil {
			skipped = append(skipped, fmt.Errorf("skills: the file system %T panics: %v", fsys, p))
		}
	}()
	for _, folder := range folders {
		files, err := fs.Glob(fsys, path.Join(folder, "*", "SKILL.md"))
		if err == nil && len(files) > maxFolders {
			err = fmt.Errorf("only the first %d skills are read", maxFolders)
			files = files[:maxFolders]
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("skills: %s: %w", folder, err))
		}
		for _, file := range files {
			s, err := readSkill(fsys, file)
			if err != nil {
				skipped = append(skipped, fmt.Errorf("skills: %s: %w", file, err))
				continue
			}
			s.Trigger = cmp.Or(s.Trigger, "/"+path.Base(path.Dir(file)))
			found = append(found, s)
		}
	}
	return found, skipped
}

func readSkill(fsys fs.FS, name string) (Skill, error) {
	info, err := fs.Stat(fsys, name) // opening a pipe can block forever
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var text []byte
	if err == nil {
		text, err = fs.ReadFile(fsys, name)
	}
	var fields map[string]string
	if err == nil {
		fields, err = scalars(string(text[:min(len(text), maxHead)]))
	}
	if err == nil && (fields["name"] == "" || fields["description"] == "") {
		err = errors.New("the front matter has no name, or no description")
	}
	return Skill{fields["name"], fields["trigger"], fields["phase"], fields["description"], fields["evidence"]}, err
}

// A front matter is between two lines "---". A field is a name and a value, which goes on in the lines that are blank,
// indented or an item of a list.
var (
	frontMatter = compiled(`(?s)\A(?:\x{feff})?---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\z)`)
	field       = compiled(`(?m)^([^\s#:-][^:\n]*):(.*(?:\n(?:[ \t-].*)?$)*)`)
)

// scalars returns the scalars at the top level of a text's front matter, each on one line. It reads the YAML that
// people write there: plain, quoted and block scalars. It is lenient where agents are: a plain scalar may contain ": ".
func scalars(text string) (map[string]string, error) {
	m := frontMatter().FindStringSubmatch(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case m == nil:
		return nil, fmt.Errorf(`no front matter between two lines "---" in the first %d kB`, maxHead>>10)
	case !utf8.ValidString(m[1]):
		return nil, errors.New("the front matter is not UTF-8")
	}
	fields := make(map[string]string)
	for _, f := range field().FindAllStringSubmatch(m[1], -1) {
		value, err := scalar(strings.TrimSpace(f[2]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f[1], err)
		}
		fields[strings.TrimSpace(f[1])] = strings.Join(strings.Fields(value), " ")
	}
	return fields, nil
}

func scalar(value string) (string, error) {
	head, block, _ := strings.Cut(value, "\n")
	switch quote := value[:min(1, len(value))]; quote {
	case "|", ">":
		return block, nil
	case `"`, `'`:
		escaped := map[string]string{`"`: `\"`, `'`: `''`}[quote]
		text, _, closed := strings.Cut(strings.ReplaceAll(value[1:], escaped, "\x00"), quote)
		if !closed {
			return "", errors.New("a quote is not closed")
		}
		return strings.ReplaceAll(text, "\x00", quote), nil
	}
	if plain, _, comment := strings.Cut(head, " #"); comment {
		return plain, nil
	}
	return value, nil
}
