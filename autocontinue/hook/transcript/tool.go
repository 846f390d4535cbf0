package transcript

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// tool is a call of a tool.
type tool struct {
	id    string // links the call with its result
	name  string
	input value
	patch string // a patch outside of the input
	dir   string // where it works, when the call names a folder
}

var toolRules = sync.OnceValue(func() [][]string { return slices.Collect(rows(toolsText)) })

// kindOfTool returns the kind that tools.txt gives a tool, or an agent, by its name, letter case aside.
func kindOfTool(name string, agent bool) string {
	for _, row := range toolRules() {
		if agent == (row[0] == "explorer") && matches(row[1:], strings.ToLower(name)) {
			return row[0]
		}
	}
	return ""
}

func (t tool) polls() string {
	if kindOfTool(t.name, false) != "poll" {
		return ""
	}
	return t.input.first("bash_id", "shell_id", "shellId", "task_id", "session_id")
}

// effects says what a call does in a project, from a folder. What it tells has no secrets: neither the given ones nor
// others of the call.
func (t tool) effects(p project, dir string, secrets []string) []effect {
	w := walker{project: p, dir: cmp.Or(t.dir, dir)}
	e := effect{Name: t.name}
	mask := func(s string) string { return plaintext.Redact(s, secrets...) }
	in := t.input
	script := in.script("command", "cmd", "script")
	shell := plaintext.Redact(script, slices.Concat(secrets, plaintext.Secrets(script))...)
	kind := kindOfTool(t.name, false)
	switch {
	case kind == "shell":
		if folder := in.first("workdir", "working_directory", "dir_path", "directory"); folder != "" {
			w.dir = w.resolve(folder)
		}
		return w.script(shell)
	case kind == "patch":
		e.patch(&w, mask(t.patch+"\n"+in.first("patch", "input"))+"\n"+shell)
	case kind == kindEdit, kind == "write":
		if shell == "view" { // one tool shows and changes files
			return nil
		}
		e.edit(&w, mask(in.first(
			"file_path", "notebook_path", "absolute_path", "target_file", "path", "filePath", "relative_path")))
		e.Makes = kind == "write"
	case kind == "read", kind == "poll":
		return nil
	case kind == "agent":
		agent := in.first("subagent_type", "agent_type")
		e.Unknown = agent == "" || kindOfTool(agent, true) == ""
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
