package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

type replayOptions struct {
	policy    policyFlags
	judging   judging
	yes, json bool
	html      string
}

func newReplay(t terminal) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use: "replay TRANSCRIPT… [flags]",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("sidecoach replay ~/.claude/projects; "+transcript.Locations, "no transcript is named")
			}
			t.keyboard = t.keyboard && widthOf(cmd.ErrOrStderr()) > 0 // nobody sees a question in a file
			return o.run(cmd, args, t)
		},
	}
	f := cmd.Flags()
	o.policy.register(f)
	o.judging.register(f)
	bind(f, "yes", &o.yes, "json", &o.json, "html", &o.html)
	return cmd
}

// run does everything that can fail for free first, and asks before it sends anything.
func (o *replayOptions) run(cmd *cobra.Command, args []string, t terminal) error {
	if err := cmp.Or(o.judging.check(), checkPage(o.html)); err != nil {
		return err
	}
	if o.yes && !o.judging.asks() {
		return misuse("leave --yes out, or add --llm", "--yes answers a question that only --llm asks")
	}
	out, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	files, others, err := findTranscripts(args)
	if err != nil {
		return err
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	r := &replay{policy: o.policy.policy(), classifier: heuristic, bar: newBar(stderr), sum: replayTotal{Others: others}}
	ctx, release := interruptible(cmd.Context())
	defer release()
	if o.judging.asks() {
		answers, err := os.MkdirTemp("", "sidecoach") // a resumed session begins with a copy of what came before
		if err != nil {
			return err
		}
		defer os.RemoveAll(answers)
		if err := o.useLLM(r, heuristic, answers); err != nil {
			return err
		}
		if err := o.askFirst(ctx, len(files), cmd.InOrStdin(), stderr, t); err != nil {
			return err
		}
	}
	var sessions []replaySession
	r.show = func(kind string, v any) error {
		if o.json {
			return writeJSON(out, map[string]any{kind: v})
		}
		switch v := v.(type) {
		case replaySession:
			if v.Pauses > 0 {
				sessions = append(sessions, v)
			}
		case replayFault:
			complain(stderr, "sidecoach: "+v.File+": "+v.Fault)
		case replayTotal:
			return t.tell(out, replayTable(sessions, v))
		}
		return nil
	}
	total, err := r.all(ctx, files)
	switch {
	case err != nil:
		return err
	case total.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above; --html writes no page")
	case o.html != "":
		opts := evaluate.Options{Threshold: cmp.Or(o.policy.threshold, -1), Name: "heuristic"}
		if total.LLM != nil {
			opts.Name = total.LLM.Model
		}
		if err := r.labelled.page(o.html, opts); err != nil {
			return err
		}
	}
	switch {
	case total.Fallbacks > 0 && total.LLM.Verdicts == 0:
		return badInput("look at the server, the key and the model",
			"the LLM failed on every output; the heuristic alone decided")
	case total.Faults > 0:
		return badInput("--json names each, with what is wrong", "%s of %s could not be read as a whole",
			thousands(total.Faults), plural(len(files)+others-total.Others, "file"))
	case total.Files == 0:
		return badInput(transcript.Locations, "there is no transcript")
	}
	return nil
}

// useLLM lets the LLM judge, which keeps its answers in a folder.
func (o *replayOptions) useLLM(r *replay, heuristic *classify.Heuristic, answers string) error {
	cfg, err := o.judging.config()
	if err != nil {
		return err
	}
	cfg.NoBreaker = false
	cfg.Timeout = cmp.Or(o.judging.Timeout, 2*time.Minute) // a busy server may ask to wait
	cfg.Cache = &llm.DirCache{Dir: answers}
	judge, err := o.judging.judge(cfg, heuristic)
	r.classifier = o.judging.beside(heuristic, judge)
	r.sum.LLM = &judgeTotals{Usage: classify.Usage{Model: o.judging.modelName()}}
	return err
}

func (o *replayOptions) askFirst(ctx context.Context, files int, stdin io.Reader, stderr io.Writer, t terminal) error {
	if o.yes {
		return nil
	}
	if !t.keyboard {
		return misuse("add --yes to send them without a question",
			"--llm sends the agents' words away, and there is no terminal to ask whether it may")
	}
	to := o.judging.modelName()
	if !o.judging.isProgram() {
		to += " at " + cmp.Or(o.judging.BaseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
	}
	yes, err := ask(ctx, stdin, stderr, fmt.Sprintf("Send what the agents wrote in %s to %s?", plural(files, "file"),
		visible(to)))
	switch {
	case err != nil:
		return badInput("run it again", "interrupted: nothing was sent")
	case !yes:
		return badInput("leave --llm out to use the heuristic alone", "nothing was sent")
	}
	return nil
}

type sessionFile struct {
	name  string
	among bool // it was found in a folder, and need not be a transcript
}

// findTranscripts returns the files that names, folders and patterns stand for, each once. Others counts the files in
// folders that are not transcripts by their names.
func findTranscripts(args []string) (files []sessionFile, others int, err error) {
	seen := map[string]bool{}
	for _, arg := range args {
		names := []string{arg}
		if !exists(arg) {
			names, _ = filepath.Glob(arg)
		}
		if len(names) == 0 {
			return nil, 0, badInput("check the name; "+transcript.Locations, "no such file: %q", arg)
		}
		for _, root := range names {
			among := isFolder(root)
			if among {
				root += string(filepath.Separator) // then a link is followed
			}
			_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil: // to open it fails again later, and is reported then
				case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "node_modules"):
					return fs.SkipDir
				case entry.IsDir():
					return nil
				case among && !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".json"):
					others++
					return nil
				}
				key, _ := filepath.Abs(name) // it fails only where the current folder is gone
				if real, err := filepath.EvalSymlinks(key); err == nil {
					key = real
				}
				if !seen[key] {
					files = append(files, sessionFile{filepath.Clean(name), among && err == nil})
				}
				seen[key] = true
				if err != nil {
					return fs.SkipDir
				}
				return nil
			})
		}
	}
	return files, others, nil
}

