// Package verifier checks a finished piece of work. It looks at the tree and runs the host's commands. It runs them
// on the baseline, too, to see what failed before.
//
// A [Verifier] has the folder and the commands. [Verifier.Review] checks a report. It is also an
// [autocontinue.Verifier], which puts the check into the loop. So is a [Goal], which is made of criteria. [Remember]
// keeps the state of a tree when the human speaks, and [Recall] returns it as the baseline of what follows.
//
// # Limits
//
// A command that fails runs on the baseline, too, in a temporary folder with the ignored dependencies of the project.
// Then it runs a second time. A new failure is one that occurs twice and passed on the baseline. A command that passes
// runs there, too, if tests moved, went away or are skipped. See the limits of
// cmdwitness and gitwitness.
//
// # Errors
//
// The facts say what could not be seen. The errors are those of the context, and of a [Verifier] without a
// folder, with an empty command or with a negative timeout.
package verifier

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/internal/project"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testoutput"
	"github.com/sidecoach/sidecoach/plancriteria"
)

// Verifier checks reports. Only Dir is needed. It is safe for concurrent use.
type Verifier struct {
	Dir      string     // the folder in which the commands run; the tree is that of its repository
	Commands [][]string // each must succeed; nothing else is run

	Baseline    string               // the revision at which the work began
	Base, First *gitwitness.Snapshot // without a revision: when the human spoke last, and first in the session
	Reviewed    []string             // see [verify.Task]
	// AllowUnchecked lets claims that nobody can check pass.
	AllowUnchecked bool

	Environment cmdwitness.Environment
	Timeout     time.Duration // of one command; 0 is [cmdwitness.DefaultTimeout]
	Cache       string        // a folder for the results of baselines; empty: none
	Own         []string      // files that the host writes meanwhile, see [gitwitness.Witness]

	Plans fs.FS // the plans that outputs name; nil has none
}

var _ autocontinue.Verifier = (*Verifier)(nil)

// Review begins the review of a report on a task, looks at all that the report claims, and runs the commands. The
// error is the context's.
func (v *Verifier) Review(ctx context.Context, task verify.Task, requirements []verify.Requirement,
	report verify.Report) (*verify.Review, error) {
	task.Baseline, task.Commands = v.Baseline, v.Commands
	task.Reviewed, task.AllowUnchecked = v.Reviewed, v.AllowUnchecked
	review := verify.Begin(task, requirements, report)
	return review, v.Observe(ctx, review)
}

// Observe looks once more at what a review is about, and runs the commands of the verifier.
func (v *Verifier) Observe(ctx context.Context, review *verify.Review) error {
	if v.Dir == "" {
		return errors.New("verifier: the folder is not set")
	}
	git := &gitwitness.Witness{Dir: v.Dir, Base: v.Base, First: v.First, Own: v.Own}
	defer git.Close()
	q := review.Query()
	q.Commands = v.Commands
	facts, err := git.Look(ctx, q)
	if err != nil {
		return err
	}
	if err := v.run(ctx, q, git, &facts); err != nil {
		return err
	}
	review.Observe(facts)
	return nil
}

// runner returns what runs the commands, and the variables that they do not get.
func (v *Verifier) runner() (w *cmdwitness.Witness, withheld []string) {
	env, withheld := v.Environment.Of(os.Environ())
	return &cmdwitness.Witness{Dir: v.Dir, Env: env, Timeout: v.Timeout}, withheld
}

