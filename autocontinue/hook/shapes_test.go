package hook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// claudeLine is a line of a transcript of Claude Code's; more are members beside its message.
func claudeLine(kind, message, more string) string {
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"sessionId":"s1","cwd":"/w","isSidechain":false,"message":%s%s}`, kind, sum(message), message, more)
}

func claudeAsks(words string) string {
	return claudeLine("user", fmt.Sprintf(`{"role":"user","content":%q}`, words), "")
}

func claudeAnswers(id, words string) string {
	return claudeLine("assistant", fmt.Sprintf(`{"id":%q,"role":"assistant","model":"m","content":[{"type":"text","text":%q}]}`, id, words), "")
}

func claudeLists(id, call string) string {
	return claudeLine("assistant", fmt.Sprintf(`{"id":%q,"role":"assistant","model":"m","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls"}}]}`, id, call), "")
}

func claudeRan(call string) string {
	return claudeLine("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"a.go"}]}`, call), "")
}

// claudeWaited is something that waited to be told to the agent.
func claudeWaited(what string) string {
	return fmt.Sprintf(`{"type":"attachment","uuid":%q,"sessionId":"s1","isSidechain":false,"attachment":{"type":"queued_command",%s}}`, sum(what), what)
}

func TestClaudeTranscriptsOfManyVersions(t *testing.T) {
	const (
		summary  = `{"type":"summary","summary":"Login","leafUuid":"l1"}`
		snapshot = `{"type":"file-history-snapshot","messageId":"m","snapshot":{"messageId":"m","trackedFileBackups":{}},"isSnapshotUpdate":false}`
	)
	synthetic := func(words, more string) string {
		return claudeLine("assistant", fmt.Sprintf(`{"id":"x","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":%q}]}`, words), more)
	}
	for name, tt := range map[string]struct {
		lines []string
		want  []heard
	}{
		"a summary of another session is all": {[]string{summary}, nil},
		"a snapshot is all":                   {[]string{snapshot}, nil},
		"a link is all":                       {[]string{`{"type":"pr-link","sessionId":"s1","prNumber":1}`}, nil},
		"summaries come first": {
			[]string{summary, summary, snapshot, claudeAsks("Fix it."), claudeAnswers("m1", "Fixed.")},
			[]heard{{"Fixed.", "Fix it.", ""}},
		},
		"a sub-agent speaks first in its caller's": {
			[]string{
				strings.ReplaceAll(claudeAsks("Warm up."), `"isSidechain":false`, `"isSidechain":true`), strings.ReplaceAll(claudeAnswers("m0", "Ready."), `"isSidechain":false`, `"isSidechain":true`),
				claudeAsks("Fix it."), claudeAnswers("m1", "Fixed."),
			},
			[]heard{{"Fixed.", "Fix it.", ""}},
		},
		"what is written when a session is taken up again": {
			[]string{
				claudeAsks("Fix it."), claudeAnswers("m1", "Fixed."),
				claudeLine("user", `{"role":"user","content":"Continue from where you left off."}`, `,"isMeta":true`), synthetic("No response requested.", ""),
				claudeAsks("And the logout?"), claudeAnswers("m2", "It has no target."),
			},
			[]heard{{"Fixed.", "Fix it.", "And the logout?"}, {"It has no target.", "And the logout?", ""}},
		},
		"what an editor puts around the words": {
			[]string{
				claudeLine("user", `{"role":"user","content":[{"type":"text","text":"<ide_opened_file>They opened a.go.</ide_opened_file>"},{"type":"text","text":"Fix it."}]}`, ""), claudeAnswers("m1", "I look at it."),
				claudeLine("user", `{"role":"user","content":[{"type":"text","text":"<ide_selection>x := 1</ide_selection>"},{"type":"text","text":"continue"},{"type":"text","text":"<system-reminder>The list is empty.</system-reminder>"}]}`, ""), claudeAnswers("m2", "Fixed."),
				claudeAsks("<system-reminder>The folder changed.</system-reminder>"), claudeAnswers("m3", "Noted."),
			},
			[]heard{{"I look at it.", "Fix it.", "continue"}, {"Fixed.", "continue", ""}, {"Noted.", "continue", ""}},
		},
		"what the human says while the agent works": {
			[]string{
				claudeAsks("Fix it."), claudeLists("m1", "t1"), claudeRan("t1"), claudeWaited(`"prompt":"only the handler","commandMode":"prompt"`), claudeAnswers("m2", "Fixed."),
				claudeAsks("And the logout?"), claudeLists("m3", "t2"), claudeRan("t2"),
				claudeWaited(`"prompt":"<task-notification>\nended\n</task-notification>","commandMode":"task-notification","origin":{"kind":"task-notification"}`),
				claudeWaited(`"prompt":"Continue.","commandMode":"prompt","isMeta":true,"origin":{"kind":"auto-continuation"}`), claudeAnswers("m4", "It has no target."),
				claudeAsks("Give it one."), claudeLists("m5", "t3"), claudeRan("t3"),
				claudeWaited(`"prompt":[{"type":"text","text":"the root"}],"origin":{"kind":"human"}`), claudeAnswers("m6", "Done."),
			},
			[]heard{{"Fixed.", "only the handler", "And the logout?"}, {"It has no target.", "And the logout?", "Give it one."}, {"Done.", "the root", ""}},
		},
		"what others write": {
			[]string{
				claudeAsks("Fix it."), claudeAsks("Operation stopped by hook: not now"), claudeAsks("Fix it now."), claudeAnswers("m1", "Fixed."),
				claudeAsks(`<teammate-message teammate_id="lead">And the logout?</teammate-message>`), claudeAnswers("m2", "It has no target."),
			},
			[]heard{{"Fixed.", "Fix it now.", ""}, {"It has no target.", "Fix it now.", ""}},
		},
		"what claude -p prints": {
			[]string{
				`{"type":"system","subtype":"init","session_id":"s1","cwd":"/w","tools":[]}`,
				`{"type":"user","message":{"role":"user","content":"Fix it."},"parent_tool_use_id":null,"session_id":"s1"}`,
				`{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Task","input":{}}]},"parent_tool_use_id":null,"session_id":"s1"}`,
				`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Look."}]},"parent_tool_use_id":"t1","session_id":"s1"}`,
				`{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Seen."}]},"parent_tool_use_id":"t1","session_id":"s1"}`,
				`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Seen."}]},"parent_tool_use_id":null,"session_id":"s1"}`,
				`{"type":"assistant","message":{"id":"m3","content":[{"type":"text","text":"Fixed."}]},"parent_tool_use_id":null,"session_id":"s1"}`,
				`{"type":"result","subtype":"success","is_error":false,"result":"Fixed.","session_id":"s1"}`,
			},
			[]heard{{"Fixed.", "Fix it.", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(tt.want, pausesOf(t, strings.Join(tt.lines, "\n")+"\n")))
		})
	}

	for _, more := range []string{`,"isApiErrorMessage":true`, ""} { // the first versions did not say so
		moments, _, err := replayed(t, []byte(strings.Join([]string{claudeAsks("Fix it."), synthetic("You've hit your session limit", more), claudeAsks("continue"), claudeAnswers("m2", "Fixed it, should work now.")}, "\n")+"\n"))
		require.NoError(t, err)
		require.Len(t, moments, 2)
		require.Equal(t, autocontinue.ReasonCrashGuard, moments[0].Decision.Reason, "the turn broke, as StopFailure says")
		require.Equal(t, "continue", moments[0].Next)
		require.Equal(t, autocontinue.ReasonRejectedCompletion, moments[1].Decision.Reason)
	}
}