const maxSessionRows = 20

// replayPause is what would have been decided at a pause.
type replayPause struct {
	File       string               `json:"file"`
	Agent      string               `json:"agent"`
	Session    string               `json:"session"`
	Line       int                  `json:"line"` // of the file, where the message ends
	Action     autocontinue.Action  `json:"action"`
	Outcome    autocontinue.Outcome `json:"outcome"`
	Reason     autocontinue.Reason  `json:"reason"`
	Type       classify.OutputType  `json:"type,omitempty"`
	Rejected   bool                 `json:"was_rejected_completion,omitempty"`
	Confidence float64              `json:"confidence,omitempty"`
	Continues  int                  `json:"continues"`
	Hold       string               `json:"hold,omitempty"`
	Reply      transcript.Reply     `json:"reply,omitempty"` // what the human's next words were
	Asked      bool                 `json:"asked,omitempty"` // the human answered a question
	Effect     string               `json:"effect,omitempty"`
	Work       classify.Work        `json:"work,omitzero"`
}

func pauseOf(s *replaySession, m hook.Moment) replayPause {
	d := m.Decision
	p := replayPause{
		File: s.File, Agent: s.Agent, Session: s.Session, Line: m.Line,
		Action: d.Action, Outcome: d.Outcome, Reason: d.Reason, Type: d.Result.Type, Rejected: d.Result.WasRejectedCompletion,
		Confidence: d.Result.Confidence, Continues: d.Continues, Hold: m.Output.Hold, Work: m.Output.Work,
	}
	p.Effect, p.Reply, p.Asked = m.Effect()
	return p
}

