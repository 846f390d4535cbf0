package main

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
)

const (
	defaultModel   = "gpt-4.1-mini"
	viaAPI         = "api"            // the judge behind a server
	programTimeout = 40 * time.Second // a host waits for a hook, so a program gets less than a hook has
)

// judging are the flags of the commands that judge outputs. Other values come from the environment. Files have no say:
// an agent may write to a project's folder, and must not choose where its output goes.
type judging struct {
	flags   *pflag.FlagSet
	useLLM  bool
	agent   choice // "api", or an agent whose command line judges
	command commandLine
	certain float64 // of the heuristic: then the LLM is not asked; 0 asks always
	format  choice
	llm.Config
	prompt      string
	temperature float64
}

func (o *judging) register(f *pflag.FlagSet) {
	o.registerJudge(f)
	bind(f, "model", &o.Model, "prompt", &o.prompt)
}

// registerJudge adds the flags that do not choose between models or prompts.
func (o *judging) registerJudge(f *pflag.FlagSet) {
	o.flags = f
	o.agent.allowed = append([]string{viaAPI}, llm.Agents()...)
	o.format.allowed = llm.Formats()
	bind(f, "llm", &o.useLLM, "judge", &o.agent, "judge-command", &o.command, "certain", number[float64]{&o.certain, 1},
		"base-url", &o.BaseURL, "insecure-http", &o.InsecureHTTP, "timeout", &o.Timeout, "effort", &o.Effort,
		"temperature", number[float64]{&o.temperature, 2}, "max-tokens", &o.MaxTokens, "format", &o.format)
}

// asks reports whether an LLM judges, and isProgram whether it is the command line of an agent or of the user.
func (o *judging) asks() bool { return o.useLLM || o.agent.value != "" || o.command.words != nil }
func (o *judging) isProgram() bool {
	return o.command.words != nil || o.agent.value != "" && o.agent.value != viaAPI
}

func (o *judging) given(names ...string) string {
	for _, name := range names {
		if o.flags != nil && o.flags.Changed(name) {
			return name
		}
	}
	return ""
}

func (o *judging) check() error {
	of := []string{"base-url", "temperature", "max-tokens", "format", "insecure-http"}
	server, any := o.given(of...), o.given(append(of, "certain", "model", "prompt", "timeout", "effort")...)
	switch {
	case !o.asks() && any != "":
		return misuse("add --judge claude, or --judge api", "--%s means nothing to the heuristic", any)
	case o.command.words != nil && o.agent.value != "":
		return misuse("give one of them", "--judge and --judge-command name two judges")
	case o.Timeout < 0 || o.Timeout > 10*time.Minute:
		return misuse("give a time such as 20s or 1m30s, at most 10m", "--timeout cannot be %v", o.Timeout)
	case o.isProgram() && server != "":
		return misuse("leave it out, or use --judge api", "--%s means nothing to a command", server)
	}
	return nil
}

// config says what is asked, after check. A server that cannot be asked is an error.
func (o *judging) config() (llm.Config, error) {
	cfg := o.Config
	cfg.Format, cfg.NoBreaker = o.format.value, true // one call, or a measurement
	if o.given("temperature") != "" {
		cfg.Temperature = &o.temperature
	}
	if o.isProgram() {
		cfg.Timeout = cmp.Or(o.Timeout, programTimeout)
		cfg.Command = o.program()
		return cfg, nil
	}
	cfg.Model = o.modelName()
	cfg.Key = strings.TrimSpace(os.Getenv("OPENAI_API_KEY"))
	cfg.BaseURL = cmp.Or(o.BaseURL, os.Getenv("OPENAI_BASE_URL"))
	if cfg.Key == "" && cfg.BaseURL == "" {
		return cfg, misuse("use an agent's login: --judge claude; or set OPENAI_API_KEY, or name a server that needs "+
			"no key: --base-url http://localhost:11434/v1", "no LLM: there is neither a key nor a base URL")
	}
	return cfg, nil
}

func (o *judging) program() llm.Command {
	return llm.Command{Agent: o.agent.value, Args: o.command.words}
}

func (o *judging) modelName() string {
	switch {
	case !o.isProgram():
		return cmp.Or(o.Model, os.Getenv("SIDECOACH_MODEL"), defaultModel)
	case o.command.words != nil:
		return cmp.Or(o.Model, filepath.Base(o.command.words[0]))
	}
	return strings.TrimSpace(o.agent.value + " " + o.Model)
}

func (o *judging) judge(cfg llm.Config, heuristic *classify.Heuristic) (*llm.Classifier, error) {
	client, err := llm.NewClient(cfg)
	if err != nil {
		return nil, misuse("look at --model and --base-url (https, or with --insecure-http), OPENAI_API_KEY, "+
			"OPENAI_BASE_URL and SIDECOACH_MODEL", "the LLM cannot be used: %s", strings.TrimPrefix(err.Error(), "llm: "))
	}
	opts := llm.Options{Heuristic: heuristic}
	if o.given("prompt") != "" {
		opts.Prompt = os.DirFS(o.prompt)
		if !isFolder(o.prompt) { // to open a pipe may block
			err = errors.New("it is not a folder")
		}
	}
	var judge *llm.Classifier
	if err == nil {
		judge, err = llm.New(client, opts)
	}
	if err != nil {
		return nil, badInput("compare with the built-in prompt, which sidecoach prompt DIR writes to DIR",
			"the prompt %q cannot be used: %s", o.prompt, strings.TrimPrefix(err.Error(), "llm: "))
	}
	return judge, nil
}

// classifier returns the classifier of a single decision. If the LLM has no answer, the heuristic answers, and the
// decision says why.
func (o *judging) classifier(phrases ...classify.Option) (classify.Classifier, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	heuristic, err := classify.NewHeuristic(phrases...)
	if err != nil || !o.asks() {
		return heuristic, err
	}
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	return o.beside(heuristic, cfg)
}

// beside returns the LLM of a configuration beside the heuristic.
func (o *judging) beside(heuristic *classify.Heuristic, cfg llm.Config) (classify.Classifier, error) {
	judge, err := o.judge(cfg, heuristic)
	switch {
	case err != nil:
		return nil, err
	case o.certain != 0:
		return classify.Cascade(heuristic, judge, o.certain), nil
	}
	return classify.Fallback(judge, heuristic), nil
}

func newPrompt() *cobra.Command {
	return command("prompt DIR", cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error {
		if args[0] == "" {
			return misuse("sidecoach prompt my-prompt", "the folder has no name: is its variable set?")
		}
		if err := os.CopyFS(args[0], llm.Prompt()); err != nil {
			return badInput("name a new folder: no file is overwritten", "cannot write the prompt to %q: %v", args[0],
				cause(err))
		}
		return nil
	})
}
