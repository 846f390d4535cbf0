package hook

import (
	"encoding/json"
	"strings"
)

// toolOf makes a tool of a call by its name and its input, a JSON object, as Claude Code, Gemini CLI and Codex's functions have them.
func toolOf(id, name string, input []byte) tool {
	t := tool{id: id}
	var path, script string
	for key, v := range members(input) {
		switch key {
		case "command", "cmd", "script":
			script = shellText(v)
		case "file_path", "notebook_path", "path", "absolute_path":
			path = textOf(v)
		case "bash_id", "shell_id", "task_id", "session_id":
			if t.poll = textOf(v); t.poll == "" {
				t.poll = string(v) // a number
			}
		case "input":
			if name == "apply_patch" {
				t.edits = patchedFiles(textOf(v))
			}
		}
	}
	switch name {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", // Claude Code
		"replace", "write_file", "edit", "edit_file", "write", "create_file", "str_replace", "multi_edit", "insert_edit_into_file": // Gemini CLI and others
		t.edits = []string{path}
	case "apply_patch":
		if len(t.edits) == 0 {
			t.edits = []string{""}
		}
	case "Task", "Agent", "Workflow", "spawn_agent", "codebase_investigator", "generalist", "delegate_to_agent":
		t.opaque, t.poll = true, ""
	case "BashOutput", "TaskOutput", "AgentOutput", "write_stdin":
	default:
		t.poll = ""
		t.script = script
		if script == "" && testTool(name) {
			t.named = name
		}
	}
	return t
}

// shellText returns what a shell is told: a string, or the words of a command of which the last is a shell's script.
func shellText(v []byte) string {
	if s, ok := text(v); ok {
		return s
	}
	var words []string
	if json.Unmarshal(v, &words) != nil || len(words) == 0 {
		return ""
	}
	if s := nestedScript(words); s != "" {
		return s
	}
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`;|&<>()#*?!{}") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// testTool reports whether a tool runs tests by its name: "run_tests", "mcp__ide__runTests".
func testTool(name string) bool {
	name = strings.ToLower(name[strings.LastIndex(name, "__")+1:])
	name = strings.Trim(name, "_")
	return strings.HasPrefix(name, "run") && strings.Contains(name, "test") || strings.HasSuffix(name, "_test") && strings.Contains(name, "exec")
}