type replayCounts struct {
	Pauses    int            `json:"pauses"`
	Continued int            `json:"continued"`
	Agrees    int            `json:"agrees"`
	Against   int            `json:"against"`
	Missed    int            `json:"missed"`
	Reasons   map[string]int `json:"reasons"`
}

func (c *replayCounts) count(p replayPause) {
	if c.Reasons == nil {
		c.Reasons = map[string]int{}
	}
	c.Pauses++
	c.Reasons[string(p.Reason)]++
	if p.Action == autocontinue.Continue {
		c.Continued++
	}
	if n := map[string]*int{"agrees": &c.Agrees, "against": &c.Against, "missed": &c.Missed}[p.Effect]; n != nil {
		*n++
	}
}

type replaySession struct {
	File    string `json:"file"`
	Agent   string `json:"agent"`
	Session string `json:"session"`
	replayCounts
}

type replayFault struct {
	File  string `json:"file"`
	Fault string `json:"fault"`
}

type replayTotal struct {
	Files     int   `json:"files"`
	Others    int   `json:"others"` // files in folders that are not transcripts
	Faults    int   `json:"faults"`
	Bytes     int64 `json:"bytes"`
	LongLines int   `json:"long_lines"` // left out, longer than 4 MiB
	Sessions  int   `json:"sessions"`
	replayCounts
	LLM         *judgeTotals `json:"llm,omitempty"`    // nil without --llm
	Fallbacks   int          `json:"fallbacks"`        // outputs that the heuristic judged because the LLM failed
	Failed      string       `json:"failed,omitempty"` // why it failed at the first of them
	Verdict     string       `json:"verdict"`
	Interrupted bool         `json:"interrupted,omitempty"` // there was more to read
}

type replay struct {
	policy     autocontinue.Policy
	classifier classify.Classifier
	labelled   labelled
	show       func(kind string, v any) error // shows a pause, a session, a fault or the total
	bar        bar

	sum    replayTotal
	failed error // of showing, which ends everything
}

// all goes through the transcripts. It reports what is wrong with one of them, and reads the others. When ctx ends,
// the total is of what was read until then.
func (r *replay) all(ctx context.Context, files []sessionFile) (replayTotal, error) {
	defer r.bar.clear()
	for i, file := range files {
		if ctx.Err() != nil {
			break
		}
		r.bar.show(i, len(files))
		err := r.file(ctx, file)
		switch {
		case r.failed != nil:
			return r.sum, r.failed
		case err == nil || ctx.Err() != nil:
		case file.among && (errors.Is(err, transcript.ErrFormat) || errors.Is(err, fs.ErrNotExist)): // a link to nowhere
			r.sum.Others++
		default:
			r.sum.Faults++
			r.bar.clear()
			r.tell("fault", replayFault{masked(file.name), masked(strings.TrimPrefix(err.Error(), "transcript: "))})
		}
	}
	r.sum.Interrupted, r.sum.Verdict = ctx.Err() != nil, worth(r.sum.Agrees, r.sum.Against)
	r.bar.clear()
	return r.sum, r.tell("total", r.sum)
}

func (r *replay) tell(kind string, v any) error {
	r.failed = cmp.Or(r.failed, r.show(kind, v))
	return r.failed
}

func (r *replay) file(ctx context.Context, file sessionFile) error {
	f, size, err := transcript.OpenFile(file.name)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := transcript.Open(f, size, file.name)
	if err != nil {
		return err
	}
	r.sum.Files++
	var sessions []*replaySession
	start := func(session string) (*autocontinue.AutoContinue, error) {
		sessions = append(sessions,
			&replaySession{File: masked(file.name), Agent: string(t.Format), Session: masked(session)})
		return autocontinue.New(autocontinue.Config{Classifier: r, Policy: r.policy, Secrets: ownSecrets()})
	}
	long, err := hook.Replay(ctx, t, start, func(m hook.Moment) error {
		s := sessions[len(sessions)-1]
		p := pauseOf(s, m)
		s.count(p)
		r.sum.count(p)
		r.labelled.add(p, m)
		return r.tell("pause", p)
	})
	r.sum.Bytes += size
	r.sum.LongLines += long
	r.sum.Sessions += len(sessions)
	for _, s := range sessions {
		err = errors.Join(err, r.tell("session", *s))
	}
	return err
}

