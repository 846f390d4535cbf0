package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChatDecides(t *testing.T) {
	for _, tt := range []struct{ name, args, answer, want, asked string }{
		{"a rule allows", `{"command":"git status -s"}`, "no", `"ran"`, ""},
		{"a rule denies", `{"command":"git status; rm -rf /"}`, "yes",
			`denied: denied by the policy (tool bash when /command command ["rm *","git push *"]): ` +
				"ask the human or choose another call", ""},
		{"somebody says yes", `{"command":"make"}`, " Yes ", `"ran"`, "bash {\"command\":\"make\"}\nYes or no?"},
		{"somebody says no", `{"command":"make\u202e"}`, "not today", "denied: not today",
			"bash {\"command\":\"make\\u202e\"}\nYes or no?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := ""
			room := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var question struct{ Text string }
				require.NoError(t, json.NewDecoder(r.Body).Decode(&question))
				asked = question.Text
				json.NewEncoder(w).Encode(map[string]string{"from": "ann", "text": tt.answer})
			}))
			defer room.Close()
			r, err := newRunner(room.URL, func(string, json.RawMessage) (json.RawMessage, error) {
				return json.RawMessage(`"ran"`), nil
			})
			require.NoError(t, err)
			got, err := r.call(t.Context(), "r", "c", "bash", tt.args)
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.asked, asked)
		})
	}
}

func TestChatThatFailsIsNoAnswer(t *testing.T) {
	room := httptest.NewServer(terminal(strings.NewReader(""), io.Discard))
	defer room.Close()
	r, err := newRunner(room.URL, nil)
	require.NoError(t, err)
	_, err = r.call(t.Context(), "r", "c", "bash", `{"command":"make"}`)
	require.Error(t, err)
	require.Len(t, r.session.Pending(), 1, "it still waits for somebody else")
}

func TestTerminal(t *testing.T) {
	var out strings.Builder
	room := httptest.NewServer(terminal(strings.NewReader("yes\n"), &out))
	defer room.Close()
	r, err := newRunner(room.URL, func(string, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`1`), nil
	})
	require.NoError(t, err)
	got, err := r.call(t.Context(), "r", "c", "bash", `{"command":"make"}`)
	require.NoError(t, err)
	require.Equal(t, "1", got)
	require.Contains(t, out.String(), "Yes or no?")
}
