package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
)

// replay goes through transcripts and decides at their pauses.
type replay struct {
	policy    policyFlags
	judging   judgeFlags
	yes, json bool
	html      string

	cmd        *cobra.Command
	classifier classify.Classifier
	answers    string // a folder with those of an LLM
	bar        bar
	cases      []evaluate.Case // pauses that the human's words label, and what was made of them
	results    []classify.Result
	sessions   []replaySession // with a pause
	sum        replayTotal
}

func newReplay(t terminal) *cobra.Command {
	var r replay
	cmd := command("replay TRANSCRIPT… [flags]", nil, func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return misuse("sidecoach replay ~/.claude/projects; "+transcript.Locations, "no transcript is named")
		}
		t.keyboard = t.keyboard && widthOf(cmd.ErrOrStderr()) > 0 // nobody sees a question in a file
		return r.run(cmd, args, t)
	})
	r.policy.register(cmd.Flags())
	r.judging.register(cmd.Flags())
	bind(cmd.Flags(), "yes", &r.yes, "json", &r.json, "html", &r.html)
	return cmd
}

// run does everything that can fail for free first, and asks before it sends anything.
func (r *replay) run(cmd *cobra.Command, args []string, t terminal) error {
	if err := cmp.Or(r.judging.check(), checkPage(r.html)); err != nil {
		return err
	}
	if r.yes && !r.judging.asks() {
		return misuse("leave --yes out, or add --llm", "--yes answers a question that only --llm asks")
	}
	files, others, err := findTranscripts(args)
	if err != nil {
		return err
	}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	r.cmd, r.classifier, r.bar, r.sum.Others = cmd, heuristic, newBar(cmd.ErrOrStderr()), others
	opts := evaluate.Options{Threshold: cmp.Or(r.policy.threshold, -1), Name: "heuristic"}
	if r.judging.asks() {
		err = r.useLLM(heuristic, len(files), t)
		defer os.RemoveAll(r.answers)
		if err != nil {
			return err
		}
		opts.Name = r.sum.LLM.Model
	}
	ctx, release := interruptible(cmd.Context())
	defer release()
	r.all(ctx, files)
	if !r.json {
		t.tell(cmd.OutOrStdout(), replayTable(r.sessions, r.sum))
	}
	if r.html != "" && !r.sum.Interrupted {
		if len(r.cases) == 0 {
			return badInput("without --html the table shows what was decided",
				"there is nothing to show on a page: your words label no pause")
		}
		opts.About = []string{"Below are the pauses that your words label: a status where you continued the agent, " +
			"a question where you answered one."}
		report, err := evaluate.Record(r.cases, r.results, opts)
		if err == nil {
			err = writePage(r.html, evaluate.View{Reports: []evaluate.Report{report}})
		}
		if err != nil {
			return err
		}
	}
	switch {
	case r.sum.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above; --html writes no page")
	case r.sum.Fallbacks > 0 && r.sum.LLM.Verdicts == 0:
		return badInput("look at the server, the key and the model",
			"the LLM failed on every output; the heuristic alone decided")
	case r.sum.Faults > 0:
		return badInput("--json names each, with what is wrong", "%d of %s could not be read as a whole",
			r.sum.Faults, plural(len(files)+others-r.sum.Others, "file"))
	case r.sum.Files == 0:
		return badInput(transcript.Locations, "there is no transcript")
	}
	return nil
}

