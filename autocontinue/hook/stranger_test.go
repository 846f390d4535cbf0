package hook

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilesBesideTranscriptsAreNamed(t *testing.T) {
	for data, want := range map[string]struct {
		says  string
		holds error
	}{
		"": {"it is empty", ErrNoSession},
		`{"display":"fix it","pastedContents":{},"timestamp":1790000000000,"project":"/w","sessionId":"s"}` + "\n":                                               {"Claude Code's list of prompts; the sessions are below ~/.claude/projects", ErrNoSession},
		`{"session_id":"s","ts":1790000000,"text":"fix it"}` + "\n":                                                                                              {"Codex's list of prompts", ErrNoSession},
		`{"id":"s","thread_name":"Login","updated_at":"x"}` + "\n":                                                                                               {"Codex's list of sessions", ErrNoSession},
		"[\n  {\n    \"sessionId\": \"s\",\n    \"messageId\": 0,\n    \"type\": \"user\",\n    \"message\": \"fix it\"\n  }\n]\n":                               {"Gemini CLI's list of prompts", ErrNoSession},
		`{"type":"started","key":"v1:1","agentId":"a1"}` + "\n":                                                                                                  {"journal of a workflow", ErrNoSession},
		"[\n  {\n    \"role\": \"user\",\n    \"parts\": [\n      {\n        \"text\": \"fix it\"\n      }\n    ]\n  }\n]\n":                                     {"a checkpoint of Gemini CLI", ErrNotRead},
		`{"history":[{"role":"user","parts":[{"text":"fix it"}]}],"authType":"x"}`:                                                                               {"a checkpoint of Gemini CLI", ErrNotRead},
		"{\n  \"session\": {\n    \"id\": \"s\"\n  },\n  \"items\": []\n}\n":                                                                                     {"Codex before June 2025", ErrNotRead},
		`{"sessionId":"s","startTime":"x","chatMessages":[{"role":"user","content":"fix it"}]}`:                                                                  {"Copilot CLI before November 2025", ErrNotRead},
		"{\n  \"version\": 3,\n  \"responderUsername\": \"GitHub Copilot\",\n  \"requests\": []\n}":                                                              {"VS Code's chat; export it with SpecStory", ErrNotRead},
		`{"kind": 0, "v": {"version": 3, "requests": []}}` + "\n":                                                                                                {"VS Code's chat", ErrNotRead},
		`{"type":"thread.started","thread_id":"s"}` + "\n" + `{"type":"turn.started"}` + "\n":                                                                    {`"codex exec --json" prints`, ErrNotRead},
		`{"type":"init","timestamp":"x","session_id":"s","model":"m"}` + "\n":                                                                                    {"Gemini CLI prints as stream-json", ErrNotRead},
		`{"type": "message", "role": "user", "content": "fix it", "timestamp": "x"}` + "\n":                                                                      {"Gemini CLI prints as stream-json", ErrNotRead},
		`{"v":1,"agent":"claude-code","cli_version":"1","type":"user","content":[]}` + "\n":                                                                      {"Entire's short form", ErrNotRead},
		`{"type":"session","version":3,"id":"s","cwd":"/w"}` + "\n" + `{"type":"message","id":"1","message":{"role":"user"}}`:                                    {"a session of pi", ErrNotRead},
		`{"type":"result","subtype":"success","result":"Done.","session_id":"s"}` + "\n":                                                                         {`"claude -p --output-format json" prints`, ErrNotRead},
		`{"uuid":"u","parentUuid":null,"sessionId":"s","type":"user","cwd":"/w","version":"0.5.0","message":{"role":"user","parts":[{"text":"fix it"}]}}` + "\n": {"a session of Qwen Code", ErrNotRead},
		"# Notes\n\nNothing.\n": {"none of its first lines is one of a transcript; those of Claude Code, Codex, Gemini CLI, Cursor, Copilot CLI, SpecStory and aider are read", nil},
		`{"items":[1,2]}`:       {"none of its first lines is one of a transcript", nil},
		"\ufeff" + `{"session":{"id":"` + strings.Repeat("x", 2<<20) + `"},"items":[]}`: {"none of its first lines", nil}, // too far away to be seen
	} {
		_, err := OpenTranscript(bytes.NewReader([]byte(data)), int64(len(data)), "x")
		require.ErrorIs(t, err, ErrFormat, clip(data, 40))
		require.ErrorContains(t, err, want.says, clip(data, 40))
		require.Equal(t, want.holds == ErrNoSession, errors.Is(err, ErrNoSession), clip(data, 40))
		require.Equal(t, want.holds == ErrNotRead, errors.Is(err, ErrNotRead), clip(data, 40))
	}
}

func TestStrangersSayWhatToDo(t *testing.T) {
	for _, s := range strangers {
		require.NotEmpty(t, s.is)
		require.NotEmpty(t, s.then)
		require.True(t, s.kind != "" || len(s.keys) > 1, s.is)
	}
}