func TestCopilotSessionsInAutopilot(t *testing.T) {
	event := func(id, kind, data string) string {
		return fmt.Sprintf(`{"type":%q,"data":%s,"id":%q}`, kind, data, id)
	}
	require.Empty(t, cmp.Diff([]heard{
		{"I wait for the build.", "Fix it.", ""},
		{"The build failed: auth.go.", "Fix it.", "go on"},
		{"Fixed auth.go, and 12 tests pass.", "go on", ""},
	}, pausesOf(t, strings.Join([]string{
		event("1", "session.start", `{"sessionId":"s1","version":1,"producer":"copilot-agent","context":{"cwd":"/w"}}`),
		event("2", "user.message", `{"content":"Fix it.","attachments":[]}`),
		event("3", "assistant.message", `{"messageId":"a","content":"I wait for the build.","toolRequests":[]}`), event("4", "assistant.turn_end", `{"turnId":"0"}`),
		event("5", "system.notification", `{"content":"<system_notification>Shell 0 completed</system_notification>","kind":{"type":"shell_completed"}}`),
		event("6", "assistant.message", `{"messageId":"b","content":"The build failed: auth.go.","toolRequests":[]}`),
		event("7", "user.message", `{"content":"go on","attachments":[]}`),
		event("7s", "skill.invoked", `{"name":"logins"}`), event("7c", "user.message", `{"content":"<skill-context name=\"logins\">\nWith care.\n</skill-context>"}`),
		event("8", "assistant.message", `{"messageId":"c","content":"","toolRequests":[{"toolCallId":"t1","name":"task_complete","arguments":{"summary":"Fixed auth.go, and 12 tests pass."}}]}`),
		event("9", "tool.execution_start", `{"toolCallId":"t1","toolName":"task_complete","arguments":{}}`), event("10", "tool.execution_complete", `{"toolCallId":"t1","success":true,"result":{"content":"noted"}}`),
		event("11", "session.task_complete", `{"summary":"Fixed auth.go, and 12 tests pass.","success":true}`), event("12", "assistant.turn_end", `{"turnId":"1"}`), event("13", "session.shutdown", `{}`),
	}, "\n")+"\n")))
}

