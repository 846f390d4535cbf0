package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
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
	if err := o.judging.check(); err != nil {
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
	if o.judging.asks() {
		answers, err := os.MkdirTemp("", "sidecoach") // a resumed session begins with a copy of what came before
		if err != nil {
			return err
		}
		defer os.RemoveAll(answers)
		if err := o.useLLM(r, heuristic, answers); err != nil {
			return err
		}
		if err := o.askFirst(len(files), cmd.InOrStdin(), stderr, t); err != nil {
			return err
		}
	}
	ctx, release := interruptible(cmd.Context())
	defer release()
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
		if err := r.labelled.page(o.html, files, opts); err != nil {
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
	cfg, err := o.judging.config(1)
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

func (o *replayOptions) askFirst(files int, stdin io.Reader, stderr io.Writer, t terminal) error {
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
	if !ask(stdin, stderr, fmt.Sprintf("Send what the agents wrote in %s to %s?", plural(files, "file"), visible(to))) {
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
			err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
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
			if err != nil {
				return nil, 0, err
			}
		}
	}
	return files, others, nil
}