// run runs the commands of a query. Commands that fail run on the baseline, too. So do all commands if tests may have
// moved to where no runner looks, or may be skipped.
func (v *Verifier) run(ctx context.Context, q verify.Query, git *gitwitness.Witness, facts *verify.Facts) error {
	w, withheld := v.runner()
	seen, err := w.Look(ctx, q)
	if err != nil {
		return err
	}
	facts.Runs, facts.Missing = seen.Runs, seen.Missing
	for i := range facts.Runs {
		facts.Runs[i].Withheld = withheld
	}
	if len(facts.Runs) == 0 || facts.Tree == "" {
		return nil
	}
	if err := v.written(ctx, git, facts); err != nil {
		return err
	}
	// Whether all tests still run must be seen.
	shifted := len(facts.Moved)+len(facts.Gone) > 0 || q.Before
	touched := slices.ContainsFunc(facts.Changes, func(c verify.Change) bool { return testcode.IsTest(c.Path) })
	for i, run := range facts.Runs {
		fails := run.Status == verify.NotMet || run.Failed > 0
		if facts.Base == "" || !fails && !(run.Status == verify.Met && (shifted || touched && run.Skipped > 0)) {
			continue
		}
		base, err := v.onBaseline(ctx, git, run.Command)
		if err == nil && fails {
			err = v.resolve(ctx, git, run, &base)
		}
		if err != nil {
			return err
		}
		facts.BaseRuns = append(facts.BaseRuns, base)
		fresh, _, _ := facts.Failures(run)
		if len(fresh) == 0 {
			continue
		}
		again, err := w.Run(ctx, run.Command)
		if err != nil {
			return err
		}
		freshAgain, _, _ := facts.Failures(again)
		if !slices.ContainsFunc(freshAgain, func(name string) bool { return slices.Contains(fresh, name) }) {
			facts.Runs[i] = verify.Run{Command: run.Command, Status: verify.Unverified, Output: run.Output, Took: run.Took,
				Withheld: withheld, Wrote: run.Wrote, Why: "it failed, and did not fail in the same way a second time"}
		}
	}
	return nil
}

// written notes which files changed while the commands ran. Programs and tests make the run doubtful, other files do
// not.
func (v *Verifier) written(ctx context.Context, git *gitwitness.Witness, facts *verify.Facts) error {
	list, tree, err := git.Changed(ctx, facts.Tree)
	if err != nil {
		facts.Unseen = append(facts.Unseen, "which files changed while the commands ran is not known")
		return context.Cause(ctx)
	}
	facts.Tree = tree
	for _, c := range list {
		decides := testcode.IsCode(c.Path) || testcode.IsTest(c.Path) // what a run of tests shows
		if c.Kind != verify.Added && decides && !project.Byproduct(c.Path) {
			for i := range facts.Runs {
				facts.Runs[i].Wrote = append(facts.Runs[i].Wrote, c.Path)
			}
		}
		c.Why = "it changed while the commands ran"
		if i := slices.IndexFunc(facts.Changes, func(o verify.Change) bool { return o.Path == c.Path }); i >= 0 {
			facts.Changes[i].Hash = c.Hash
		} else {
			facts.Changes = append(facts.Changes, c)
		}
	}
	return nil
}

