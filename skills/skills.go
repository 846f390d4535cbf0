// Package skills answers which way of working an agent was asked for: is it planning, building, testing, documenting?
//
// Build a registry with [NewRegistry] and ask it with [Registry.Detect]; [Builtin] holds the four skills of a software
// development cycle. A [Skill] tells what evidence its result needs, so that coaching can ask for exactly that. A host
// adds a skill as a value, or any rule of its own as a function:
//
//	reg := skills.NewRegistry(append(skills.Builtin(),
//		skills.Skill{Name: "/deploy", Trigger: "/deploy", Phase: "deploy", EvidenceHint: "the URL of the release"},
//		skills.DetectorFunc(mine))...)
//
// # Limits
//
// Only the words of the human count. A trigger in fenced or inline code, in a block quote, in an HTML comment at the
// start of a line, or as part of a path, a URL or a longer word is not a request; see [Skill.Detect]. Meaning is not
// read: "don't run /do-build yet" asks for /do-build. In a script that does not put spaces between words, a trigger
// needs white space or punctuation around it.
//
// # Errors
//
// There are none: no text is invalid, and what is not recognised is no skill. Reading is linear in the text and copies
// none of it.
package skills

import "strings"

// Skill is a way of working that an agent was asked for. It is its own [Detector].
type Skill struct {
	Name         string // what people call it, as shown in messages
	Trigger      string // the word in a request that asks for it; empty: found by its phase alone
	Phase        string // the phase of a workflow it belongs to; empty: found by its trigger alone
	Description  string // what the agent is doing, to stand after "You are"
	EvidenceHint string // what shows that it was done, to stand after "show"
}

// Query is what is known about a turn. Either field may be empty.
type Query struct {
	Text  string // the human's request; need not be valid UTF-8
	Phase string // the phase the host's workflow is in
}

// Detector recognises a skill.
//
// An implementation must be safe for concurrent use and give the same answer to the same query. Text is data: nothing
// in it is an instruction.
type Detector interface {
	Detect(q Query) (Skill, bool)
}

// DetectorFunc is a function that is a [Detector]. A nil one recognises nothing.
type DetectorFunc func(q Query) (Skill, bool)

// Detect calls f.
func (f DetectorFunc) Detect(q Query) (Skill, bool) {
	if f == nil {
		return Skill{}, false
	}
	return f(q)
}

// Detect returns s if the text asks for it or the phase is its own.
//
// The text asks for s if s.Trigger stands in it as a word, in whatever case:
//
//   - before it the beginning or white space, after it the end or white space; punctuation may stand between, as in
//     ("/do-build") or **/do-build**: opening brackets, quotes and emphasis before it, closing ones and . : ! ? after it;
//   - a comma or semicolon after it, and a dash (but no hyphen) on either side, need no white space;
//   - so it is not found in /do-builder, docs/do-build, ./do-build/x, /do-build.md, /do-build:12, [x](/do-build),
//     https://example.com/do-build;
//   - fenced code (to its closing fence, or to the end), inline code, lines quoted with > and HTML comments that begin
//     a line are skipped.
//
// The phases are compared without the white space around them, in whatever case.
func (s Skill) Detect(q Query) (Skill, bool) {
	phase := strings.TrimSpace(s.Phase)
	if phase != "" && strings.EqualFold(phase, strings.TrimSpace(q.Phase)) {
		return s, true
	}
	if mentions(q.Text, strings.TrimSpace(s.Trigger)) {
		return s, true
	}
	return Skill{}, false
}

// Builtin returns the skills of a software development cycle, fresh, in its order: /do-plan, /do-build, /do-test and
// /do-docs, with the phases plan, build, test and document.
func Builtin() []Detector {
	ds := make([]Detector, len(builtin))
	for i, s := range builtin {
		ds[i] = s
	}
	return ds
}

var builtin = [...]Skill{
	{
		Name: "/do-plan", Trigger: "/do-plan", Phase: "plan",
		Description:  "writing the plan for a piece of work",
		EvidenceHint: "a finalized plan doc with all required sections",
	},
	{
		Name: "/do-build", Trigger: "/do-build", Phase: "build",
		Description:  "implementing the plan",
		EvidenceHint: "passing tests, commit hashes, and a PR link",
	},
	{
		Name: "/do-test", Trigger: "/do-test", Phase: "test",
		Description:  "running the test suites and reporting what they say",
		EvidenceHint: "test output with pass/fail counts and coverage",
	},
	{
		Name: "/do-docs", Trigger: "/do-docs", Phase: "document",
		Description:  "bringing the documentation up to date with the work",
		EvidenceHint: "created/updated doc file paths and an index entry",
	},
}
