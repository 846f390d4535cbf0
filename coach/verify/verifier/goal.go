package verifier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/plancriteria"
)

const (
	maxFile = 1 << 20 // bytes of a file in which words are looked for
	maxSaw  = 200     // characters of Criterion.Saw
)

// Criterion is one criterion of a goal, and what was seen of it last.
type Criterion struct {
	Text   string               `json:"text"`
	Checks []plancriteria.Check `json:"checks,omitempty"` // all must hold; empty: a judge or the human decides
	Status verify.Status        `json:"status"`
	Saw    string               `json:"saw,omitempty"`  // what was seen, or why it could not be seen
	Since  time.Time            `json:"since,omitzero"` // when the status became what it is
}

// Criteria returns the criteria of a plan with their checks. Checkboxes make no difference.
func Criteria(c plancriteria.Criteria) []Criterion {
	var list []Criterion
	for _, item := range c.Leaves() {
		list = append(list, Criterion{Text: item.Text, Checks: item.Checks()})
	}
	return list
}

// AllMet reports whether each criterion was seen to hold.
func AllMet(list []Criterion) bool { return count(list, verify.Met) == len(list) }

func count(list []Criterion, s verify.Status) (n int) {
	for _, c := range list {
		if c.Status == s {
			n++
		}
	}
	return n
}

// Goal is an [autocontinue.Verifier] made of criteria. At each pause it looks at the checks of all criteria, and runs a
// command once. A turn that only answers a question is not held to the goal.
type Goal struct {
	Dir         string // where the commands run and the files are
	Criteria    []Criterion
	Environment cmdwitness.Environment
	Timeout     time.Duration // of all commands of a pause together; 0 is [cmdwitness.DefaultTimeout]
	Cap, Limit  string        // for [autocontinue.Goal]
	// Judge decides about criteria without checks when all others are met: one answer for each, in order. Nil asks nobody.
	Judge func(ctx context.Context, out autocontinue.Output, criteria []string) ([]verify.RequirementCheck, error)
	// Next verifies the claims of the output when no criterion is open. Nil verifies none.
	Next autocontinue.Verifier
	// Seen is told the criteria with what was seen. Nil tells nobody.
	Seen func([]Criterion)
	Now  func() time.Time // nil is time.Now
}

var _ autocontinue.Verifier = Goal{}

// Verify looks at the criteria. The result has the goal. Its status is that of Next. The errors are those of the
// context and of Next.
func (g Goal) Verify(ctx context.Context, out autocontinue.Output,
	r classify.Result) (v autocontinue.Verification, err error) {
	if classify.HoldsNil(g.Next) {
		return v, fmt.Errorf("verifier: Goal.Next is a nil %T", g.Next)
	}
	var goal *autocontinue.Goal
	waits := r.Type == classify.Question || r.Type == classify.Blocker || r.Type == classify.Error
	if !waits && !autocontinue.OnlyAsked(ctx, out) {
		if goal, err = g.look(ctx, out, r); err != nil {
			return v, err
		}
	}
	if g.Next != nil && (goal == nil || goal.Open == "") {
		v, err = g.Next.Verify(ctx, out, r)
	}
	v.Goal = goal
	return v, err
}

func (g Goal) look(ctx context.Context, out autocontinue.Output, r classify.Result) (*autocontinue.Goal, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(g.Timeout, cmdwitness.DefaultTimeout))
	defer cancel()
	runs := map[string]verify.Run{} // by their command lines
	list := slices.Clone(g.Criteria)
	for i, c := range list {
		all, saw := []verify.Status{}, []string{}
		for _, check := range c.Checks {
			line := check.Command
			if _, done := runs[line]; !done && line != "" {
				runs[line] = g.run(limited, line)
			}
			status, what := ran(line, runs[line])
			if line == "" {
				status, what = g.found(check)
			}
			if status != verify.Met {
				saw = append(saw, what)
			}
			all = append(all, status)
		}
		if len(all) > 0 {
			list[i].Status, list[i].Saw = verify.And(all...), shown(strings.Join(saw, "; "))
		}
	}
	if g.Judge != nil && (r.Type == classify.Completion || r.WasRejectedCompletion) && count(list, verify.NotMet) == 0 {
		g.judge(ctx, out, list)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	now := time.Now()
	if g.Now != nil {
		now = g.Now()
	}
	for i := range list {
		if list[i].Since.IsZero() || list[i].Status != g.Criteria[i].Status {
			list[i].Since = now
		}
	}
	if g.Seen != nil {
		g.Seen(list)
	}
	return g.report(list, now), nil
}

// run runs a command. One that cannot be run to its end has a reason in Why.
func (g Goal) run(ctx context.Context, line string) (run verify.Run) {
	env, _ := g.Environment.Of(os.Environ())
	w := &cmdwitness.Witness{Dir: g.Dir, Env: env, Timeout: g.Timeout}
	words, err := cmdwitness.Split(line)
	if err == nil {
		run, err = w.Run(ctx, words)
	}
	if err != nil && ctx.Err() != nil {
		err = errors.New("there was no time for it")
	}
	if err != nil {
		return verify.Run{Exit: -1, Why: err.Error()}
	}
	return run
}

