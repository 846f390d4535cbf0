package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue/hook/transcript"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
)

// replayOptions are the flags of replay.
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
	f.SortFlags = false
	o.policy.register(f, "")
	o.judging.register(f)
	f.BoolVar(&o.yes, "yes", false, "with --llm, do not ask before the agents' words are sent")
	f.BoolVar(&o.every, "all", false, "print a row for each session, however many they are")
	f.BoolVar(&o.json, "json", false, "print JSON, one object a line, without the agents' words")
	f.StringVar(&o.html, "html", "", "write a page to `FILE` with the pauses that your words label")
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
	page, err := createPage(o.html, slices.Collect(maps.Keys(found.seen)))
	if err != nil {
		return err
	}
	defer page.discard()
	if page != nil {
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
	table := &replayTable{terminal: t, w: out, errs: stderr, every: o.every}
	r.show = table.show
	if o.json {
		r.show = replayJSON(out, stderr)
	}
	total, err := r.all(ctx, found)
	switch {
	case err != nil:
		table.showFaults()
		return err
	case total.Interrupted && page != nil:
		return badInput("run it again", "interrupted: what was read until then is above, and there is no page")
	case total.Interrupted:
		return badInput("run it again", "interrupted: what was read until then is above")
	case page != nil:
		report, err := r.labelled.report(cmp.Or(r.model, "heuristic"), cmp.Or(o.policy.threshold, evaluate.NoGate), total)
		if err == nil {
			err = page.commit(evaluate.Run{Report: report})
		}
		if err != nil {
			return err
		}
	}
	return failureOf(total, len(found.files)-total.Others)
}

// failureOf says what is wrong after everything was read.
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

// sentences say what comes of everything. The last one is the verdict, where there is something to judge.
func (t replayTotal) sentences() []string {
	read := fmt.Sprintf("%s, %s, %s: ",
		plural(t.Files, "transcript"), plural(t.Sessions, "session"), plural(t.Pauses, "pause"))
	if t.Pauses == 0 {
		return []string{read + "there is nothing to judge."}
	}
	said := []string{fmt.Sprintf("%sat %s it would have continued the agent.", read, thousands(t.Continued))}
	if n := t.Continued - t.Agrees - t.Against; n > 0 {
		said = append(said, fmt.Sprintf("At %s of these you wrote something else, or nothing.", thousands(n)))
	}
	verdict := map[worth]string{
		pays: "It pays here", mayPay: "It may pay here", paysNot: "It does not pay here",
		noMatter: "It makes no difference here",
	}[t.Verdict]
	spared := `you wrote no message such as "continue" or "run the tests"`
	if wrote := t.Agrees + t.Missed; wrote > 0 {
		spared = fmt.Sprintf(`it would have spared you %s of %s such as "continue" or "run the tests"`,
			thousands(t.Agrees), plural(wrote, "message"))
	}
	past := "it would not have passed over a question that you answered"
	if t.Against > 0 {
		past = fmt.Sprintf("it would have continued at %s where you answered or said no", plural(t.Against, "pause"))
	}
	sentence := fmt.Sprintf("%s: %s, and %s.", verdict, spared, past)
	if t.Agrees+t.Against < telling {
		sentence += " That is too little to be sure."
	}
	return append(said, sentence)
}

// worth says whether the hook would have helped, by what the human wrote.
type worth string

const (
	pays     worth = "pays"
	mayPay   worth = "may_pay"
	paysNot  worth = "does_not_pay"
	noMatter worth = "no_difference"

	telling = 5 // pauses that say more than chance
)

// worthOf compares the messages that it would have spared the human with the questions that it would have passed
// over. A question costs more than a message, so it pays from two messages a question on.
func worthOf(agrees, against int) worth {
	switch {
	case agrees == 0 && against == 0:
		return noMatter
	case against >= agrees:
		return paysNot
	case agrees >= 2*against:
		return pays
	}
	return mayPay
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

// expand returns the files that a pattern stands for.
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
