package transcript

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What hosts write of a call says how it ended: "exit N", failed, stopped, denied or running, and its output.
func TestResultsOfCalls(t *testing.T) {
	said := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	hosts := map[string]func(string) line{
		"claude": func(s string) line {
			return read(claude, jsonOf(t, `{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result",`+
				`"tool_use_id":"c","is_error":true,"content":`+said(s)+`}]}}`), "", false, nil)
		},
		"codex": func(s string) line {
			return read(codex, jsonOf(t, `{"type":"response_item","payload":{"type":"function_call_output",`+
				`"call_id":"c","output":`+said(s)+`}}`), "", false, nil)
		},
		"gemini": func(s string) line {
			return read(gemini, jsonOf(t, `{"id":"g","type":"gemini","toolCalls":[{"id":"c","name":"run_shell_command",`+
				`"status":"success","result":[{"functionResponse":{"response":{"output":`+said(s)+`}}}]}]}`), "", false, nil)
		},
		"copilot": func(s string) line {
			return read(copilot, jsonOf(t, `{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,`+
				`"result":{"content":`+said(s)+`}}}`), "", false, nil)
		},
	}
	for _, tt := range []struct{ host, said, want string }{
		{"claude", "Exit code 2\nno such file", `exit 2 failed "no such file"`},
		{"claude", "Error: Exit code 1\nx", `exit 1 failed "x"`},
		{"claude", "Exit code 143\nCommand timed out after 2m", `exit 143 failed stopped "Command timed out after 2m"`},
		{"claude", "[Request interrupted by user for tool]", `failed stopped "[Request interrupted by user for tool]"`},
		{"claude", "Command was aborted before completion", `failed stopped "Command was aborted before completion"`},
		{"claude", "The user doesn't want to proceed.",
			`failed denied "The user doesn't want to proceed."`},
		{"claude", "<tool_use_error>not found", `failed denied "<tool_use_error>not found"`},
		{"codex", "Exit code: 0\nWall time: 1 seconds\nOutput:\nok", `exit 0 "ok"`},
		{"codex", "Chunk ID: 1\nProcess exited with code 1\nOutput:\nExit code: 0", `exit 1 failed "Exit code: 0"`},
		{"codex", "Exit code: -1\nOutput:\n", `exit 1 failed ""`},
		{"codex", "Process running with session ID 7\nOutput:", `running 7 "Process running with session ID 7\nOutput:"`},
		{"codex", `{"output":"ok","metadata":{"exit_code":3}}`, `exit 3 failed "ok"`},
		{"codex", "command timed out after 10 ms", `stopped "command timed out after 10 ms"`},
		{"codex", "aborted by user after 3.0s", `stopped "aborted by user after 3.0s"`},
		{"codex", "exec command rejected by user", `denied "exec command rejected by user"`},
		{"codex", "apply_patch verification failed: x", `failed "apply_patch verification failed: x"`},
		{"gemini", "Output: ok\nProcess Group PGID: 12", `exit 0 "ok"`},
		{"gemini", "Output: Exit Code: none\nExit Code: 2\nProcess Group PGID: 12", `exit 2 failed "Exit Code: none"`},
		{"gemini", "Command: ls\nDirectory: (root)\nStdout: a\nStderr: (empty)\nError: (none)\nExit Code: 0\nSignal: (none)",
			`exit 0 "a\nStderr: (empty)\nError: (none)"`},
		{"gemini", "Command timed out after 5 minutes.\nOutput: a", `stopped "a"`},
		{"gemini", "Command was cancelled by user.", `stopped "Command was cancelled by user."`},
		{"gemini", "Command moved to background (PID: 5).", `running c "Command moved to background (PID: 5)."`},
		{"copilot", "ok\n<exited with exit code 0>", `exit 0 "ok\n"`},
		{"copilot", "x\n<shellId: 3 is still running>", `running 3 "x\n<shellId: 3 is still running>"`},
	} {
		list := hosts[tt.host](tt.said).entries
		require.NotEmpty(t, list, tt.said)
		r := list[len(list)-1].result
		var got []string
		if r.known {
			got = append(got, fmt.Sprint("exit ", r.exit))
		}
		for i, is := range []bool{r.failed, r.stopped, r.denied} {
			if is {
				got = append(got, []string{"failed", "stopped", "denied"}[i])
			}
		}
		if r.running != "" {
			got = append(got, "running "+r.running)
		}
		require.Equal(t, tt.want, strings.Join(append(got, fmt.Sprintf("%q", r.output)), " "), "%s: %s", tt.host, tt.said)
	}
}

func jsonOf(t *testing.T, text string) value {
	v, ok := parse([]byte(text))
	require.True(t, ok, text)
	return v
}
