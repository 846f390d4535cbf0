package verify

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/plancriteria"
)

// Task is what was to be done.
type Task struct {
	ID       string `json:"task_id"`
	Text     string `json:"text,omitempty"`     // what was asked, in the host's words
	Baseline string `json:"baseline,omitempty"` // the revision at which the work began; empty: the host's snapshot
	// Commands is what the host wants to be run, each in words. All of them must succeed. Nothing else is ever run.
	Commands [][]string `json:"commands,omitempty"`
	// Reviewed names files whose changes a trusted person has looked at, by their paths from the top of the tree.
	Reviewed []string `json:"reviewed,omitempty"`
	// AllowUnchecked lets claims that nobody can check pass.
	AllowUnchecked bool `json:"allow_unchecked,omitempty"`
}

// Requirement is one thing that must hold for the task to be done.
type Requirement struct {
	ID   string `json:"id"` // the same for the same words
	Text string `json:"requirement"`
	// Command shows whether it holds, as the requirement names it. It is compared with Task.Commands and never run itself.
	Command string `json:"command,omitempty"`
}

// Requirements returns the criteria of a plan as requirements, ticked ones included: a tick is a claim. An item that
// groups others with checkboxes, and has none itself, is left out. A section without items is one requirement.
// Command is the code span at the end of an item, after a colon: "- [ ] Tests pass: `go test ./...`".
func Requirements(c plancriteria.Criteria) []Requirement {
	var texts []string
	for _, it := range c.Leaves() {
		texts = append(texts, it.Text)
	}
	if section := strings.Join(strings.Fields(c.Text), " "); len(c.Items) == 0 && section != "" {
		texts = append(texts, section)
	}
	var list []Requirement
	for _, text := range texts {
		sum := sha256.Sum256([]byte(fold(text)))
		r := Requirement{ID: fmt.Sprintf("r%x", sum[:4]), Text: text}
		if m := lex().EndCommand.Find(text); m != nil {
			r.Command = strings.TrimSpace(m[1])
		}
		for n, id := 2, r.ID; slices.ContainsFunc(list, func(q Requirement) bool { return q.ID == r.ID }); n++ {
			r.ID = fmt.Sprintf("%s-%d", id, n)
		}
		list = append(list, r)
	}
	return list
}

// Listed returns which of the commands a line is, word by word. A line that needs a shell matches no command.
func Listed(line string, commands [][]string) ([]string, bool) {
	if strings.ContainsAny(line, "\"'\\$`;&|<>()\n\r") {
		return nil, false
	}
	words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' })
	for _, c := range commands {
		if len(words) > 0 && slices.Equal(words, c) {
			return slices.Clone(c), true
		}
	}
	return nil, false
}
