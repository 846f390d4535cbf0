package hook

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
)

// judged is a pause of testdata/pauses and what a reader of the transcript says of it.
type judged struct {
	goOn  bool   // the agent should be continued
	facts string // of the work: none, docs, checked, open, failed, unknown
	why   string
}

// readJudged reads lines of the form "continue open: edited, nothing ran", one for each pause.
func readJudged(t *testing.T, text []byte) (list []judged) {
	for line := range strings.Lines(string(text)) {
		label, why, ok := strings.Cut(strings.TrimSpace(line), ": ")
		action, facts, ok2 := strings.Cut(label, " ")
		require.True(t, ok && ok2 && (action == "continue" || action == "stop"), line)
		list = append(list, judged{action == "continue", facts, why})
	}
	return list
}

// holdsFacts reports whether the work is what the reader saw.
func holdsFacts(w classify.Work, facts string) bool {
	failed := false
	for _, c := range w.Checks { // a program may exit with a status that is wanted
		failed = failed || c.Outcome == classify.OutcomeFailed && c.Kind != classify.CheckRun
	}
	switch facts {
	case "none": // no code is unchecked
		return w.Edited == classify.EditedNone
	case "docs":
		return w.Edited == classify.EditedDocs
	case "checked":
		return w.Edited == classify.EditedNone && w.Session == classify.EditedCode && !failed
	case "open":
		return w.Edited == classify.EditedCode && !failed
	case "failed":
		return slices.ContainsFunc(w.Checks, func(c classify.Check) bool { return c.Outcome == classify.OutcomeFailed })
	case "unknown":
		return w.Edited == classify.EditedUnknown
	}
	return false
}

// Real agents worked in small projects with a scripted model, and a reader judged each of their pauses with the
// transcript in hand. The facts must be those that the reader saw. The decisions of the built-in heuristic must be as
// good as the project promises.
func TestJudgedPauses(t *testing.T) {
	names, err := filepath.Glob("testdata/pauses/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	pauses, should, right, wrong := 0, 0, 0, 0
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		require.NoError(t, err)
		for i := 0; i+1 < len(a.Files); i += 2 {
			session := a.Files[i].Name
			want := readJudged(t, a.Files[i+1].Data)
			moments, err := replayed(t, bytes.TrimSpace(a.Files[i].Data))
			require.NoError(t, err, session)
			require.Len(t, moments, len(want), session)
			for j, m := range moments {
				pause := fmt.Sprintf("%s, line %d: %.60q", session, m.Line, m.Output.Text)
				if !holdsFacts(m.Output.Work, want[j].facts) {
					t.Errorf("%s: the work is %+v, and a reader says %q", pause, m.Output.Work, want[j].facts)
				}
				pauses++
				goesOn := m.Decision.Action == autocontinue.Continue
				switch {
				case goesOn && want[j].goOn:
					should, right = should+1, right+1
				case goesOn:
					wrong++
					t.Logf("continued: %s: %s", pause, want[j].why)
				case want[j].goOn:
					should++
					t.Logf("not continued (%s): %s: %s", m.Decision.Reason, pause, want[j].why)
				}
			}
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(should)
	t.Logf("%d pauses, %d should be continued: precision %.2f, recall %.2f", pauses, should, precision, recall)
	require.GreaterOrEqual(t, pauses, 150)
	require.GreaterOrEqual(t, should, 50)
	require.GreaterOrEqual(t, precision, 0.85)
	require.GreaterOrEqual(t, recall, 0.70)
}
