package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify"
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

// checked is a flag with a value of its own form. Its error is a hint.
type checked[T any] struct {
	to    *T
	kind  string // what the help calls the value
	show  func(T) string
	parse func(string) (T, error)
}

func (c checked[T]) String() string { return c.show(*c.to) }
func (c checked[T]) Type() string   { return c.kind }

func (c checked[T]) Set(s string) error {
	v, err := c.parse(s)
	if err == nil {
		*c.to = v
	}
	return err
}

// confidence is a flag with a value from 0 to 1.
func confidence(to *float64) pflag.Value {
	return checked[float64]{to, "X", func(x float64) string {
		short, exact := strconv.FormatFloat(x, 'f', 2, 64), strconv.FormatFloat(x, 'f', -1, 64)
		if len(exact) > len(short) {
			return exact
		}
		return short
	}, func(s string) (float64, error) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 0 && x <= 1) {
			return 0, errors.New("it is a number from 0 to 1, such as 0.80; 0 switches the rule off")
		}
		return x, nil
	}}
}

// patience is a flag with a time to wait for an LLM; 0 is the default.
func patience(to *time.Duration) pflag.Value {
	return checked[time.Duration]{to, "TIME", func(d time.Duration) string {
		return strings.TrimPrefix(d.String(), "0s")
	}, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 || d > 10*time.Minute {
			return 0, errors.New("it is a time with its unit, such as 500ms, 20s or 1m30s, and at most 10m")
		}
		return d, nil
	}}
}

// command is a flag with a command line that needs no shell. Empty is none.
type command struct {
	line  string
	words []string
}

func (c *command) String() string { return c.line }
func (c *command) Type() string   { return "COMMAND" }

func (c *command) Set(s string) error {
	if strings.TrimSpace(s) == "" {
		*c = command{}
		return nil
	}
	words, err := cmdwitness.Split(s)
	if err == nil {
		*c = command{s, words}
	}
	return err
}

// absolute returns the command line with an absolute path of its program, if that is a path and not a name.
func (c command) absolute() (string, error) {
	if c.words == nil || filepath.Base(c.words[0]) == c.words[0] || filepath.IsAbs(c.words[0]) {
		return c.line, nil
	}
	program, err := filepath.Abs(c.words[0])
	line := ""
	for _, word := range append([]string{program}, c.words[1:]...) {
		line += " '" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return strings.TrimSpace(line), err
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

// policyFlags are the flags of the loop.
type policyFlags struct {
	most      int     // 0 continues nothing
	threshold float64 // 0 switches the check off
}

func (o *policyFlags) register(f *pflag.FlagSet) {
	o.most, o.threshold = autocontinue.DefaultMaxContinues, classify.DefaultThreshold
	most := checked[int]{&o.most, "N", strconv.Itoa, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > 1000 {
			return 0, errors.New("it is a whole number from 0, which continues nothing, to 1000")
		}
		return n, nil
	}}
	bind(f, "max-continues", most, "threshold", confidence(&o.threshold))
}

// policy returns the policy, in which 0 is the default.
func (o *policyFlags) policy() autocontinue.Policy {
	return autocontinue.Policy{
		MaxContinues:  cmp.Or(o.most, autocontinue.Never),
		MinConfidence: cmp.Or(o.threshold, autocontinue.NoGate),
	}
}

func noFlags() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.SortFlags = false
	return f
}

// flagError puts an error of the flag parser into our words.
func flagError(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		hint := e.Unwrap().Error()
		if e.GetFlag().Value.Type() == "bool" {
			hint = "leave the value out, or give true or false"
		}
		return misuse(hint, "--%s cannot be %q", e.GetFlag().Name, e.GetValue())
	}
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := e.GetSpecifiedName()
		given := "--" + name
		if short := e.GetSpecifiedShortnames(); short != "" {
			name, given = short, "-"+short
		}
		if near := nearest(cmd.Flags(), name); near != "" {
			return misuse("did you mean --"+near+"?", "unknown flag %s", given)
		}
		return misuse(cmd.CommandPath()+" --help lists them", "unknown flag %s", given)
	}
	return misuse(cmd.CommandPath()+" --help shows how it is used", "%v", err)
}

func withoutArguments(use string, run func(*cobra.Command) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Args: atMost(0), ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd) },
	}
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := cmd.CommandPath() + " --help shows how it is used"
		switch {
		case len(args) <= n:
			return nil
		case n == 0:
			return misuse(hint, "%s takes no arguments", cmd.Name())
		}
		return misuse(hint, "%s takes at most %s, not %d", cmd.Name(), plural(n, "argument"), len(args))
	}
}

// nearest returns the flag that a misspelt one probably means, or "". Cobra suggests commands, so the flags become
// commands.
func nearest(flags *pflag.FlagSet, name string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	flags.VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	return append(names.SuggestionsFor(name), "")[0]
}
