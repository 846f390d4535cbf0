package main

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/llmjudge"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

type someFiles struct{ fs.FS }

// In every room, a nil pointer in an interface, a zero struct and a nil context are an error or a panic that says so,
// and never a nil dereference.
func TestNilIsRefused(t *testing.T) {
	var none context.Context
	ctx, files := t.Context(), (*someFiles)(nil)
	heuristic, err := classify.NewHeuristic()
	require.NoError(t, err)
	cases := []evaluate.Case{{Name: "a", Input: classify.Input{Text: "a"}, Want: evaluate.Want{Type: classify.Status}}}
	client, err := llm.NewClient(llm.Config{Model: "m", BaseURL: "http://127.0.0.1:1"})
	require.NoError(t, err)
	judge, err := llmjudge.New(client)
	require.NoError(t, err)
	store, err := filestore.New(t.TempDir(), filestore.Options{})
	require.NoError(t, err)
	event := []byte(`{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"a"}`)
	for name, call := range map[string]func() error{
		"phrases":   func() error { return second(classify.NewHeuristic(classify.Phrases(files))) },
		"tables":    func() error { return second(classify.NewHeuristic(classify.Tables(files))) },
		"templates": func() error { return second(coach.New(coach.Config{Templates: files})) },
		"prompt":    func() error { return second(llm.New(client, llm.Options{Prompt: files})) },
		"skills":    func() error { _, skipped := skills.FromFS(files, "a"); return skipped[0] },
		"plan":      func() error { return second(plancriteria.ExtractFile(files, "plan.md")) },
		"goal": func() error {
			g := verifier.Goal{Dir: ".", Next: (*verifier.Verifier)(nil)}
			return second(g.Verify(ctx, autocontinue.Output{}, classify.Result{}))
		},
		"classifier":  func() error { return second(evaluate.Evaluate(ctx, (*llm.Classifier)(nil), cases, evaluate.Options{})) },
		"evaluate":    func() error { return second(evaluate.Evaluate(none, heuristic, cases, evaluate.Options{})) },
		"zero client": func() error { return second(llm.New(&llm.Client{}, llm.Options{})) },
		"cache": func() error {
			return second(llm.NewClient(llm.Config{Model: "m", Key: "k", Cache: (*llm.DirCache)(nil)}))
		},
		"transport": func() error {
			return second(llm.NewClient(llm.Config{Model: "m", Key: "k", Transport: (*http.Transport)(nil)}))
		},
		"call":          func() error { return second(client.JSON(none, llm.Call{})) },
		"zero call":     func() error { return second(new(llm.Client).JSON(ctx, llm.Call{})) },
		"judge":         func() error { return second(judge.Criteria(none, []string{"a"}, llmjudge.Work{})) },
		"zero judge":    func() error { return second(new(llmjudge.Judge).Criteria(ctx, []string{"a"}, llmjudge.Work{})) },
		"document":      func() error { return second(filestore.NewDocument[int](nil, "kind", "name")) },
		"store":         func() error { return second(store.Load(none, "s")) },
		"zero document": func() error { return second(new(filestore.Document[int]).Load(ctx)) },
		"projects":      func() error { project.Open(nil, "", time.Now); return nil },
		"clock":         func() error { project.Open(store, "", nil); return nil },
		"hook":          func() error { return second(hook.Run(ctx, hook.Claude, event, hook.Config{})) },
		"hook's context": func() error {
			return second(hook.Run(none, hook.Claude, event, hook.Config{}))
		},
		"transcript": func() error {
			new(transcript.State).Await(none, transcript.Source{}, 0, nil)
			return nil
		},
		"command": func() error {
			return second(cmdwitness.Run(none, cmdwitness.Command{Args: []string{"true"}, Dir: "."}))
		},
		"snapshot": func() error { return second(gitwitness.Take(none, ".", t.TempDir())) },
		"verify": func() error {
			return second((&verifier.Verifier{Dir: "."}).Verify(none, autocontinue.Output{Text: "All 12 tests pass."},
				classify.Result{Type: classify.Completion}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p != nil {
					_, fault := p.(runtime.Error)
					require.False(t, fault, fmt.Sprint(p))
				}
			}()
			require.Error(t, call())
		})
	}
}

func second[T any](_ T, err error) error { return err }
