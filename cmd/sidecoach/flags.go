package main

import (
	"cmp"
	"fmt"
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
