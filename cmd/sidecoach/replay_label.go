package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// What a page holds at most.
const (
	maxLabelled = 1000
	maxShown    = 32 << 10 // bytes of an output
)

// labelled are pauses that the human's words label: what got a nudge was a status, and what got an answer a question.
type labelled struct {
	judged []evaluate.Judged
	last   string // where the last one is
	same   int    // how many are there: a whole session may stand on one line
}

func (l *labelled) add(p replayPause, m hook.Moment) {
	if len(l.judged) == maxLabelled || !p.labelled() {
		return
	}
	// Which of the two sorts of status it was the words do not tell, so the verdict has it.
	want := evaluate.Want{Type: classify.Status, WasRejectedCompletion: p.Rejected}
	if p.Asked {
		want = evaluate.Want{Type: classify.Question}
	}
	name := fmt.Sprintf("%s:%d", p.File, p.Line)
	if name != l.last {
		l.last, l.same = name, 0
	}
	if l.same++; l.same > 1 {
		name += fmt.Sprintf("#%d", l.same)
	}
	l.judged = append(l.judged, evaluate.Judged{
		Case: evaluate.Case{
			Name:  name,
			Input: classify.Input{Text: clipped(m.Output.Text), Request: clipped(m.Output.Request), Evidence: m.Output.Evidence, Coached: m.Output.Continues},
			Want:  want,
			Meta:  map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)},
		},
		Result: m.Decision.Result,
	})
}

func clipped(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "")
}

// report writes the page.
func (l *labelled) report(name string, threshold float64, total replayTotal) (func(io.Writer) error, error) {
	if len(l.judged) == 0 {
		return nil, badInput("without --html the table shows what was decided", "there is nothing to show on a page: after no pause did the human's words tell what it was")
	}
	about := total.sentences()
	if labelled := total.Labelled; labelled > len(l.judged) {
		about = append(about, fmt.Sprintf("Below are the first %s of %s pauses after which your words told what they were.", thousands(len(l.judged)), thousands(labelled)))
	} else {
		about = append(about, "Below are the pauses after which your words told what they were: a status where they sent the agent on, a question where they answered one.")
	}
	report, err := evaluate.Record(l.judged, evaluate.Options{Threshold: threshold, Name: name, About: about})
	return report.HTML, err
}