// ran says what a run shows. A command that ended by itself without success is not met, whatever the reason is.
func ran(line string, r verify.Run) (verify.Status, string) {
	exits := fmt.Sprintf("`%s` exits with %d", line, r.Exit)
	names := strings.Join(r.Failures[:min(len(r.Failures), 3)], ", ")
	switch n := len(r.Failures); {
	case r.Status == verify.Met:
		return verify.Met, ""
	case r.Exit < 0 && r.Status != verify.NotMet:
		return verify.Unverified, fmt.Sprintf("`%s` did not run to its end: %s", line, r.Why)
	case r.Exit < 0:
		return verify.NotMet, fmt.Sprintf("`%s` fails: %s", line, r.Why)
	case n == 1:
		return verify.NotMet, exits + ": " + names + " fails"
	case n > 3:
		return verify.NotMet, fmt.Sprintf("%s: %s and %d more fail", exits, names, n-3)
	case n > 1:
		return verify.NotMet, exits + ": " + names + " fail"
	case r.Exit == 0:
		return verify.NotMet, exits + ", but " + r.Why
	}
	output := strings.TrimSpace(plaintext.Clean(r.Output))
	last := strings.TrimSpace(output[strings.LastIndexByte(output, '\n')+1:])
	return verify.NotMet, strings.TrimSuffix(exits+": "+last, ": ")
}

// found says whether a file is there and has its words.
func (g Goal) found(c plancriteria.Check) (verify.Status, string) {
	root, err := os.OpenRoot(g.Dir)
	if err != nil {
		return verify.Unverified, "the folder of the goal cannot be opened"
	}
	defer root.Close()
	info, err := root.Stat(c.File)
	var text []byte
	if err == nil && len(c.Words) > 0 {
		if !info.Mode().IsRegular() || info.Size() > maxFile {
			return verify.NotMet, fmt.Sprintf("`%s` is not a file of at most 1 MiB", c.File)
		}
		text, err = root.ReadFile(c.File)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return verify.NotMet, fmt.Sprintf("`%s` does not exist", c.File)
	} else if err != nil {
		return verify.NotMet, fmt.Sprintf("`%s` cannot be read", c.File)
	}
	for _, w := range c.Words {
		if !strings.Contains(string(text), w) {
			return verify.NotMet, fmt.Sprintf("`%s` does not contain `%s`", c.File, w)
		}
	}
	return verify.Met, ""
}

// judge lets the judge decide about the criteria without checks. Met is only what it gives evidence for.
func (g Goal) judge(ctx context.Context, out autocontinue.Output, list []Criterion) {
	var at []int
	var texts []string
	for i, c := range list {
		if len(c.Checks) == 0 {
			at, texts = append(at, i), append(texts, c.Text)
		}
	}
	if len(at) == 0 {
		return
	}
	answers, err := g.Judge(ctx, out, texts)
	for n, i := range at {
		list[i].Status, list[i].Saw = verify.Unverified, "the judge gave no answer"
		if err != nil || n >= len(answers) {
			continue
		}
		switch a := answers[n]; {
		case a.Status == verify.Met && !plaintext.IsBlank(a.Evidence):
			list[i].Status, list[i].Saw = verify.Met, shown(a.Evidence)
		case a.Status == verify.NotMet:
			list[i].Status, list[i].Saw = verify.NotMet, strings.TrimRight(shown(a.Issue), ".")
		}
	}
}

// shown returns foreign words on one line. Secrets are masked before the line is cut.
func shown(s string) string { return plaintext.MaskedLine(s, maxSaw) }

func (g Goal) report(list []Criterion, now time.Time) *autocontinue.Goal {
	met, all := count(list, verify.Met), len(list)
	goal := &autocontinue.Goal{
		Met: all > 0 && met == all, Counts: fmt.Sprintf("%d of %d met", met, all), Cap: g.Cap, Limit: g.Limit,
	}
	var open, unchecked, results []string
	for i, c := range list {
		if len(c.Checks) > 0 {
			results = append(results, fmt.Sprintf("%d %s %s", i, c.Status, c.Saw))
		}
		text := strings.TrimRight(shown(c.Text), ".")
		goal.Human = append(goal.Human, text+":")
		for _, check := range c.Checks {
			goal.Human = append(goal.Human, "`"+cmp.Or(check.Command, check.File)+"`")
			for _, w := range check.Words {
				goal.Human = append(goal.Human, "`"+w+"`")
			}
		}
		switch {
		case c.Saw != "" && (slices.Contains(open, c.Saw) || slices.Contains(unchecked, c.Saw)): // the same check again
		case c.Status == verify.NotMet && len(c.Checks) > 0:
			open = append(open, c.Saw)
		case c.Status == verify.NotMet:
			open = append(open, strings.TrimRight(text+": "+c.Saw, ": "))
		case c.Status != verify.Met && len(c.Checks) > 0:
			unchecked = append(unchecked, c.Saw)
		case c.Status != verify.Met:
			unchecked = append(unchecked, text)
		}
	}
	goal.Open, goal.Results = strings.Join(open, "\n"), strings.Join(results, "\n")
	switch {
	case all == 0:
		goal.Counts = "" // there are only stages
	case goal.Met:
		goal.Note = fmt.Sprintf("Goal met: %d of %d, seen at %s.", met, all, now.Format("15:04"))
	default:
		goal.Note = fmt.Sprintf("Goal: %d of %d met.", met, all)
	}
	if len(open) > 0 {
		goal.Note += " Open: " + strings.Join(open, "; ") + "."
	}
	if len(unchecked) > 0 {
		goal.Note += " Unchecked, for you to check: " + strings.Join(unchecked, "; ") + "."
	}
	return goal
}