// onBaseline runs a command on the baseline, or returns the result of an earlier run.
func (v *Verifier) onBaseline(ctx context.Context, git *gitwitness.Witness, command []string) (verify.Run, error) {
	w, _ := v.runner()
	folder, tree := "", ""
	dir, err := os.MkdirTemp("", "sidecoach-baseline-")
	if err == nil {
		defer os.RemoveAll(dir)
		folder, tree, err = git.Checkout(ctx, v.Baseline, dir)
	}
	base := verify.Run{Command: command, Status: verify.Unverified}
	if err != nil {
		base.Why = "the baseline cannot be run: " + err.Error()
		return base, ctx.Err()
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%q\x00%q", tree, strings.TrimPrefix(folder, dir), command, w.Env))
	cached := filepath.Join(v.Cache, fmt.Sprintf("baseline-%x.json", key[:12]))
	if text, err := os.ReadFile(cached); v.Cache != "" && err == nil && json.Unmarshal(text, &base) == nil {
		return base, nil
	}
	w.Env, w.Dir = moved(w.Env, v.Dir, folder), folder
	base, err = w.Run(ctx, command)
	if text, _ := json.Marshal(base); v.Cache != "" && err == nil && base.Status != verify.Unverified {
		_ = os.MkdirAll(v.Cache, 0o700)
		_ = filestore.WriteFile(cached, text, 0o600)
	}
	return base, err
}

// moved returns an environment in which paths in one folder lead to another: a PYTHONPATH must not lead from the
// baseline to the work.
func moved(env []string, from, to string) []string {
	abs, _ := filepath.Abs(from)
	real, _ := filepath.EvalSymlinks(abs)
	list := slices.Clone(env)
	for i, v := range list {
		name, value, _ := strings.Cut(v, "=")
		parts := filepath.SplitList(value)
		for j, p := range parts {
			for _, root := range []string{abs, real} {
				if rel, err := filepath.Rel(root, p); err == nil && filepath.IsLocal(rel) {
					parts[j] = filepath.Join(to, rel)
					list[i] = name + "=" + strings.Join(parts, string(filepath.ListSeparator))
				}
			}
		}
	}
	return list
}

// resolve notes which failing tests passed on the baseline although the runner names only failures: those that the
// baseline declares, in a run that came to its end.
func (v *Verifier) resolve(ctx context.Context, git *gitwitness.Witness, run verify.Run, base *verify.Run) error {
	q := verify.Query{Baseline: v.Baseline}
	var names []string
	for _, name := range run.Failures {
		if !slices.Contains(base.Failures, name) {
			names, q.Tests = append(names, name), append(q.Tests, testoutput.ShortName(name))
		}
	}
	if len(base.Passes) > 0 || len(names) == 0 || base.Status == verify.Unverified ||
		base.Status == verify.NotMet && base.Failed != len(base.Failures) {
		return nil
	}
	facts, err := git.Look(ctx, q)
	for i, named := range facts.Named {
		if named.Before != verify.NotMet {
			base.Passes = append(base.Passes, names[i])
		}
	}
	return err
}

// Verify checks what the output claims. The result is
//
//   - Rejected, with the findings a line each, worst first, when something was seen that does not hold,
//   - Verified when everything that was claimed or required was seen to hold; Note says of how many statements only
//     the words were compared,
//   - Unverified otherwise, with the reason in Note,
//   - the zero Verification when no change, no run and nothing else is claimed or required, and nothing changed since the
//     baseline; also while the agent only tells how far it is, or says something else and claims nothing.
//
// It reads claims from out.Text alone. The error is the context's.
func (v *Verifier) Verify(ctx context.Context, out autocontinue.Output,
	r classify.Result) (autocontinue.Verification, error) {
	if r.Type == classify.Status && !r.WasRejectedCompletion {
		return autocontinue.Verification{}, nil
	}
	report, err := verify.ParseReport([]byte(out.Text))
	if err != nil {
		report = verify.Report{Text: out.Text} // it has no readable claim, but the host may require something
	}
	requirements, note, read := v.plan(out.PlanFile)
	if r.Type != classify.Completion && r.Type != classify.Status && report.OnlyNames() ||
		len(requirements) == 0 && (len(report.Claims)+len(v.Commands) == 0 || report.OnlyNames() && v.untouched(ctx)) {
		return autocontinue.Verification{}, nil
	}
	review, err := v.Review(ctx, verify.Task{ID: out.Session, Text: out.Request}, requirements, report)
	if err != nil {
		return autocontinue.Verification{}, fmt.Errorf("verifier: %w", err)
	}
	status, why := review.Standing()
	switch {
	case status == verify.NotMet:
		found := autocontinue.Verification{Status: autocontinue.Rejected, Feedback: review.Feedback()}
		for _, c := range v.Commands {
			found.Human = append(found.Human, "`"+strings.Join(c, " ")+"`")
		}
		return found, nil
	case status == verify.Met && read:
		if list := review.Honesty().ByWords; len(list) > 0 {
			of := fmt.Sprintf("%d statements", len(list))
			if len(list) == 1 {
				of = "one statement"
			}
			note = strings.TrimSpace("Of " + of + ", only the words were compared with the change. " + note)
		}
		return autocontinue.Verification{Status: autocontinue.Verified, Note: note}, nil
	}
	var list []string
	for _, reason := range why[:min(len(why), maxReasons)] {
		list = append(list, verify.Sentence(reason))
	}
	if more := len(why) - maxReasons; more > 0 {
		list = append(list, fmt.Sprintf("There are %d more reasons.", more))
	}
	note = strings.TrimSpace(strings.Join(append(list, note), " "))
	facts := review.Facts()
	worse := slices.ContainsFunc(facts.Runs, func(r verify.Run) bool { return !review.Expects(r) })
	return autocontinue.Verification{Status: autocontinue.Unverified, Note: note, Checked: len(facts.Runs) > 0 && !worse},
		nil
}

const maxReasons = 3 // that a note gives

// untouched reports whether the tree is as it was when the human spoke.
func (v *Verifier) untouched(ctx context.Context) bool {
	if v.Base == nil || v.Baseline != "" {
		return false
	}
	git := &gitwitness.Witness{Dir: v.Dir, Base: v.Base}
	defer git.Close()
	list, _, err := git.Changed(ctx, v.Base.Tree)
	return err == nil && len(list) == 0
}

// plan returns the requirements of a plan, and whether it could be read. Without a plan there is nothing to read.
func (v *Verifier) plan(name string) (list []verify.Requirement, note string, read bool) {
	if name == "" {
		return nil, "", true
	}
	if v.Plans != nil {
		if c, err := plancriteria.ExtractFile(v.Plans, name); err == nil {
			return verify.Requirements(c), "The plan was read as it is now.", true
		}
	}
	return nil, "The plan could not be read.", false
}

const keepFor = 30 * 24 * time.Hour

// Session is what is remembered of the tree in which a session works.
type Session struct {
	Root  string               `json:"root"`            // the folder of the project
	First *gitwitness.Snapshot `json:"first,omitempty"` // when the human spoke first
	Last  *gitwitness.Snapshot `json:"last,omitempty"`  // when the human spoke last
}

// Remember keeps the state of the project that dir is in, for a session in which the human spoke just now, below the
// folder state. It removes sessions that are 30 days old. The error says why there is no baseline.
func Remember(ctx context.Context, state, session, dir string) error {
	folder := sessionFolder(state, session)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("verifier: %w", err)
	}
	s := Recall(state, session)
	root := cmdwitness.Root(dir)
	if rel, err := filepath.Rel(s.Root, dir); s.Root != "" && err == nil && filepath.IsLocal(rel) {
		root = s.Root // the agent may have changed its folder
	}
	now, err := gitwitness.Take(ctx, root, folder)
	if s.Root, s.Last = root, nil; err == nil {
		s.Last = &now
		if s.First == nil || s.First.Root != now.Root {
			s.First = &now
		}
	}
	text, _ := json.Marshal(s) // strings: nothing can fail
	written := filestore.WriteFile(filepath.Join(folder, "session.json"), text, 0o600)
	sweep(filepath.Dir(folder))
	return cmp.Or(err, written)
}

// Recall returns the state that Remember kept for a session. Without one it is empty.
func Recall(state, session string) Session {
	var s Session
	text, err := os.ReadFile(filepath.Join(sessionFolder(state, session), "session.json"))
	if err != nil || json.Unmarshal(text, &s) != nil {
		return Session{}
	}
	return s
}

func sessionFolder(state, session string) string {
	return filepath.Join(state, "verify", fmt.Sprintf("%x", sha256.Sum256([]byte(session)))[:32])
}

func sweep(folder string) {
	entries, _ := os.ReadDir(folder)
	for _, e := range entries {
		info, err := os.Stat(filepath.Join(folder, e.Name(), "session.json"))
		if err != nil {
			info, err = e.Info()
		}
		if err == nil && time.Since(info.ModTime()) > keepFor {
			_ = os.RemoveAll(filepath.Join(folder, e.Name()))
		}
	}
}
