package hook

import (
	"bytes"
	"strings"
)

// aider reads aider's history from its beginning. Each start of aider is a session.
//
// What aider itself says begins with "> " and ends, maybe many lines later, with two spaces; a line of the agent's that
// begins so is a quote. What the agent says begins after an empty line. Before June 2023 aider spoke in italics instead.
type aider struct {
	markdown
	started  bool
	speaking bool // the line before was the human's
	itself   bool // the line before was aider's own
	goesOn   bool // which did not end there
	thinking bool // what comes now is the model's thinking
	italic   bool // of May 2023
	bare     bool // somebody took the space from the ends of the lines
}

func newAider() *aider { return &aider{markdown: markdown{words: aiderWords}} }

const aiderHead = "# aider chat started at "

// aiderStart returns the time in the line that a start of aider writes.
func aiderStart(line []byte) (string, bool) {
	if len(line) < len(aiderHead) || !strings.EqualFold(string(line[:len(aiderHead)]), aiderHead) {
		return "", false
	}
	return string(bytes.TrimSpace(clipBytes(line[len(aiderHead):], 100))), true
}

func (a *aider) entries(line []byte, at int64, emit func(entry)) bool {
	head := string(clipBytes(line, 200))
	speaking, itself := a.speaking, a.itself
	a.speaking, a.itself = false, false
	if startsWith(head, "> Aider v", "> Git repo: ", "> Repo-map: ") && !bytes.HasSuffix(line, []byte(" ")) {
		a.bare = true
	}
	ends := a.bare || bytes.HasSuffix(line, []byte("  "))
	_, starts := aiderStart(line)
	switch {
	case starts:
		a.open(0, at, emit)
		a.started, a.goesOn, a.thinking, a.italic, a.bare = true, false, false, strings.HasPrefix(head, "# Aider"), false
	case strings.HasPrefix(head, "#### "), head == "####":
		if !speaking {
			a.open(human, at, emit)
		}
		line = bytes.TrimPrefix(line[len("####"):], []byte(" "))
		if a.italic {
			line = bytes.TrimPrefix(line, []byte("> "))
		}
		a.line(bytes.TrimRight(line, " "))
		a.speaking, a.goesOn, a.thinking = true, false, false
	case a.goesOn, itself && len(line) > 0, a.own(head, ends, speaking):
		a.open(message, at, emit)
		a.itself, a.goesOn = ends, !ends
	default:
		if speaking || a.who == 0 && a.started && len(line) > 0 {
			a.open(message, at, emit)
		}
		begins, ended := startsWith(head, "<thinking-content-", "<think>"), startsWith(head, "</thinking-content-", "</think>")
		if a.thinking = (a.thinking || begins && a.who == message) && !ended; !a.thinking && !ended {
			a.line(line)
		}
	}
	return true
}

// own reports whether a text of aider's own begins. The agent's quotes end otherwise, and have an empty line before them.
func (a *aider) own(head string, ends, speaking bool) bool {
	if a.italic {
		return ends && startsWith(head, "_", "*")
	}
	quotes := strings.HasPrefix(head, "> ") || a.bare && head == ">"
	return quotes && (ends || speaking || a.who == 0 || startsWith(head, "> Tokens: ", "> Commit "))
}

// aiderWords tells the human's words to the agent from those to aider itself, /add and the like. A command that is run, or
// a test, may go to the agent with what it printed, and is no request.
func aiderWords(e entry) entry {
	word, rest, _ := strings.Cut(e.text, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case isOurs(e.text):
		e.kind = feedback
	case e.text == "<blank>":
		e.kind = notice
	case word == "/run" || word == "/test" || strings.HasPrefix(word, "!"):
		e.aside = true
	case !strings.HasPrefix(word, "/"):
	case rest != "" && (word == "/ask" || word == "/code" || word == "/architect" || word == "/context" || word == "/help"):
		e.text = rest
	default:
		e.kind = notice
	}
	return e
}