// Classify asks the classifier, and counts what its answers cost. The end of ctx is an error, also where a fallback
// answered.
func (r *replay) Classify(ctx context.Context, in classify.Input) (classify.Result, error) {
	result, err := r.classifier.Classify(ctx, in)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	if r.sum.LLM != nil {
		r.sum.LLM.add(result.Usage)
		if result.Fallback != "" {
			r.sum.Fallbacks++
			r.sum.Failed = cmp.Or(r.sum.Failed, strings.TrimPrefix(result.Fallback, "llm: "))
		}
	}
	return result, err
}

// worth says whether the hook would have helped: it compares the messages that it would have spared the human with the
// questions that it would have passed over. A question costs as much as two messages.
func worth(agrees, against int) string {
	switch {
	case agrees == 0 && against == 0:
		return "no_difference"
	case against >= agrees:
		return "does_not_pay"
	case agrees >= 2*against:
		return "pays"
	}
	return "may_pay"
}

// replayTable has a row for each session, and the total. Of many sessions those with most to say have a row.
func replayTable(sessions []replaySession, total replayTotal) string {
	slices.SortStableFunc(sessions, func(a, b replaySession) int {
		return cmp.Or(cmp.Compare(b.Agrees+b.Against+b.Missed, a.Agrees+a.Against+a.Missed),
			cmp.Compare(b.Continued, a.Continued), cmp.Compare(b.Pauses, a.Pauses))
	})
	more := max(0, len(sessions)-maxSessionRows)
	return view("replay", struct {
		replayTotal
		Rows []replaySession
		More int
	}{total, sessions[:len(sessions)-more], more})
}

const (
	maxLabelled = 1000
	maxShown    = 32 << 10 // characters of an output on a page
)

// labelled are pauses that the human's words label: a nudge follows a status, and an answer follows a question.
type labelled struct {
	cases   []evaluate.Case
	results []classify.Result
}

func (l *labelled) add(p replayPause, m hook.Moment) {
	nudged := p.Effect == "agrees" || p.Effect == "missed"
	if !p.Type.Valid() || !p.Asked && !nudged || len(l.cases) == maxLabelled {
		return
	}
	// The words do not tell which of the two kinds of status it was, so the verdict decides that.
	want := evaluate.Want{Type: classify.Status, WasRejectedCompletion: p.Rejected}
	if p.Asked {
		want = evaluate.Want{Type: classify.Question}
	}
	clip := func(s string) string { return plaintext.Cut(masked(s), maxShown) }
	out := m.Output
	in := classify.Input{
		Text: clip(out.Text), Request: clip(out.Request), Evidence: out.Evidence, Work: out.Work, Coached: out.Continues,
	}
	meta := map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)}
	l.cases = append(l.cases, evaluate.Case{Name: fmt.Sprintf("%s:%d", p.File, p.Line), Input: in, Want: want, Meta: meta})
	l.results = append(l.results, m.Decision.Result)
}

// page writes what the labels say to a file.
func (l *labelled) page(name string, opts evaluate.Options) error {
	if len(l.cases) == 0 {
		return badInput("without --html the table shows what was decided",
			"there is nothing to show on a page: your words label no pause")
	}
	opts.About = append(opts.About, "Below are the pauses that your words label: a status where you continued the agent, "+
		"a question where you answered one.")
	report, err := evaluate.Record(l.cases, l.results, opts)
	if err != nil {
		return err
	}
	return writePage(name, evaluate.View{Reports: []evaluate.Report{report}})
}
