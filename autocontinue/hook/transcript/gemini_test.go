package transcript

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// What the host says at the beginning of a session names the project, also where that lies in a temporary folder.
func TestGeminiProject(t *testing.T) {
	for _, context := range []string{
		`<session_context>\nThis is the Gemini CLI.\n- **Workspace Directories:**\n  - /tmp/shop\n- **Directory ` +
			`Structure:**\n`,
		`This is the Gemini CLI. We are setting up the context for our chat.\nI'm currently working in the directory: ` +
			`/tmp/shop\nHere`,
	} {
		src := transcriptOf(
			t,
			gemini,
			`{"sessionId":"s","projectHash":"h"}`,
			`{"$set":{"messages":[{"id":"c","type":"user","content":[{"text":"`+context+`"}]}]}}`,
			`{"id":"u","type":"user","content":"Add a cart."}`,
			`{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"t","name":"write_file","args":{`+
				`"file_path":"/tmp/shop/cart.go"},`+
				`"status":"success","result":[]}]}`,
			`{"id":"h","type":"gemini","content":"Added."}`,
		)
		src.Dir = ""
		tr := new(State).look(t.Context(), src)
		require.Equal(t, "Add a cart.", tr.Request)
		require.Equal(
			t,
			classify.Work{Edited: classify.EditedCode, Session: classify.EditedCode, Files: []string{"cart.go"}},
			tr.Work,
		)
	}
}

// Coaching comes back in "content", beside the human's last prompt in "displayContent". A prompt that names files
// comes with them in "content".
func TestGeminiDisplayContent(t *testing.T) {
	src := transcriptOf(
		t,
		gemini,
		`{"sessionId":"s","projectHash":"h"}`,
		`{"id":"u","type":"user","content":[{"text":"Fix @a.go"},{"text":"--- a.go ---\npackage a"}],`+
			`"displayContent":[{"text":"Fix @a.go"}]}`,
		`{"id":"g","type":"gemini","content":"Fixed."}`,
		`{"id":"v","type":"user","content":[{"text":"[System Coach] Run it."}],"displayContent":[{"text":"Fix @a.go"}]}`,
		`{"id":"h","type":"gemini","content":"Reading."}`,
		`{"id":"w","type":"user","content":[{"text":"continue"}],"displayContent":[{"text":"Fix @a.go"}]}`,
		`{"id":"i","type":"gemini","content":"Done."}`,
	)
	tr := new(State).look(t.Context(), src)
	require.Equal(t, "Fix @a.go", tr.Request)
	require.Equal(t, 2, tr.Continues)
	require.Equal(t, "i", tr.MessageID)
}

// A session that is resumed begins with all that was said in it. That changes nothing.
func TestGeminiResumed(t *testing.T) {
	const (
		head   = `{"sessionId":"s","projectHash":"h"}`
		prompt = `{"id":"u","type":"user","content":"Fix it."}`
		edit   = `{"id":"g","type":"gemini","content":"","toolCalls":[{"id":"t","name":"replace","args":{` +
			`"file_path":"a.go"},"status":"success"}]}`
		answer = `{"id":"h","type":"gemini","content":"Fixed."}`
	)
	src := transcriptOf(t, gemini, head, prompt, edit, answer)
	var s State
	want := s.look(t.Context(), src)
	write(t, src, head, `{"$set":{"messages":[`+prompt+`,`+edit+`,`+answer+`]}}`)
	require.Equal(t, want, s.look(t.Context(), src))
	write(t, src, `{"id":"v","type":"user","content":"And now?"}`)
	require.Equal(t, "And now?", s.look(t.Context(), src).Request)
}
