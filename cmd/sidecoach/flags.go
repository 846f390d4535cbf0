package main

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

// choice is a flag that takes one of some words, in any letter case. An empty value means that the flag was not given,
// so a script can pass an unset variable on.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "NAME" }

func (c *choice) Set(s string) error {
	for _, word := range append(slices.Clip(c.allowed), "") {
		if strings.EqualFold(s, word) {
			c.value = word
			return nil
		}
	}
	return fmt.Errorf("it is one of: %s", strings.Join(c.allowed, ", "))
}

func texts[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return texts
}

type number[T int | float64] struct {
	to   *T
	most T
}

func (n number[T]) String() string { return strconv.FormatFloat(float64(*n.to), 'f', -1, 64) }
func (n number[T]) Type() string   { return "X" }

func (n number[T]) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= float64(n.most)) || float64(T(x)) != x {
		return fmt.Errorf("it is a number from 0 to %v", n.most)
	}
	*n.to = T(x)
	return nil
}

// commandLine is a flag with a command line that needs no shell. Empty is none.
type commandLine struct {
	line  string
	words []string
}

func (c *commandLine) String() string { return c.line }
func (c *commandLine) Type() string   { return "COMMAND" }

func (c *commandLine) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		*c = commandLine{}
		return nil
	}
	words, err := cmdwitness.Split(s)
	if err == nil {
		*c = commandLine{s, words}
	}
	return err
}

// bind adds flags, given as names and pointers to their values. Each value is the default. The file help/flags.txt
// explains them, see [document].
func bind(f *pflag.FlagSet, namesAndValues ...any) {
	for pair := range slices.Chunk(namesAndValues, 2) {
		name := pair[0].(string)
		switch to := pair[1].(type) {
		case *string:
			f.StringVar(to, name, *to, "")
		case *bool:
			f.BoolVar(to, name, *to, "")
		case *int:
			f.IntVar(to, name, *to, "")
		case *[]string:
			f.StringArrayVar(to, name, *to, "")
		case *time.Duration:
			f.DurationVar(to, name, *to, "")
		default:
			f.Var(to.(pflag.Value), name, "")
		}
	}
}

type policyFlags struct {
	most      int     // 0 continues nothing
	threshold float64 // 0 switches the check off
}

func (o *policyFlags) register(f *pflag.FlagSet) {
	o.most, o.threshold = autocontinue.DefaultMaxContinues, classify.DefaultThreshold
	bind(f, "max-continues", number[int]{&o.most, 1000}, "threshold", number[float64]{&o.threshold, 1})
}

func (o *policyFlags) policy() autocontinue.Policy {
	return autocontinue.Policy{
		MaxContinues:  cmp.Or(o.most, autocontinue.Never),
		MinConfidence: cmp.Or(o.threshold, autocontinue.NoGate),
	}
}

// openPlan opens the working tree dir and returns the plan's name in it, with slashes and without links. The plan is a
// regular file in the tree. Of an empty name, there is no tree. Beside an error, the tree has no file to open.
func openPlan(dir, name string) (tree fs.FS, local string, err error) {
	if name == "" {
		return nil, "", nil
	}
	file := name
	if !filepath.IsAbs(name) {
		file = filepath.Join(dir, name)
	}
	for _, path := range []*string{&dir, &file} {
		if err == nil {
			*path, err = filepath.Abs(*path)
		}
		if err == nil {
			*path, err = filepath.EvalSymlinks(*path)
		}
	}
	if err == nil {
		local, err = filepath.Rel(dir, file)
	}
	var root *os.Root
	switch {
	case err != nil:
	case !filepath.IsLocal(local):
		err = errors.New("it lies outside the working tree")
	case !modeOf(file).IsRegular(): // to open a named pipe would wait for its writer
		err = errors.New("it is not a regular file")
	default:
		root, err = os.OpenRoot(dir) // the end of the process closes it
	}
	if err != nil {
		err = badInput("--plan takes the name of a Markdown file in the working tree", "cannot use the plan %q: %v",
			name, cause(err))
		return noPlan{err}, filepath.Base(name), err
	}
	return root.FS(), filepath.ToSlash(local), nil
}

