package hook

import (
	"bytes"
	"strings"
)

// specStory reads SpecStory's Markdown from its beginning. It has been written in several forms: a head for each thing that
// the agent said or did, or one for the whole turn with rulers between them; "_****_" as the head of what goes on; tools in
// elements of HTML, or as "Tool use:" with fenced results. What an agent's program writes in the human's name stands there
// like the human's words.
type specStory struct {
	markdown
	until  string // the end of what is left out, such as a tool's use
	tool   bool   // what comes now is a tool's, up to the next head
	fenced bool   // within a fence of that
	goesOn bool   // the head of this block said nothing
	skill  bool   // the agent has just called for a skill: what is in the human's place next is the skill's text
	given  bool   // this block is that
}

func newSpecStory() *specStory {
	s := new(specStory)
	s.words = s.told
	return s
}

// specStorySession returns the session that a comment near the top names: <!-- Claude Code Session <id> (time) -->.
func specStorySession(line []byte) string {
	text := string(clipBytes(line, 300))
	if !strings.HasPrefix(text, "<!-- ") {
		return ""
	}
	_, rest, _ := strings.Cut(text, " Session ")
	id, _, _ := strings.Cut(rest, " ")
	return id
}

// specStoryGoesOn is the head of what an agent says or does after what it said.
const specStoryGoesOn = "_****_"

// isSpecStoryHead reports whether a line says who speaks: _**User (time)**_, _**Agent (model time)**_, _**Assistant**_.
func isSpecStoryHead(line string) bool {
	in, ok := strings.CutPrefix(line, "_**")
	if !ok {
		return false
	}
	in, ok = strings.CutSuffix(in, "**_")
	return ok && startsWith(in, "User", "Agent", "Assistant")
}

func (s *specStory) entries(line []byte, at int64, emit func(entry)) bool {
	text := string(bytes.TrimSpace(clipBytes(line, 4096)))
	switch {
	case s.until != "":
		if bytes.Contains(line, []byte(s.until)) {
			s.until = ""
		}
	case s.tool && strings.HasPrefix(text, "```"):
		s.fenced = !s.fenced
	case s.fenced:
	case isSpecStoryHead(text), text == specStoryGoesOn && (s.who == message || s.tool):
		who := message
		switch {
		case strings.HasPrefix(text, "_**User"):
			who = human
		case strings.Contains(text, "- sidechain"):
			who = 0
		}
		s.head(who, at, emit)
		s.goesOn = text == specStoryGoesOn
	case s.who == message && strings.HasPrefix(text, "Tool use: **"):
		s.head(0, at, emit)
		s.tool = true
		emit(entry{kind: call})
	case s.who == message && startsWith(text, "<tool-use", "<think>", "<details>"):
		s.head(message, at, emit)
		if !strings.HasPrefix(text, "<think>") {
			emit(entry{kind: call})
		}
		s.skill = strings.HasPrefix(text, "<tool-use") && strings.Contains(text, `data-tool-name="Skill"`)
		for _, tag := range []string{"tool-use", "think", "details"} {
			if strings.HasPrefix(text, "<"+tag) && !bytes.Contains(line, []byte("</"+tag+">")) {
				s.until = "</" + tag + ">"
			}
		}
	default:
		s.line(line)
	}
	return true
}

// head begins a block. One that goes on, and is all fenced, is a change of a file, or a command.
func (s *specStory) head(who entryKind, at int64, emit func(entry)) {
	if text := withoutRules(string(s.block)); s.goesOn && s.who == message && strings.HasPrefix(text, "```") && strings.HasSuffix(text, "```") {
		s.block, s.long = s.block[:0], false
		emit(entry{kind: call})
	}
	s.open(who, at, emit)
	s.given = s.skill && who == human
	s.tool, s.goesOn, s.skill = false, false, false
}

// told tells the human's words from what the programs of agents write in their place.
func (s *specStory) told(e entry) entry {
	claudeWords(e.text, e, false, func(one entry) { e = one })
	switch {
	case e.kind != human:
	case s.given:
		e.kind = notice
	case isOurs(e.text):
		e.kind = feedback
	case codex{}.machine(e.text):
		e.kind = notice
	}
	return e
}
