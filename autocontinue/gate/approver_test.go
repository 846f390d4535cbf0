package gate_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// deaf is an approver that does not look at its context.
type deaf struct{ time.Duration }

func (d deaf) Approve(context.Context, gate.Item) (gate.Decision, error) {
	time.Sleep(d.Duration)
	return gate.Decision{Action: gate.Approve, By: "deaf"}, nil
}

func TestApproverMustReturnWithItsContext(t *testing.T) {
	for _, tt := range []struct {
		name, typed string
		chain       func(terminal gate.Approver) []gate.Approver
		status      gate.Status
		by          string
		after       time.Duration
	}{
		{"nobody types", "", func(a gate.Approver) []gate.Approver { return []gate.Approver{a, lead{}} }, gate.Done, "lead",
			3 * time.Second},
		{"somebody types", "yes i2\nyes i1\n", func(a gate.Approver) []gate.Approver { return []gate.Approver{a} },
			gate.Done, "ann", 0},
		{"somebody denies", "yes\nno i1\n", func(a gate.Approver) []gate.Approver { return []gate.Approver{a} },
			gate.Denied, "ann", 0},
		{"it returns late, within the lead's time", "",
			func(gate.Approver) []gate.Approver { return []gate.Approver{deaf{4 * time.Second}, lead{}} }, gate.Done, "deaf",
			4 * time.Second},
		{"it returns too late", "",
			func(gate.Approver) []gate.Approver { return []gate.Approver{deaf{20 * time.Second}, lead{}} }, gate.Expired, "",
			20 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				policy, err := gate.ParsePolicy([]byte(`[{"tool":"x","then":"ask","within":"3s","escalate":"lead"}]`))
				require.NoError(t, err)
				session, err := gate.New(policy,
					gate.Options{Audited: true, ToolsOnly: true, Now: time.Now, AfterFunc: time.AfterFunc})
				require.NoError(t, err)
				stdin, keyboard := io.Pipe()
				defer keyboard.Close()
				go io.WriteString(keyboard, tt.typed)
				start := time.Now()
				item, err := session.Do(t.Context(), gate.Subject{Kind: gate.Tool, Thread: "t", Run: "r", Call: "c", Tool: "x",
					Body: json.RawMessage(`{}`)}, func(gate.Subject) (json.RawMessage, error) { return json.RawMessage(`1`), nil },
					tt.chain(newTerminal(stdin, io.Discard))...)
				require.NoError(t, err)
				require.Equal(t, tt.status, item.Status)
				require.Equal(t, tt.by, item.By)
				require.Equal(t, tt.after, time.Since(start))
			})
		})
	}
}
