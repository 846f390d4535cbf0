package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// readerOptions are the flags with which somebody answers in the model's place: a person, or a model that has no key.
// The prompts are written to files, and the answers come back from files and are kept like any.
type readerOptions struct {
	render  string
	answers []string
	by      string
}

func (o *readerOptions) register(f *pflag.FlagSet) {
	bind(f, "render", &o.render, "answers", &o.answers, "answered-by", &o.by)
}

// config is that of the LLM, or of a reader, whom nobody calls.
func (o *readerOptions) config(l *llmOptions, parallel int) (llm.Config, error) {
	switch {
	case (o.answers == nil) != (o.by == ""):
		return llm.Config{}, misuse("name the answers with --answers, and who made them with --answered-by "+
			"'gpt-x as a reader, 2026-11-30'", "--answers needs --answered-by, and the other way round")
	case o.answers == nil && o.render == "":
		return l.config(parallel)
	}
	return llm.Config{Command: llm.Command{Args: []string{"reader"}}, NoBreaker: true}, nil
}

func (o *readerOptions) modelName(l *llmOptions) string {
	if o.by != "" {
		return "answered by " + o.by
	}
	return l.modelName()
}

const casesPerFile = 25

// write writes the instructions and the cases to be answered. It leaves out the cases that the model would not be asked
// about.
func (o *readerOptions) write(cmd *cobra.Command, cases []evaluate.Case, variants []variant) error {
	if len(variants) != 1 {
		return misuse("give one --prompt", "--render writes one prompt at a time")
	}
	v := variants[0]
	cases = slices.DeleteFunc(cases, func(c evaluate.Case) bool { return !v.asks(cmd.Context(), c) })
	if len(cases) == 0 {
		return badInput("the heuristic, or the facts of the turn, decide all of them",
			"the LLM would not be asked about any of the cases")
	}
	system := v.judge.Request(cases[0].Input).System
	files := [][2]string{{"instructions.md", system + "\n# How you answer here\n\n" +
		"Each case below stands after a line \"=== CASE name\". Judge each case by itself, as if it were the only one.\n" +
		"Write one line for each case: {\"case\": \"name\", \"answer\": the JSON object}\n"}}
	for batch := range slices.Chunk(cases, casesPerFile) {
		text := ""
		for _, c := range batch {
			text += fmt.Sprintf("=== CASE %s\n%s\n", c.Name, v.judge.Request(c.Input).User)
		}
		files = append(files, [2]string{fmt.Sprintf("cases-%03d.md", len(files)), text})
	}
	err := os.MkdirAll(o.render, 0o700)
	for _, f := range files {
		name := filepath.Join(o.render, f[0])
		if err == nil {
			err = os.WriteFile(name, []byte(f[1]), 0o600)
		}
		if err != nil {
			return badInput("check the folder and the space on the disk", "cannot write %q: %v", name, cause(err))
		}
		if _, err := fmt.Fprintln(cmd.OutOrStdout(), visible(name)); err != nil {
			return err
		}
	}
	return nil
}

// asks reports whether the classifier asks for an answer about a case that is not kept. It makes no call, as answers
// come from the cache alone.
func (v variant) asks(ctx context.Context, c evaluate.Case) bool {
	r, err := v.classifier.Classify(ctx, c.Input)
	return err != nil || r.Fallback != ""
}

// take keeps the answers of a reader, and returns the cases that have all they need. Without answers it returns all.
func (o *readerOptions) take(cmd *cobra.Command, cases []evaluate.Case, variants []variant) ([]evaluate.Case, error) {
	if o.answers == nil {
		return cases, nil
	}
	answers, err := readAnswers(o.answers)
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
				return nil, badInput("check the folder of --cache", "cannot keep the answers: %v", err)
			}
		}
	}
	if used == 0 {
		return nil, badInput("the names are those after === CASE in the files of --render",
			"no answer is for one of the cases")
	}
	if len(answered) < len(cases) {
		complain(cmd.ErrOrStderr(), fmt.Sprintf("sidecoach: %d of %d cases have an answer; the others are left out",
			len(answered), len(cases)))
	}
	return answered, nil
}

// readAnswers returns the answers in some files by the names of their cases. The last one for a case counts.
func readAnswers(patterns []string) (map[string]json.RawMessage, error) {
	answers := make(map[string]json.RawMessage)
	for _, pattern := range patterns {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, badInput("--answers takes files and patterns; check the name", "no such file: %q", pattern)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				return nil, badInput("check the name", "cannot read %q: %v", name, cause(err))
			}
			for i, text := range bytes.Split(b, []byte("\n")) {
				var line struct {
					Case   string
					Answer json.RawMessage
				}
				if text = bytes.TrimSpace(text); len(text) == 0 {
					continue
				}
				if err := json.Unmarshal(text, &line); err != nil || line.Case == "" || len(line.Answer) == 0 {
					return nil, badInput(`a line looks like {"case":"name","answer":{"type":"status","confidence":0.9}}`,
						"%s:%d is not an answer", name, i+1)
				}
				answers[line.Case] = line.Answer
			}
		}
	}
	return answers, nil
}
