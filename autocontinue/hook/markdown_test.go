package hook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// heard is what a pause is about: what the agent said last, for what, and what the human said then.
type heard struct{ Text, Request, Next string }

// pausesOf returns the pauses of a transcript that nothing is wrong with.
func pausesOf(t *testing.T, data string) []heard {
	t.Helper()
	moments, _, err := replayed(t, []byte(data))
	require.NoError(t, err)
	var all []heard
	for _, m := range moments {
		all = append(all, heard{m.Output.Text, m.Output.Request, m.Next})
	}
	return all
}

// spaced puts two spaces at the ends of the lines that aider ends so: a text of its own is one, however many lines it has.
func spaced(lines ...string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n")+"\n", "·", "  ")
}

func TestAiderHistories(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string
		want  []heard
	}{
		"the cost on a line of its own": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### Fix the login redirect.·", "", "I changed the handler.", "",
				"> Tokens: 6.1k sent, 3.5k cache write, 300 received.", "Cost: $0.03 message, $0.14 session.·", "> Applied edit to auth.go·"},
			[]heard{{"I changed the handler.", "Fix the login redirect.", ""}},
		},
		"a commit message with a body": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### Fix the login redirect.·", "", "I changed the handler.", "",
				"> Tokens: 6.1k sent, 300 received.·", "> Applied edit to auth.go·", "> Commit 1a2b3c4 fix: keep the target", "", "The handler lost it.", "", "- one line changed·",
				"> You can use /undo to discard it.·", "", "#### and the logout?·", "", "It has no target.", ""},
			[]heard{{"I changed the handler.", "Fix the login redirect.", "and the logout?"}, {"It has no target.", "and the logout?", ""}},
		},
		"a prompt of many lines on aider's command line": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "> /usr/bin/aider --message # Fix it", "", "## Where", "auth.go, line 12·", "> Aider v0.86.2·", "",
				"#### # Fix it·", "####·", "#### ## Where·", "#### auth.go, line 12·", "> Scanning the repo.·", "", "Which of the two?", ""},
			[]heard{{"Which of the two?", "# Fix it\n\n## Where\nauth.go, line 12", ""}},
		},
		"a map of the project, and nobody spoke": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "> /usr/bin/aider --show-repo-map·", "> Here is what the project holds.", "Do not change it.", "", "auth.go:", "│func login()·", ""},
			nil,
		},
		"a quote of the agent's": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### What does the note say?·", "", "> keep the target", "", "That is all of it.", ""},
			[]heard{{"> keep the target\n\nThat is all of it.", "What does the note say?", ""}},
		},
		"lint is fixed without the human": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### Fix the login redirect.·", "", "I changed the handler.", "", "> Applied edit to auth.go·", "> # Fix any errors below·", ">·",
				"> auth.go:12: undefined: target·", "> Attempt to fix lint errors? (Y)es/(N)o [Yes]: y·", "", "I declared it.", "", "> Applied edit to auth.go·"},
			[]heard{{"I declared it.", "Fix the login redirect.", ""}},
		},
		"continue is what people say": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### Fix the login redirect.·", "", "I look at it.", "", "#### continue·", "", "I changed the handler.", ""},
			[]heard{{"I look at it.", "Fix the login redirect.", "continue"}, {"I changed the handler.", "continue", ""}},
		},
		"a command that is run is no request": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### Fix the login redirect.·", "", "I changed the handler.", "", "#### /test·", "> Add the output to the chat? y·", "", "One test fails.", "",
				"#### !ls·", "", "#### /add auth.go·", "> Added auth.go to the chat·", "", "#### <blank>·", "", "#### /help what is a repo map·", "", "A list of names.", ""},
			[]heard{{"I changed the handler.", "Fix the login redirect.", "/test"}, {"One test fails.", "Fix the login redirect.", "!ls"}, {"A list of names.", "what is a repo map", ""}},
		},
		"what the model thinks": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "#### Fix the login redirect.·", "", "<thinking-content-7bbe>", "", "Which of the two?", "", "", "</thinking-content-7bbe>", "",
				"I changed the handler.", "", "> Tokens: 6.1k sent, 300 received.·", "", "#### thanks·", "", "<think>", "cut off", "", "#### why?·", "", "It lost the target.", ""},
			[]heard{{"I changed the handler.", "Fix the login redirect.", "thanks"}, {"It lost the target.", "why?", ""}},
		},
		"somebody took the space from the ends of the lines": {
			[]string{"# aider chat started at 2026-11-02 10:20:00", "", "> Aider v0.86.2", "> Git repo: .git with 3 files", "", "#### Fix the login redirect.", "####", "#### Now.", "", "I changed the handler.", "",
				"> Tokens: 6.1k sent, 300 received.", "> Applied edit to auth.go", ">", "> ^C again to exit", ""},
			[]heard{{"I changed the handler.", "Fix the login redirect.\n\nNow.", ""}},
		},
		"May 2023": {
			[]string{"# Aider chat started at 2023-05-12 15:23:26", "", "_Added auth.go to the chat_·", "", "---", "#### >  fix the login redirect·", "", "I changed the handler.", "", "_Applied edit to auth.go_·", "", "---", "#### thanks·", "", "Any time.", ""},
			[]heard{{"I changed the handler.", "fix the login redirect", "thanks"}, {"Any time.", "thanks", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, cmp.Diff(tt.want, pausesOf(t, spaced(tt.lines...))))
			if name != "somebody took the space from the ends of the lines" {
				require.Empty(t, cmp.Diff(tt.want, pausesOf(t, strings.ReplaceAll(spaced(tt.lines...), "\n", "\r\n"))), "on Windows")
			}
		})
	}
}