// noPlan is the working tree of a plan that cannot be opened.
type noPlan struct{ err error }

func (n noPlan) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: n.err}
}

// readRegular reads a file that is no pipe: to open one would wait for its writer.
func readRegular(name string) ([]byte, error) {
	if exists(name) && !modeOf(name).IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return os.ReadFile(name)
}

// modeOf returns the mode of what a name stands for, without any permission if it cannot be told.
func modeOf(name string) fs.FileMode {
	info, err := os.Stat(name)
	if err != nil {
		return fs.ModeIrregular
	}
	return info.Mode()
}

func exists(name string) bool { return modeOf(name) != fs.ModeIrregular }

// notEmpty returns what is wrong with flags that were given without a value. A script whose variable is unset would
// lose its guards without a word.
func notEmpty(cmd *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return misuse("give it a value or leave it out", "--%s is empty: is its variable set?", name)
		}
	}
	return nil
}

// command returns a command with flags, see [bind].
func command(
	use string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error, namesAndValues ...any,
) *cobra.Command {
	cmd := &cobra.Command{Use: use, Args: args, RunE: run}
	bind(cmd.Flags(), namesAndValues...)
	return cmd
}

//go:embed help/*.txt help/topics/*.txt
var helpTexts embed.FS

// document gives c, and the commands below it, their help and completion. A file of the folder help has a headline, a
// text, and examples.
func document(c *cobra.Command) {
	file := strings.ReplaceAll(strings.TrimPrefix(c.CommandPath(), "sidecoach "), " ", "_")
	if text, err := helpTexts.ReadFile("help/" + file + ".txt"); err == nil {
		text, example, _ := strings.Cut(string(text), "\nExamples:\n")
		c.Short, c.Long, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
		c.Example = strings.TrimRight(example, "\n")
	}
	c.DisableFlagsInUseLine, c.Flags().SortFlags = true, false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		f.Usage = usage(f, c.CommandPath())
		if v, ok := f.Value.(*choice); ok {
			_ = c.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(v.allowed, cobra.ShellCompDirectiveNoFileComp))
		}
	})
	if run := c.RunE; run != nil {
		c.RunE = func(cmd *cobra.Command, args []string) error { return noDecision(run(cmd, args), showHuman) }
	}
	for _, below := range c.Commands() {
		document(below)
	}
}

// flagTexts are the usages of flags in help/flags.txt, by the names of the command and the flag.
var flagTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	all, _ := helpTexts.ReadFile("help/flags.txt") // it is there
	for line := range strings.Lines(string(all)) {
		name, usage, _ := strings.Cut(strings.TrimSpace(line), ": ")
		texts[name] = usage
	}
	return texts
})

// usage returns the usage of a flag: that of its command, of a command above it, or of all commands.
func usage(f *pflag.Flag, path string) string {
	text := flagTexts()[f.Name]
	words := strings.Fields(strings.TrimPrefix(path, "sidecoach "))
	for i := range words {
		text = cmp.Or(flagTexts()[strings.Join(words[:i+1], " ")+" "+f.Name], text)
	}
	if c, ok := f.Value.(*choice); ok {
		text = strings.ReplaceAll(text, "%s", strings.Join(c.allowed, ", "))
	}
	return text
}

//go:embed licences.txt
var licences string

// topics are what sidecoach help tells of, beside the commands.
func topics() []*cobra.Command {
	f := new(pflag.FlagSet)
	new(judgeFlags).register(f)
	f.VisitAll(func(flag *pflag.Flag) { flag.Usage = usage(flag, "") })
	judge, _ := helpTexts.ReadFile("help/topics/judge.txt") // it is there
	return []*cobra.Command{
		{Use: "judge", Short: "The flags that choose and tune a judge", Long: "These flags choose and tune a judge. " +
			"sidecoach, hook install, eval and\nreplay take them.\n\n" + f.FlagUsagesWrapped(80) + "\n" + string(judge)},
		{Use: "licences", Short: "The licences of the modules in this program", Long: licences},
	}
}

