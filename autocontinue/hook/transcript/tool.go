package transcript

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
)

//go:embed tools.txt
var toolsText string

var toolRules = sync.OnceValue(func() (rules [][]string) {
	for line := range strings.Lines(toolsText) {
		if f := strings.Fields(line); len(f) > 1 && f[0] != "#" {
			rules = append(rules, f)
		}
	}
	return rules
})

// tool is a call of a tool.
type tool struct {
	id      string // links the call with its result
	name    string
	input   input
	patch   string   // a patch outside of the input
	files   []string // files that are known to be changed, instead of all else
	dir     string   // where it works, when the call names a folder
	program bool     // it runs a program of the model, whose calls are events
	event   bool     // it is such a call
}

// input holds the arguments of a tool, in the names of all hosts.
type input struct {
	Command      script `json:"command"`
	Cmd          script `json:"cmd"`
	Script       script `json:"script"`
	FilePath     string `json:"file_path"`
	NotebookPath string `json:"notebook_path"`
	Path         string `json:"path"`
	AbsolutePath string `json:"absolute_path"`
	TargetFile   string `json:"target_file"`
	Workdir      string `json:"workdir"`
	Patch        string `json:"patch"`
	Input        string `json:"input"`
	BashID       name   `json:"bash_id"`
	ShellID      name   `json:"shell_id"`
	CopilotShell name   `json:"shellId"`
	TaskID       name   `json:"task_id"`
	SessionID    name   `json:"session_id"`
	Subagent     string `json:"subagent_type"`
	AgentType    string `json:"agent_type"`
	Background   truth  `json:"run_in_background"`
	InBackground truth  `json:"is_background"`
}

// script is what a shell is told: a text, or the words of a command.
type script string

func (s *script) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*s = script(text)
		return nil
	}
	var words []string
	if json.Unmarshal(data, &words) != nil || len(words) == 0 {
		return nil
	}
	if nested := nestedScript(words, ""); nested != "" {
		*s = script(nested)
		return nil
	}
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;|&<>()#*?!{}") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	*s = script(strings.Join(words, " "))
	return nil
}

// name is a text or a number.
type name string

func (n *name) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(n))
	}
	if string(data) != "null" {
		*n = name(data)
	}
	return nil
}

// truth is true for true and nothing else.
type truth bool

func (f *truth) UnmarshalJSON(data []byte) error {
	*f = string(data) == "true"
	return nil
}

// kind says what the tool does, by tools.txt.
func (t tool) kind() string {
	lower := strings.ToLower(t.name)
	for _, r := range toolRules() {
		if matches(r[1:], lower) {
			return r[0]
		}
	}
	return ""
}

// polls returns the name of the background command that the tool asks about.
func (t tool) polls() string {
	if t.kind() != "poll" {
		return ""
	}
	in := t.input
	return string(first(in.BashID, in.ShellID, in.CopilotShell, in.TaskID, in.SessionID))
}

func first[T ~string](list ...T) T {
	for _, v := range list {
		if v != "" {
			return v
		}
	}
	return ""
}

// explorers are sub-agents that change nothing and check nothing.
var explorers = []string{"explore", "plan", "statusline-setup", "claude-code-guide", "output-style-setup", "research"}

// effects says what a call does in a project, from a folder.
func (t tool) effects(p project, dir string) []effect {
	if t.dir != "" {
		dir = t.dir
	}
	w := walker{project: p, dir: dir}
	e := effect{Name: t.name}
	in := t.input
	file := first(in.FilePath, in.NotebookPath, in.AbsolutePath, in.TargetFile, in.Path)
	shell := string(first(in.Command, in.Cmd, in.Script))
	kind := t.kind()
	switch {
	case t.files != nil:
		e.edit(&w, t.files...)
	case t.program:
		e.Unknown = true
	case kind == "shell":
		if in.Workdir != "" {
			w.dir = in.Workdir
		}
		w.script(shell, statusKept)
		return w.effects
	case kind == "patch":
		e.edit(&w, patchedFiles(t.patch+"\n"+first(in.Patch, in.Input)+"\n"+shell)...)
	case kind == kindEdit:
		if shell == "view" { // one tool shows and changes files
			return nil
		}
		e.edit(&w, file)
	case kind == "read", kind == "poll":
		return nil
	case kind == "agent":
		if slices.Contains(explorers, strings.ToLower(first(in.Subagent, in.AgentType))) {
			return nil
		}
		e.Unknown = true
	case kind == kindElsewhere:
		e.Elsewhere = true
	case kind != "":
		e.Check, e.Scope, e.Elsewhere = classify.CheckKind(kind), []string{t.name}, kind == kindRun
	default:
		e.Unknown = true
	}
	if !e.matters() {
		return nil
	}
	return []effect{e}
}
