package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// readerOptions are the flags with which somebody answers in the model's place: a person, or a model that has no key. The
// prompts are written to files, and the answers come back from files and are kept like any.
type readerOptions struct {
	render  string
	answers []string
	by      string
}

func (o *readerOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.render, "render", "", "write the prompts to `DIR` for a reader to answer, and judge nothing")
	f.StringArrayVar(&o.answers, "answers", nil, "take the answers from this `FILE` that a reader wrote, and ask nothing; may be repeated")
	f.StringVar(&o.by, "answered-by", "", "with --answers, `WHO` wrote them and when; it is kept with each answer")
}

func (o *readerOptions) given() string {
	switch {
	case o.render != "":
		return "--render"
	case o.answers != nil:
		return "--answers"
	case o.by != "":
		return "--answered-by"
	}
	return ""
}

// config is that of the LLM, or of a reader, whom nobody calls.
func (o *readerOptions) config(l *llmOptions, parallel int) (llm.Config, error) {
	switch {
	case o.given() == "":
		return l.config(parallel)
	case o.answers != nil && o.by == "":
		return llm.Config{}, misuse("--answered-by 'gpt-x as a reader, 2026-11-30'", "--answers needs --answered-by: who made the answers?")
	case o.answers == nil && o.by != "":
		return llm.Config{}, misuse("add --answers FILE", "--answered-by says who made the answers, and there are none")
	}
	return llm.Config{Command: llm.Command{Args: []string{"reader"}}, NoBreaker: true}, nil
}

func (o *readerOptions) modelName(l *llmOptions) string {
	if o.given() == "" {
		return l.modelName()
	}
	return "answered by " + o.by
}

const casesPerFile = 25

// write writes the instructions and the cases to be answered. Those that the model would not be asked about are left out.
func (o *readerOptions) write(cmd *cobra.Command, cases []evaluate.Case, variants []variant) error {
	if len(variants) != 1 {
		return misuse("give one --prompt", "--render writes one prompt at a time")
	}
	if err := os.MkdirAll(o.render, 0o700); err != nil {
		return badInput("name another folder", "cannot make the folder %q: %v", o.render, cause(err))
	}
	file := func(name, text string) error {
		name = filepath.Join(o.render, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return badInput("check the folder and the space on the disk", "cannot write %q: %v", name, cause(err))
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), visible(name))
		return err
	}
	judge := variants[0].judge
	cases = slices.DeleteFunc(cases, func(c evaluate.Case) bool { return !variants[0].asks(cmd.Context(), c) })
	if len(cases) == 0 {
		return badInput("the heuristic, or the facts of the turn, decide all of them", "the LLM would not be asked about any of the cases")
	}
	instructions := judge.Request(cases[0].Input).System + "\n# How you answer here\n\n" +
		"Each case below stands after a line \"=== CASE name\". Judge each case by itself, as if it were the only one.\n" +
		"Write one line for each case: {\"case\": \"name\", \"answer\": the JSON object}\n"
	if err := file("instructions.md", instructions); err != nil {
		return err
	}
	for i := 0; i < len(cases); i += casesPerFile {
		var b strings.Builder
		for _, c := range cases[i:min(i+casesPerFile, len(cases))] {
			fmt.Fprintf(&b, "=== CASE %s\n%s\n", c.Name, judge.Request(c.Input).User)
		}
		if err := file(fmt.Sprintf("cases-%03d.md", i/casesPerFile+1), b.String()); err != nil {
			return err
		}
	}
	return nil
}

// asks reports whether the classifier asks for an answer about a case that is not kept. It makes no call, as answers come
// from the cache alone.
func (v variant) asks(ctx context.Context, c evaluate.Case) bool {
	r, err := v.classifier.Classify(ctx, c.Input)
	return err != nil || r.Fallback != ""
}

// take keeps the answers of a reader, and returns the cases that have all they need. Without answers it returns all.
func (o *readerOptions) take(cmd *cobra.Command, cases []evaluate.Case, variants []variant) ([]evaluate.Case, error) {
	if o.answers == nil {
		return cases, nil
	}
	answers, err := o.read()
	if err != nil {
		return nil, err
	}
	used := 0
	var answered []evaluate.Case
	for _, c := range cases {
		object, ok := answers[c.Name]
		if !ok {
			if !slices.ContainsFunc(variants, func(v variant) bool { return v.asks(cmd.Context(), c) }) {
				answered = append(answered, c)
			}
			continue
		}
		used++
		answered = append(answered, c)
		for _, v := range variants {
			answer := llm.Answer{Object: object}
			answer.Usage.Model = o.by
			if err := v.cache.Store(cmd.Context(), v.judge.Request(c.Input), answer); err != nil {
				return nil, badInput("check the folder and the space on the disk", "cannot keep an answer: %v", cause(err))
			}
		}
	}
	if used == 0 {
		return nil, badInput("the names are those after === CASE in the files of --render", "no answer is for one of the cases")
	}
	if len(answered) < len(cases) {
		complain(cmd.ErrOrStderr(), fmt.Sprintf("sidecoach: %d of %d cases have an answer; the others are left out", len(answered), len(cases)))
	}
	return answered, nil
}

// read returns the answers by the names of their cases.
func (o *readerOptions) read() (map[string]json.RawMessage, error) {
	answers := make(map[string]json.RawMessage)
	for _, pattern := range o.answers {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, badInput("check the name", "no such file: %q", pattern)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, badInput("check the name", "cannot read %q: %v", name, cause(err))
			}
			lines := bufio.NewScanner(bytes.NewReader(b))
			lines.Buffer(nil, 1<<20)
			for n := 1; lines.Scan(); n++ {
				var line struct {
					Case   string
					Answer json.RawMessage
				}
				text := bytes.TrimSpace(lines.Bytes())
				if len(text) == 0 {
					continue
				}
				if err := json.Unmarshal(text, &line); err != nil || line.Case == "" || len(line.Answer) == 0 {
					return nil, badInput(`a line looks like {"case":"name","answer":{"type":"status","confidence":0.9}}`,
						"%s:%d is not an answer", name, n)
				}
				answers[line.Case] = line.Answer
			}
			if err := lines.Err(); err != nil {
				return nil, badInput("a line has at most 1 MiB", "cannot read %q: %v", name, err)
			}
		}
	}
	return answers, nil
}
