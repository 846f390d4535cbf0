package hook_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
)

// memory keeps sessions for one process. A hook runs as a process for each event, so it keeps them in files.
type memory struct {
	mu       sync.Mutex
	sessions map[string]hook.Kept
}

func (m *memory) Load(_ context.Context, session string) (hook.Kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[session], nil
}

func (m *memory) Update(_ context.Context, session string, fn func(hook.Kept) (hook.Kept, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := fn(m.sessions[session])
	if err == nil {
		m.sessions[session] = next
	}
	return err
}

// A stop hook of Claude Code: three events, each as the host writes it to the hook's standard input.
func ExampleRun() {
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	cfg := hook.Config{
		Sessions: &memory{sessions: map[string]hook.Kept{}},
		Loop: func(context.Context, *hook.Pause) (autocontinue.Config, error) {
			return autocontinue.Config{Classifier: heuristic}, nil
		},
	}
	for _, event := range []string{
		`{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"Fix the login redirect."}`,
		`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"Next I will read the router.",` +
			`"stop_hook_active":false}`,
		`{"hook_event_name":"Stop","session_id":"s1","last_assistant_message":"Which router, the old or the new one?",` +
			`"stop_hook_active":true}`,
	} {
		answer, err := hook.Run(context.Background(), hook.Claude, []byte(event), cfg)
		fmt.Printf("%q %v\n", answer, err)
	}
	// Output:
	// "" <nil>
	// "{\"decision\":\"block\",\"reason\":\"continue\"}\n" <nil>
	// "{}\n" <nil>
}

// What would have been decided in an old session, and what the human wrote then.
func ExampleReplay() {
	old := []byte(`{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Fix the login redirect."}}
{"type":"assistant","uuid":"u2","sessionId":"s1","message":{"id":"m1","content":[{"type":"text","text":"Next I will read the router."}]}}
{"type":"user","uuid":"u3","sessionId":"s1","message":{"role":"user","content":"go on"}}
`)
	t, err := transcript.Open(bytes.NewReader(old), int64(len(old)), "old.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = hook.Replay(context.Background(), t, func(string) (*autocontinue.AutoContinue, error) {
		return autocontinue.New(autocontinue.Config{Classifier: heuristic})
	}, func(m hook.Moment) error {
		effect, _, _ := m.Effect()
		fmt.Printf("%s, line %d: %s, %s; the human %s\n", m.Host, m.Line, m.Decision.Action, m.Decision.Reason, effect)
		return nil
	})
	fmt.Println(err)
	// Output:
	// claude, line 2: continue, progress; the human agrees
	// <nil>
}
