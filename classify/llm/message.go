package llm

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// What the judge sees of each part, in characters.
const (
	maxRequest  = 600
	maxCriteria = 500 // of all together
	maxHint     = 200
	maxSkill    = 60
	maxEvidence = 120 // of one piece
	maxCommand  = 100
	maxFile     = 80
	lastItems   = 6 // of evidence, checks and files
)

// userMessage words the part of the prompt that varies. The same input gives the same bytes. All that comes from the
// input stands between markers. find returns the signals of a text; it is asked if the output is too long to be shown
// whole.
func userMessage(in classify.Input, find func(text string) []classify.Signal) string {
	return section("request", request(in.Request)) +
		section("context", strings.Join(contextLines(in), "\n")) +
		section("output", window(plaintext.Clean(in.Text), find))
}

// section encloses a text in markers that carry its hash, which no text can contain. A part without text has no
// section, except the output.
func section(name, text string) string {
	if text == "" && name != "output" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	id := fmt.Sprintf("%s %x", name, sum[:8])
	return "<" + id + ">\n" + text + "\n</" + id + ">\n"
}

// request is the human's words. A message of ours is not theirs.
func request(s string) string {
	if plaintext.IsOurs(s) {
		return ""
	}
	return plaintext.Cut(strings.TrimSpace(plaintext.Clean(s)), maxRequest)
}

// contextLines is what is known beside request and output, a line each.
func contextLines(in classify.Input) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if s := plaintext.Line(in.Skill, maxSkill); s != "" {
		add("skill: %s", s)
	}
	if s := plaintext.Line(in.SkillHint, maxHint); s != "" {
		add("evidence the skill asks for: %s", s)
	}
	lines = append(lines, criteria(in.Criteria)...)
	if in.Coached > 0 {
		add("coached already in this turn: %d", in.Coached)
	}
	if n := len(in.Evidence) - lastItems; n > 0 {
		add("the host saw %d things before these:", n)
	}
	for _, e := range in.Evidence[max(0, len(in.Evidence)-lastItems):] {
		lines = append(lines, evidence(e))
	}
	return append(lines, work(in.Work)...)
}

// criteria lists the open ones that fit.
func criteria(items []string) []string {
	var lines []string
	left := maxCriteria
	for i, item := range items {
		if item = plaintext.Line(item, maxCriteria); item == "" {
			continue
		}
		if left -= len([]rune(item)); left < 0 {
			return append(lines, fmt.Sprintf("and %d more", len(items)-i))
		}
		if lines == nil {
			lines = append(lines, "open criteria of the plan:")
		}
		lines = append(lines, "- "+item)
	}
	return lines
}

func evidence(e classify.Evidence) string {
	kind := plaintext.Line(string(e.Kind), 20)
	if e.Absent {
		return "the host looked for " + kind + " and saw none"
	}
	s := "the host saw " + kind
	if e.Failed {
		s += " fail"
	}
	if text := plaintext.Line(e.Text, maxEvidence); text != "" {
		s += ": " + text
	}
	return s
}

// work lists the facts of the turn. What is unknown is left out.
func work(w classify.Work) []string {
	var lines []string
	switch w.Edited {
	case classify.EditedNone:
		lines = append(lines, "fact: no file was edited since the last successful check")
	case classify.EditedDocs:
		lines = append(lines, "fact: only documents were edited since the last successful check"+files(w.Files))
	case classify.EditedCode:
		lines = append(lines, "fact: code was edited since the last successful check"+files(w.Files))
	}
	if w.Session == classify.EditedNone {
		lines = append(lines, "fact: no file was edited in the whole session")
	}
	if len(w.Checks) == 0 && w.Edited != classify.EditedUnknown {
		return append(lines, "fact: nothing was run to check it after the last edit")
	}
	for _, c := range w.Checks[max(0, len(w.Checks)-lastItems):] {
		how := map[classify.CheckOutcome]string{classify.OutcomePassed: "passed", classify.OutcomeFailed: "failed"}[c.Outcome]
		how = cmp.Or(how, "ended in a way that is not known")
		kind := plaintext.Line(string(c.Kind), 20)
		lines = append(lines, "fact: after the last edit a "+strings.ReplaceAll(kind, "_", " ")+" "+how+": "+
			strconv.Quote(plaintext.Line(c.Command, maxCommand)))
	}
	return lines
}

func files(names []string) string {
	var shown []string
	for _, name := range names[max(0, len(names)-lastItems):] {
		shown = append(shown, plaintext.Line(name, maxFile))
	}
	if len(shown) == 0 {
		return ""
	}
	return ": " + strings.Join(shown, ", ")
}