// useLLM lets the LLM judge, if the human agrees to send it what is in the files.
func (r *replay) useLLM(heuristic *classify.Heuristic, files int, t terminal) error {
	// A resumed session begins with a copy of what came before.
	var err error
	if r.answers, err = os.MkdirTemp("", "sidecoach"); err != nil {
		return err
	}
	j := &r.judging
	j.NoBreaker, j.Cache = false, &llm.DirCache{Dir: r.answers}
	j.Timeout = cmp.Or(j.Timeout, 2*time.Minute) // a busy server may ask to wait
	if r.classifier, err = j.withHeuristic(heuristic); err != nil {
		return err
	}
	to := j.modelName()
	r.sum.LLM = &judgeTotals{Usage: classify.Usage{Model: to}}
	if !j.isProgram() {
		to += " at " + cmp.Or(j.BaseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
	}
	switch {
	case r.yes:
		return nil
	case !t.keyboard:
		return misuse("add --yes to send them without a question",
			"--llm sends the agents' words away, and there is no terminal to ask whether it may")
	case !ask(r.cmd, fmt.Sprintf("Send what the agents wrote in %s to %s?", plural(files, "file"), visible(to))):
		return badInput("leave --llm out to use the heuristic alone", "nothing was sent")
	}
	return nil
}

type sessionFile struct {
	name     string
	inFolder bool // it was found in a folder, and need not be a transcript
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
			inFolder := modeOf(root).IsDir()
			if inFolder {
				root += string(filepath.Separator) // then a link is followed
			}
			_ = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil: // to open it fails again later, and is reported then
				case entry.IsDir():
					return nil
				case inFolder && !strings.HasSuffix(name, ".jsonl") && !strings.HasSuffix(name, ".json"):
					others++
					return nil
				}
				key, _ := filepath.Abs(name) // it fails only where the current folder is gone
				real, _ := filepath.EvalSymlinks(key)
				key = cmp.Or(real, key)
				if !seen[key] {
					files = append(files, sessionFile{filepath.Clean(name), inFolder && err == nil})
				}
				seen[key] = true
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

// all goes through the transcripts. It reports what is wrong with one of them, and reads the others. When ctx ends,
// the total is of what was read until then.
func (r *replay) all(ctx context.Context, files []sessionFile) {
	for i, file := range files {
		if ctx.Err() != nil {
			break
		}
		r.bar.show(i, len(files))
		err := r.file(ctx, file)
		switch {
		case err == nil || ctx.Err() != nil:
		case file.inFolder && (errors.Is(err, transcript.ErrFormat) || errors.Is(err, fs.ErrNotExist)): // a link to nowhere
			r.sum.Others++
		default:
			r.sum.Faults++
			r.bar.clear()
			fault := replayFault{file.name, strings.TrimPrefix(err.Error(), "transcript: ")}
			if r.tell("fault", fault); !r.json {
				complain(r.cmd.ErrOrStderr(), "sidecoach: "+fault.File+": "+fault.Fault)
			}
		}
	}
	r.sum.Interrupted, r.sum.Verdict = ctx.Err() != nil, worth(r.sum.Agrees, r.sum.Against)
	r.bar.clear()
	r.tell("total", r.sum)
}

// tell prints a pause, a session, a fault or the total, with --json.
func (r *replay) tell(kind string, v any) {
	if r.json {
		_ = writeJSON(r.cmd.OutOrStdout(), map[string]any{kind: v}) // see sink
	}
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
	r.sum.Bytes += size
	s := replaySession{File: masked(file.name), Agent: string(t.Format)}
	start := func(session string) (*autocontinue.AutoContinue, error) { // is called once, if there is a session
		s.Session = masked(session)
		r.sum.Sessions++
		return autocontinue.New(autocontinue.Config{Classifier: r, Policy: r.policy.policy(), Secrets: ownSecrets()})
	}
	long, err := hook.Replay(ctx, t, start, func(m hook.Moment) error {
		d := m.Decision
		p := replayPause{File: s.File, Agent: s.Agent, Session: s.Session, Line: m.Line, Action: d.Action,
			Outcome: d.Outcome, Reason: d.Reason, Type: d.Result.Type, Rejected: d.Result.WasRejectedCompletion,
			Confidence: d.Result.Confidence, Continues: d.Continues, Hold: m.Output.Hold, Work: m.Output.Work}
		p.Effect, p.Reply, p.Asked = m.Effect()
		s.count(p)
		r.sum.count(p)
		r.label(p, m)
		r.tell("pause", p)
		return nil
	})
	r.sum.LongLines += long
	if s.Session != "" {
		r.tell("session", s)
	}
	if s.Pauses > 0 {
		r.sessions = append(r.sessions, s)
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
	return view("replay", map[string]any{"Total": total, "Rows": sessions[:len(sessions)-more], "More": more})
}

const maxLabelled = 1000

// label keeps a pause that the human's words label: a nudge follows a status, and an answer follows a question.
func (r *replay) label(p replayPause, m hook.Moment) {
	nudged := p.Effect == "agrees" || p.Effect == "missed"
	if !p.Type.Valid() || !p.Asked && !nudged || len(r.cases) == maxLabelled {
		return
	}
	// The words do not tell which of the two kinds of status it was, so the verdict decides that.
	want := evaluate.Want{Type: classify.Status, WasRejectedCompletion: p.Rejected}
	if p.Asked {
		want = evaluate.Want{Type: classify.Question}
	}
	out := m.Output
	in := classify.Input{Text: masked(out.Text), Request: masked(out.Request), Evidence: out.Evidence, Work: out.Work,
		Coached: out.Continues}
	meta := map[string]any{"sure": false, "agent": p.Agent, "session": p.Session, "decision": string(p.Reason)}
	r.cases = append(r.cases, evaluate.Case{Name: fmt.Sprintf("%s:%d", p.File, p.Line), Input: in, Want: want, Meta: meta})
	r.results = append(r.results, m.Decision.Result)
}