// version describes the binary, and the modules in it, from what the linker wrote into it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown\n"
	}
	return fmt.Sprintf("%s %s\n%ssidecoach help licences prints the licences of the modules.\n",
		cmp.Or(info.Main.Version, "(devel)"), info.GoVersion, info)
}

const (
	defaultModel   = "gpt-4.1-mini"
	viaAPI         = "api"            // the judge behind a server
	programTimeout = 40 * time.Second // a host waits for a hook, so a program gets less than a hook has
)

// judgeFlags are the flags of the commands that judge outputs. Other values come from the environment. Files have no
// say: an agent may write to a project's folder, and must not choose where its output goes.
type judgeFlags struct {
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

func (o *judgeFlags) register(f *pflag.FlagSet) {
	o.registerJudge(f)
	bind(f, "model", &o.Model, "prompt", &o.prompt)
}

// registerJudge adds the flags that do not choose between models or prompts.
func (o *judgeFlags) registerJudge(f *pflag.FlagSet) {
	o.flags, o.NoBreaker = f, true // one call, or a measurement
	o.agent.allowed = append([]string{viaAPI}, llm.Agents()...)
	o.format.allowed = llm.Formats()
	bind(f, "llm", &o.useLLM, "judge", &o.agent, "judge-command", &o.command, "certain", number[float64]{&o.certain, 1},
		"base-url", &o.BaseURL, "insecure-http", &o.InsecureHTTP, "timeout", &o.Timeout, "effort", &o.Effort,
		"temperature", number[float64]{&o.temperature, 2}, "max-tokens", &o.MaxTokens, "format", &o.format)
}

// asks reports whether an LLM judges, and isProgram whether it is the command line of an agent or of the user.
func (o *judgeFlags) asks() bool { return o.useLLM || o.agent.value != "" || o.command.words != nil }
func (o *judgeFlags) isProgram() bool {
	return o.command.words != nil || o.agent.value != "" && o.agent.value != viaAPI
}

func (o *judgeFlags) given(names ...string) string {
	for _, name := range names {
		if o.flags != nil && o.flags.Changed(name) {
			return name
		}
	}
	return ""
}

func (o *judgeFlags) check() error {
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
func (o *judgeFlags) config() (llm.Config, error) {
	cfg := o.Config
	cfg.Format = o.format.value
	if o.given("temperature") != "" {
		cfg.Temperature = &o.temperature
	}
	if o.isProgram() {
		cfg.Timeout = cmp.Or(o.Timeout, programTimeout)
		cfg.Command = llm.Command{Agent: o.agent.value, Args: o.command.words}
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

func (o *judgeFlags) modelName() string {
	switch {
	case !o.isProgram():
		return cmp.Or(o.Model, os.Getenv("SIDECOACH_MODEL"), defaultModel)
	case o.command.words != nil:
		return cmp.Or(o.Model, filepath.Base(o.command.words[0]))
	}
	return strings.TrimSpace(o.agent.value + " " + o.Model)
}

func (o *judgeFlags) judge(heuristic *classify.Heuristic) (*llm.Classifier, error) {
	cfg, err := o.config()
	if err != nil {
		return nil, err
	}
	client, err := llm.NewClient(cfg)
	if err != nil {
		return nil, misuse("look at --model and --base-url (https, or with --insecure-http), OPENAI_API_KEY, "+
			"OPENAI_BASE_URL and SIDECOACH_MODEL", "the LLM cannot be used: %s", strings.TrimPrefix(err.Error(), "llm: "))
	}
	opts := llm.Options{Heuristic: heuristic}
	if o.given("prompt") != "" {
		opts.Prompt = os.DirFS(o.prompt)
		if !modeOf(o.prompt).IsDir() { // to open a pipe may block
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
func (o *judgeFlags) classifier(phrases ...classify.Option) (classify.Classifier, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	heuristic, err := classify.NewHeuristic(phrases...)
	if err != nil || !o.asks() {
		return heuristic, err
	}
	return o.withHeuristic(heuristic)
}

// withHeuristic returns the LLM beside the heuristic.
func (o *judgeFlags) withHeuristic(heuristic *classify.Heuristic) (classify.Classifier, error) {
	judge, err := o.judge(heuristic)
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
