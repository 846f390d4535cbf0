package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// choice is a flag that takes one of some words, in any letter case. An empty one is a flag that was not given, so that
// a script can pass an unset variable on.
type choice struct {
	value   string
	allowed []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return "NAME" }

func (c *choice) Set(s string) error {
	i := slices.IndexFunc(c.allowed, func(word string) bool { return strings.EqualFold(s, word) })
	switch {
	case i >= 0:
		c.value = c.allowed[i]
	case s == "":
		c.value = ""
	default:
		return fmt.Errorf("it is one of: %s", strings.Join(c.allowed, ", "))
	}
	return nil
}

// threshold is a flag that takes a confidence from 0 to 1; 0 switches the check off.
type threshold float64

func (t *threshold) String() string {
	short, exact := strconv.FormatFloat(float64(*t), 'f', 2, 64), strconv.FormatFloat(float64(*t), 'f', -1, 64)
	if len(exact) > len(short) {
		return exact
	}
	return short
}

func (t *threshold) Type() string { return "X" }

func (t *threshold) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 0 && x <= 1) {
		return errors.New("it is a number from 0 to 1, such as 0.80; 0 switches the rule off")
	}
	*t = threshold(x)
	return nil
}

// mostContinues is a flag that takes how often a turn may be continued; 0 is never.
type mostContinues int

func (m *mostContinues) String() string { return strconv.Itoa(int(*m)) }
func (m *mostContinues) Type() string   { return "N" }

func (m *mostContinues) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1000 {
		return errors.New("it is a whole number from 0, which continues nothing, to 1000")
	}
	*m = mostContinues(n)
	return nil
}

// policy returns the threshold as a policy has it, where 0 is the default.
func (t threshold) policy() float64 { return cmp.Or(float64(t), autocontinue.NoGate) }

// policy returns the number as a policy has it, where 0 is the default.
func (m mostContinues) policy() int { return cmp.Or(int(m), autocontinue.Never) }

// patience is a flag that takes how long an LLM is waited for; 0 is the default.
type patience time.Duration

const mostPatience = patience(10 * time.Minute)

func (p *patience) Type() string { return "TIME" }

func (p *patience) String() string {
	if *p == 0 {
		return ""
	}
	return time.Duration(*p).String()
}

func (p *patience) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > time.Duration(mostPatience) {
		return errors.New("it is a time with its unit, such as 500ms, 20s or 1m30s, and at most 10m")
	}
	*p = patience(d)
	return nil
}

// flagError puts what the flag parser found into our words.
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

// atMost checks how many arguments a command has. The hint may be empty.
func atMost(n int, hint string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := cmp.Or(hint, cmd.CommandPath()+" --help shows how it is used")
		switch {
		case len(args) <= n:
			return nil
		case n == 0:
			return misuse(hint, "%s takes no arguments", cmd.Name())
		}
		return misuse(hint, "%s takes at most %s, not %d", cmd.Name(), plural(n, "argument"), len(args))
	}
}

// nearest returns the flag that a misspelt one was probably meant to be, or "". The library knows how to find a command
// that way, so flags are put to it as commands.
func nearest(flags *pflag.FlagSet, name string) string {
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	flags.VisitAll(func(f *pflag.Flag) {
		names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	near := names.SuggestionsFor(name)
	if len(near) == 0 {
		return ""
	}
	return near[0]
}