func TestSpecStoryHistories(t *testing.T) {
	for name, tt := range map[string]struct {
		data string
		want []heard
	}{
		"what a program writes in the human's name": {
			"<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n<!-- Claude Code Session s1 (2026-11-02 10:20:00Z) -->\n\n" +
				"_**User (10:20Z)**_\n\n<local-command-caveat>Caveat: they were local.</local-command-caveat>\n\n_**User (10:20Z)**_\n\n<command-name>/model</command-name>\n<command-args></command-args>\n\n" +
				"_**User (10:20Z)**_\n\n<local-command-stdout>Set.</local-command-stdout>\n\n_**User (10:20Z)**_\n\nFix the login redirect.\n\n---\n\n_**Agent (m 10:21Z)**_\n\nI look at it.\n\n---\n\n" +
				"_**User (10:22Z)**_\n\n[Request interrupted by user]\n\n_**User (10:22Z)**_\n\nonly the handler\n\n---\n\n_**Agent (m 10:23Z)**_\n\nChanged the handler.\n\n---\n\n" +
				"_**User (10:24Z)**_\n\n<task-notification>\nended\n</task-notification>\n\n_**Agent (m 10:25Z)**_\n\nThe build ended, too.\n\n---\n\n_**User (10:26Z)**_\n\ncontinue\n\n---\n\n_**Agent (m 10:27Z)**_\n\nThe logout has no target.\n\n---\n\n" +
				"_**User (10:28Z)**_\n\n<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>\n\n_**Agent (m 10:29Z)**_\n\nNothing found.\n",
			[]heard{
				{"Changed the handler.", "only the handler", ""},
				{"The build ended, too.", "only the handler", "continue"},
				{"The logout has no target.", "continue", "/review 12"},
				{"Nothing found.", "/review 12", ""},
			},
		},
		"a turn under one head, with rulers": {
			"_**User (2026-11-02 10:20Z)**_\n\nFix the login redirect.\n\n---\n\n_**Agent (model m, mode Agent)**_\n\n<think><details><summary>Thought Process</summary>\nhm</details></think>\n\n---\n\n" +
				"I look at it.\n\n---\n\n<tool-use data-tool-type=\"read\">\n<details><summary>Tool use: **read_file**</summary>\n\n</details>\n</tool-use>\n\n---\n\n<think>hm</think>\n\n---\n\nChanged the handler:\n\n| File |\n|------|\n| auth.go |\n\n---\n\n" +
				"_**User (2026-11-02 10:21Z)**_\n\nthanks\n\n---\n\n_**Agent (model m, mode Agent)**_\n\nNow the tests.\n\n---\n\n<tool-use data-tool-type=\"shell\">\n</tool-use>\n\n---\n\n\n\n---\n",
			[]heard{{"Changed the handler:\n\n| File |\n|------|\n| auth.go |", "Fix the login redirect.", "thanks"}},
		},
		"2025, the list of tasks is no message": {
			"<!-- Generated by SpecStory -->\n\n_**User**_\n\nFix the login redirect.\n\n_**Agent (m)**_\n\nChanged the handler.\n\n_**User**_\n\nthanks\n\n_**Agent (m)**_\n\nI note it.\n\n_**Agent (m)**_\n\n**Agent task list:**\n- [X] the handler\n- [ ] the logout\n",
			[]heard{{"Changed the handler.", "Fix the login redirect.", "thanks"}},
		},
		"the text of a skill": {
			"_**User (10:20Z)**_\n\nFix the login redirect.\n\n---\n\n_**Agent (m 10:21Z)**_\n\nI load the skill.\n\n<tool-use data-tool-type=\"generic\" data-tool-name=\"Skill\"><details>\n<summary>Tool use: **Skill**</summary>\n\n</details></tool-use>\n\n---\n\n" +
				"_**User (10:21Z)**_\n\nHow logins are changed here: with care.\n\n---\n\n_**Agent (m 10:22Z)**_\n\nChanged the handler.\n\n---\n\n_**User (10:23Z)**_\n\nthanks\n",
			[]heard{{"Changed the handler.", "Fix the login redirect.", "thanks"}},
		},
		"2025, a head for what goes on": {
			"## SpecStory\n\n## Login (2/13/2025)\n\n_**User**_\n\nFix the login redirect.\n\n---\n\n_**Assistant**_\n\nI look at it.\n\n---\n\n_****_\n\n<details>\n    <summary>Listed lib</summary>\n\n| Name |\n</details>\n\n---\n\n" +
				"_****_\n\n\nNow the handler.\n\n---\n\n_****_\n\n```diff\n+ target\n```\n\n---\n\n_****_\n\n\n\nChanged it. Shall I go on?\n\n---\n\n_**User**_\n\nyes\n\n---\n\n_**Assistant**_\n\nI run it.\n\n---\n\n_****_\n\n```bash\ngo test\n```\n\n```\nok\n```\n\n---\n\n_**User**_\n\nthanks\n\n---\n\n_**Assistant**_\n\n```go\nfunc login() {}\n```\n",
			[]heard{{"Changed it. Shall I go on?", "Fix the login redirect.", "yes"}, {"```go\nfunc login() {}\n```", "thanks", ""}},
		},
		"2025, the result of a tool is no message": {
			"<!-- Generated by SpecStory -->\n\n_**User**_\n\nFix the login redirect.\n\n---\n\n_**Agent (m)**_\n\nI look at it.\n\n_**Agent (m)**_\n\nTool use: **Read**\n\nResult:\n\n```\n_**User**_\n\nnobody\n\\```\n```\n\n_**User**_\n\n[Request interrupted by user for tool use]\n\n_**User**_\n\nthe other file\n\n_**Agent (m)**_\n\nTool use: **Edit**\n\nError:\n\n```\nno\n```\n",
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) { require.Empty(t, cmp.Diff(tt.want, pausesOf(t, tt.data))) })
	}
}