// The prompt that a hook is told of has the same words around it.
func TestAWrappedPromptIsTheHumans(t *testing.T) {
	for prompt, want := range map[string]bool{
		"<ide_opened_file>They opened a.go.</ide_opened_file>\nFix it.":  true,
		"<system-reminder>Late.</system-reminder>\nFix it.":              true,
		"<system-reminder>Late.</system-reminder>":                       false,
		"<ide_opened_file>They opened a.go.</ide_opened_file>":           false,
		"<teammate-message teammate_id=\"a\">Fix it.</teammate-message>": false,
		"<ide_opened_file> is an element":                                true,
	} {
		require.Equal(t, want, Event{Host: Claude, Kind: Prompt, Prompt: Value(prompt)}.FromHuman(Memory{}), prompt)
	}
	many := "<ide_selection>" + strings.Repeat("<system-reminder></system-reminder>", 100_000)
	require.NotEmpty(t, unwrapped(many)) // not one at a time, with a look at all of it for each
}

func TestCodexRolloutsOfManyVersions(t *testing.T) {
	item := func(payload string) string {
		return `{"timestamp":"x","type":"response_item","payload":` + payload + `}`
	}
	says := func(role, kind, words, more string) string {
		return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]%s}`, role, kind, words, more)
	}
	const (
		state = `{"record_type":"state"}`
		start = `{"id":"c1","timestamp":"2025-08-20T13:20:47.060Z","instructions":null,"git":{"branch":"main"}}`
	)
	ran := []string{
		start, state, says("user", "input_text", "<environment_context>\n</environment_context>", ""), says("user", "input_text", "Fix the login redirect.", ""), state,
		`{"type":"reasoning","id":"r1","summary":[],"content":null,"encrypted_content":"x"}`, says("assistant", "output_text", "I look at it.", `,"id":null`),
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"go test ./...\"]}","call_id":"k1"}`,
		`{"type":"function_call_output","call_id":"k1","output":"{\"output\":\"ok  \\tshop\\t0.1s\\n\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}`,
	}
	edit := []string{
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Update File: auth.go\\n*** End Patch\"]}","call_id":"k2"}`,
		`{"type":"function_call_output","call_id":"k2","output":"{\"output\":\"Done.\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0}}"}`,
	}
	ends := []string{state, says("assistant", "output_text", "Fixed, all tests pass.", ""), state, says("user", "input_text", "show me the output", ""), state, says("assistant", "output_text", "Here it is.", "")}
	for name, tt := range map[string]struct {
		lines []string
		want  []heard
	}{
		"until September 2025": {
			append(append([]string{}, ran...), ends...),
			[]heard{{"Fixed, all tests pass.", "Fix the login redirect.", "show me the output"}, {"Here it is.", "show me the output", ""}},
		},
		"it began, and nothing was said": {[]string{start, state}, nil},
		"what an editor puts above the words": {
			[]string{
				item(says("user", "input_text", "# Context from my IDE setup:\n\n## Active file: a.go\n\n## My request for Codex:\nFix it.", "")), item(says("assistant", "output_text", "I look at it.", "")),
				item(says("user", "input_text", "# Files mentioned by the user:\n\n## a.png: /w/a.png\n\n## My request for Codex:\ncontinue\n", "")), item(says("assistant", "output_text", "Fixed.", "")),
			},
			[]heard{{"I look at it.", "Fix it.", "continue"}, {"Fixed.", "continue", ""}},
		},
		"each part says what it is": {
			[]string{
				item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"# AGENTS.md instructions for /w"},{"type":"input_text","text":"Fix it."},{"type":"input_image","image_url":"x"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["agents_md.instructions","user.text","user.image"]}}`),
				item(says("assistant", "output_text", "Fixed.", "")),
				item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"something new"}],"internal_chat_message_metadata_passthrough":{"content_item_kinds":["plugins.recommendations"]}}`),
				item(says("assistant", "output_text", "Noted.", "")),
			},
			[]heard{{"Fixed.", "Fix it.", ""}, {"Noted.", "Fix it.", ""}},
		},
		"what Codex tells itself": {
			[]string{
				item(says("user", "input_text", "Fix it.", "")), item(says("assistant", "output_text", "Fixed.", "")),
				item(says("user", "input_text", "<user_action>\n  <action>review</action>\n</user_action>", "")), item(says("assistant", "output_text", "Nothing found.", "")),
				item(says("user", "input_text", "Another language model started to solve this problem and left notes.", "")), item(says("assistant", "output_text", "Read.", "")),
			},
			[]heard{{"Fixed.", "Fix it.", ""}, {"Nothing found.", "Fix it.", ""}, {"Read.", "Fix it.", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(tt.want, pausesOf(t, strings.Join(tt.lines, "\n")+"\n")))
		})
	}

	passed, _, err := replayed(t, []byte(strings.Join(append(append([]string{}, ran...), ends...), "\n")+"\n"))
	require.NoError(t, err)
	require.Equal(t, "c1", passed[0].Output.Session)
	require.Equal(t, []classify.Evidence{{Kind: classify.EvidenceTests, Text: "go test ./...: passed"}}, passed[0].Output.Evidence)
	stale, _, err := replayed(t, []byte(strings.Join(append(append(append([]string{}, ran...), edit...), ends...), "\n")+"\n"))
	require.NoError(t, err)
	require.True(t, stale[0].Output.Evidence[0].Absent)
}

func TestGeminiSessionsOfManyVersions(t *testing.T) {
	const head = `{"sessionId":"s1","projectHash":"h","startTime":"2026-11-02T10:20:00Z","lastUpdated":"2026-11-02T10:20:00Z","kind":"main"}`
	said := func(id, kind, content, more string) string {
		return fmt.Sprintf(`{"id":%q,"timestamp":"2026-11-02T10:21:00Z","type":%q,"content":%s%s}`, id, kind, content, more)
	}
	for name, tt := range map[string]struct {
		lines []string
		want  []heard
	}{
		"what is left when a session is taken up in another file": {
			[]string{head, `{"$set":{"messages":[` + said("c", "user", `[{"text":"<session_context>\nToday is Monday.\n</session_context>"}]`, "") + `]}}`}, nil,
		},
		"the human stops the agent": {
			[]string{
				head, said("u1", "user", `[{"text":"Fix it."}]`, ""), said("g1", "gemini", `"I look at it."`, ""), said("i1", "info", `"Request cancelled."`, ""), `{"$set":{"messages":[]}}`,
				said("u2", "user", `[{"text":"only the handler"}]`, ""), said("g2", "gemini", `"Fixed."`, ""), said("i2", "info", `"A new version is there."`, ""),
			},
			[]heard{{"Fixed.", "only the handler", ""}},
		},
		"files that the human names, and what a hook adds": {
			[]string{
				head, said("u1", "user", `[{"text":"Fix @auth.go"},{"text":"--- Content from referenced files ---"},{"text":"package auth"}]`, `,"displayContent":[{"text":"Fix @auth.go"}]`), said("g1", "gemini", `"Fixed."`, ""),
				said("u2", "user", `[{"text":"thanks"},{"text":"<hook_context>It rains.</hook_context>"}]`, ""), said("u3", "user", `"<hook_context>It rains.</hook_context>"`, ""), said("g2", "gemini", `"Welcome."`, ""),
			},
			[]heard{{"Fixed.", "Fix @auth.go", "thanks"}, {"Welcome.", "thanks", ""}},
		},
		"what the model thinks, and calls among what it says": {
			[]string{
				head, said("u1", "user", `[{"text":"Fix it."}]`, ""),
				said("g1", "gemini", `[{"text":"I look at it."},{"functionCall":{"id":"f1","name":"read_file","args":{"file_path":"auth.go"}}}]`, ""),
				said("g1r", "user", `[{"functionResponse":{"id":"f1","name":"read_file","response":{"output":"package auth"}}}]`, ""),
				said("g2", "gemini", `[{"text":"Is it the target?","thought":true},{"text":"Fixed."}]`, ""),
				said("u2", "user", `[{"text":"thanks"}]`, ""), said("g3", "gemini", `[{"text":"They thank me.","thought":true}]`, ""),
			},
			[]heard{{"I look at it.\nFixed.", "Fix it.", "thanks"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(tt.want, pausesOf(t, strings.Join(tt.lines, "\n")+"\n")))
		})
	}
}
