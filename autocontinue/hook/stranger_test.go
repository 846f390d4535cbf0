package hook

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesBesideTranscriptsAreNamed(t *testing.T) {
	for data, want := range map[string]struct {
		says  string
		holds Holds
	}{
		"": {"it is empty", HoldsNone},
		`{"display":"fix it","pastedContents":{},"timestamp":1790000000000,"project":"/w","sessionId":"s"}` + "\n":                                               {"Claude Code's list of prompts; the sessions are below ~/.claude/projects", HoldsNone},
		`{"session_id":"s","ts":1790000000,"text":"fix it"}` + "\n":                                                                                              {"Codex's list of prompts", HoldsNone},
		`{"id":"s","thread_name":"Login","updated_at":"x"}` + "\n":                                                                                               {"Codex's list of sessions", HoldsNone},
		"[\n  {\n    \"sessionId\": \"s\",\n    \"messageId\": 0,\n    \"type\": \"user\",\n    \"message\": \"fix it\"\n  }\n]\n":                               {"Gemini CLI's list of prompts", HoldsNone},
		`{"type":"started","key":"v1:1","agentId":"a1"}` + "\n":                                                                                                  {"journal of a workflow", HoldsNone},
		"[\n  {\n    \"role\": \"user\",\n    \"parts\": [\n      {\n        \"text\": \"fix it\"\n      }\n    ]\n  }\n]\n":                                     {"a checkpoint of Gemini CLI", HoldsSession},
		`{"history":[{"role":"user","parts":[{"text":"fix it"}]}],"authType":"x"}`:                                                                               {"a checkpoint of Gemini CLI", HoldsSession},
		"{\n  \"session\": {\n    \"id\": \"s\"\n  },\n  \"items\": []\n}\n":                                                                                     {"Codex before June 2025", HoldsSession},
		`{"sessionId":"s","startTime":"x","chatMessages":[{"role":"user","content":"fix it"}]}`:                                                                  {"Copilot CLI before November 2025", HoldsSession},
		"{\n  \"version\": 3,\n  \"responderUsername\": \"GitHub Copilot\",\n  \"requests\": []\n}":                                                              {"VS Code's chat; export it with SpecStory", HoldsSession},
		`{"kind": 0, "v": {"version": 3, "requests": []}}` + "\n":                                                                                                {"VS Code's chat", HoldsSession},
		`{"type":"thread.started","thread_id":"s"}` + "\n" + `{"type":"turn.started"}` + "\n":                                                                    {`"codex exec --json" prints`, HoldsSession},
		`{"type":"init","timestamp":"x","session_id":"s","model":"m"}` + "\n":                                                                                    {"Gemini CLI prints as stream-json", HoldsSession},
		`{"type": "message", "role": "user", "content": "fix it", "timestamp": "x"}` + "\n":                                                                      {"Gemini CLI prints as stream-json", HoldsSession},
		`{"v":1,"agent":"claude-code","cli_version":"1","type":"user","content":[]}` + "\n":                                                                      {"Entire's short form", HoldsSession},
		`{"type":"session","version":3,"id":"s","cwd":"/w"}` + "\n" + `{"type":"message","id":"1","message":{"role":"user"}}`:                                    {"a session of pi", HoldsSession},
		`{"type":"result","subtype":"success","result":"Done.","session_id":"s"}` + "\n":                                                                         {`"claude -p --output-format json" prints`, HoldsSession},
		`{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","cwd":"/w","version":"0.5.0","message":{"role":"user","parts":[{"text":"fix it"}]}}` + "\n": {"a session of Qwen Code", HoldsSession},
		"# Notes\n\nNothing.\n": {"none of its first lines is one of a transcript; those of Claude Code, Codex, Gemini CLI, Cursor, Copilot CLI, SpecStory and aider are read", HoldsUnknown},
		`{"items":[1,2]}`:       {"none of its first lines is one of a transcript", HoldsUnknown},
		"\ufeff" + `{"session":{"id":"` + strings.Repeat("x", 2<<20) + `"},"items":[]}`: {"none of its first lines", HoldsUnknown}, // too far away to be seen
	} {
		_, err := OpenTranscript(bytes.NewReader([]byte(data)), int64(len(data)), "x")
		require.ErrorIs(t, err, ErrFormat, clip(data, 40))
		require.ErrorContains(t, err, want.says, clip(data, 40))
		var format *FormatError
		require.ErrorAs(t, err, &format)
		require.Equal(t, want.holds, format.Holds, clip(data, 40))
	}
}

func TestStrangersSayWhatToDo(t *testing.T) {
	for _, s := range strangers {
		require.NotEmpty(t, s.is)
		require.NotEmpty(t, s.then)
		require.True(t, s.kind != "" || len(s.keys) > 1, s.is)
	}
}
