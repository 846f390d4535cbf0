package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

type replayOptions struct {
	policy           policyFlags
	judging          judging
	yes, every, json bool
	html             string
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
	bind(f, "yes", &o.yes, "all", &o.every, "json", &o.json, "html", &o.html)
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
	found, err := findTranscripts(args)
	if err != nil {
		return err
	}
	r := &replay{policy: o.policy.policy(), bar: newBar(stderr)}
	heuristic, err := classify.NewHeuristic()
	if err != nil {
		return err
	}
	r.classifier = heuristic
	if o.html != "" {
		r.labelled = &labelled{}
	}
	ctx, release := interruptible(cmd.Context())
	defer release()
	if o.judging.asks() {
		if err = o.useLLM(r, heuristic); err == nil && !o.yes {
			err = o.askFirst(ctx, len(found.files), cmd.InOrStdin(), stderr, t)
		}
		if err != nil {
			return err
		}
	}
	table := replayTable{page: page{terminal: t}, every: o.every}
	r.show = table.show
	if o.json {
		r.show = func(kind string, v any) error { return writeJSON(out, map[string]any{kind: v}) }
	}
	total, err := r.all(ctx, found)
	if err == nil {
		err = table.print(out)
	}
	for _, f := range r.faults[:min(len(r.faults), maxFaults)] { // below the table, where they are seen
		complain(stderr, "sidecoach: "+f.File+": "+f.Fault)
	}
	if n := len(r.faults) - maxFaults; n > 0 {
		complain(stderr, fmt.Sprintf("sidecoach: and %s more with a fault; --json names each", plural(n, "file")))
	}
	switch {
	case err != nil:
		return err
	case total.Interrupted && o.html != "":
		return badInput("run it again", "interrupted: what was read until then is above, and there is no page")
	case total.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above")
	case o.html != "":
		name := "heuristic"
		if total.LLM != nil {
			name = total.LLM.Model
		}
		report, err := r.labelled.report(name, cmp.Or(o.policy.threshold, evaluate.NoGate), total)
		if err == nil {
			err = writePage(o.html, slices.Collect(maps.Keys(found.seen)), evaluate.Run{Report: report})
		}
		if err != nil {
			return err
		}
	}
	return failureOf(total, len(found.files)-total.Others)
}

func failureOf(total replayTotal, files int) error {
	switch {
	case total.Fallbacks > 0 && total.Fallbacks == total.Judged:
		return badInput("look at the server, the key and the model",
			"the LLM failed on every output; the heuristic alone decided")
	case total.Faults > 0 && files == 1:
		return badInput("the line above says what is wrong", "the file could not be read as a whole")
	case total.Faults > 0:
		return badInput("the lines above say what is wrong; the other files were read",
			"%s of %s files could not be read as a whole", thousands(total.Faults), thousands(files))
	case total.Files == 0:
		return badInput(transcript.Locations, "there is no transcript")
	}
	return nil
}

func (o *replayOptions) useLLM(r *replay, heuristic *classify.Heuristic) error {
	cfg, err := o.judging.llm.config(1)
	if err != nil {
		return err
	}
	cfg.NoBreaker = false
	cfg.Timeout = cmp.Or(o.judging.llm.Timeout, 2*time.Minute) // a busy server may ask to wait
	cfg.Cache = &memoryCache{}                                 // a resumed session begins with a copy of what came before
	judge, err := o.judging.llm.judge(cfg, heuristic)
	if err != nil {
		return err
	}
	r.classifier = o.judging.beside(heuristic, judge)
	r.sum.LLM = &replayLLM{Model: o.judging.llm.modelName(), Failed: map[string]int{}}
	return nil
}

func (o *replayOptions) askFirst(ctx context.Context, files int, stdin io.Reader, stderr io.Writer, t terminal) error {
	if !t.keyboard {
		return misuse("add --yes to send them without a question",
			"--llm sends the agents' words away, and there is no terminal to ask whether it may")
	}
	to := o.judging.llm.modelName()
	if !o.judging.llm.isProgram() {
		to += " at " + cmp.Or(o.judging.llm.BaseURL, os.Getenv("OPENAI_BASE_URL"), "OpenAI")
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

// sessionFile is a file to be replayed.
type sessionFile struct {
	name  string
	size  int64
	among bool // it was found in a folder, and need not be a transcript
}

// sessionFiles are the files that a command line names.
type sessionFiles struct {
	files  []sessionFile
	seen   map[string]bool // absolute names, without links
	others int             // files in folders that are not transcripts by their name
}

// findTranscripts returns the files that names, folders and patterns stand for, each once.
func findTranscripts(args []string) (*sessionFiles, error) {
	t := &sessionFiles{seen: make(map[string]bool)}
	for _, arg := range args {
		names, pattern := []string{arg}, !exists(arg)
		var err error
		if pattern {
			names, err = expand(arg)
		}
		for _, name := range names {
			switch {
			case err != nil:
			case isFolder(name):
				err = t.walk(name)
			default:
				err = t.add(name, pattern && !exists(name))
			}
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

func expand(pattern string) ([]string, error) {
	switch {
	case pattern == "-":
		return nil, misuse("save it as a file", "a transcript is not read from standard input")
	case strings.Contains(pattern, "**"):
		return nil, misuse("name the folder alone: what is in it is read at any depth",
			"the pattern %q has **, which would stand for one folder only", pattern)
	}
	names, err := filepath.Glob(pattern)
	switch {
	case err != nil:
		return nil, misuse(`* stands for any characters, ? for one, [ab] for one of them, and \ takes away their meaning`,
			"the pattern %q cannot be read", pattern)
	case len(names) == 0:
		return nil, badInput("check the name; "+transcript.Locations, "no such file: %q", pattern)
	}
	return names, nil
}

// add adds a file. Among others it may be missing, such as a link that leads nowhere.
func (t *sessionFiles) add(name string, among bool) error {
	info, err := os.Stat(name)
	switch {
	case (err != nil || !info.Mode().IsRegular()) && among:
		return nil
	case err != nil:
		return badInput("check the name and the permissions", "cannot open %q: %v", name, cause(err))
	case !info.Mode().IsRegular():
		return badInput("save it as a file", "%q is not a regular file", name)
	}
	key, _ := filepath.Abs(name) // it fails only where the current folder is gone
	if real, err := filepath.EvalSymlinks(key); err == nil {
		key = real
	}
	if !t.seen[key] {
		t.seen[key] = true
		t.files = append(t.files, sessionFile{name, info.Size(), among})
	}
	return nil
}

// walk adds the files of a folder that may be transcripts by their names.
func (t *sessionFiles) walk(dir string) error {
	if !os.IsPathSeparator(dir[len(dir)-1]) {
		dir += string(filepath.Separator) // WalkDir does not follow a link to a folder without it
	}
	return filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == dir:
			return badInput("check its permissions", "cannot open the folder %q: %v", dir, cause(err))
		case err != nil: // opening it fails again later, and is reported then
			t.files = append(t.files, sessionFile{name: name})
			return fs.SkipDir
		case entry.IsDir() && slices.Contains([]string{".git", "node_modules"}, entry.Name()):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		case strings.HasSuffix(name, ".jsonl"), strings.HasSuffix(name, ".json"):
			return t.add(name, true)
		}
		t.others++
		return nil
	})
}
