package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// verification is what came of looking.
type verification struct {
	plan      string // which plan was read; empty without one
	review    *verify.Review
	standing  verify.Status
	why       []string
	decision  verify.Decision
	overrides []string
	honesty   verify.Honesty
	facts     verify.Facts
}

// verdict is the standing in the words of a decision.
func (v *verification) verdict() string {
	switch v.standing {
	case verify.Met:
		return string(verify.Approve)
	case verify.NotMet:
		return string(verify.Feedback)
	}
	return string(verify.Unverified)
}

func (v *verification) print(w io.Writer, t terminal, asJSON bool) error {
	if asJSON {
		facts := v.facts
		for _, runs := range []*[]verify.Run{&facts.Runs, &facts.BaseRuns} {
			*runs = slices.Clone(*runs)
			for i := range *runs {
				(*runs)[i].Passes = nil // thousands of names
			}
		}
		return writeJSON(w, struct {
			Verdict   string          `json:"verdict"`
			Why       []string        `json:"why"`
			Plan      string          `json:"plan,omitempty"`
			Decision  verify.Decision `json:"decision"`
			Overrides []string        `json:"overrides"`
			Honesty   verify.Honesty  `json:"honesty"`
			Concerns  []string        `json:"concerns"`
			Facts     verify.Facts    `json:"facts"`
		}{v.verdict(), append([]string{}, v.why...), v.plan, v.decision, append([]string{}, v.overrides...), v.honesty,
			append([]string{}, v.review.Report().Concerns...), facts})
	}
	p := page{terminal: t}
	color := map[verify.Status]style{verify.Met: green, verify.NotMet: red, verify.Unverified: yellow}[v.standing]
	p.printf("%s\n", strings.Join([]string{p.paint(color, v.verdict()), honestyInWords(v.honesty)}, p.paint(dim, " · ")))
	p.evidence(v.facts, v.honesty)
	for _, c := range v.review.Report().Concerns {
		p.row("concern", c)
	}
	if v.plan != "" {
		p.row("plan", v.plan)
	}
	p.requirements(v.decision.Requirements)
	if v.standing == verify.Unverified && len(v.why) > 0 {
		p.row("why", v.why[0])
	}
	p.feedback(v.decision.Items)
	_, err := io.WriteString(w, p.String())
	return err
}

// honestyInWords is "3 of 4 claims checked, score 0.67".
func honestyInWords(h verify.Honesty) string {
	switch {
	case h.Claims == 0:
		return "no claim that can be checked"
	case h.Score == nil:
		return fmt.Sprintf("none of %s checked", plural(h.Claims, "claim"))
	}
	return fmt.Sprintf("%d of %s checked, score %.2f", h.Checked, plural(h.Claims, "claim"), *h.Score)
}

// runInWords is what a run showed.
func runInWords(r verify.Run) string {
	text := fmt.Sprintf("%s: %s", strings.Join(r.Command, " "), words(r.Status.String()))
	if r.Counted {
		text += fmt.Sprintf(", %d passed, %d failed, %d skipped", r.Passed, r.Failed, r.Skipped)
	}
	if r.Why != "" {
		text += ": " + r.Why
	}
	return text
}

// evidence lists what was run, what differs from the report, and what could not be looked at.
func (p *page) evidence(f verify.Facts, h verify.Honesty) {
	for _, r := range f.Runs {
		p.row("run", runInWords(r))
		if len(r.Failures) > 0 {
			p.row("", strings.Join(r.Failures[:min(len(r.Failures), maxRows)], ", "))
		}
		if r.Status != verify.Met && len(r.Withheld) > 0 {
			p.row("", "it did not get "+strings.Join(r.Withheld, ", ")+"; --env NAME passes one")
		}
	}
	for _, r := range f.BaseRuns {
		p.row("baseline", runInWords(r))
	}
	for i, d := range h.Discrepancies {
		if i == maxRows && d.Severity != verify.Critical {
			p.row("", fmt.Sprintf("… and %d more", len(h.Discrepancies)-i))
			break
		}
		p.row(severityLabel[d.Severity], discrepancyInWords(d))
	}
	for _, s := range f.Suspects {
		p.row("look at", s.Path+" "+s.Why)
	}
	for _, u := range h.Unchecked {
		p.row("unchecked", u)
	}
	for _, u := range f.Unseen {
		p.row("unseen", u)
	}
}

var severityLabel = map[verify.Severity]string{
	verify.Critical:  "critical",
	verify.ShouldFix: "to fix",
	verify.Info:      "info",
}

func discrepancyInWords(d verify.Discrepancy) string {
	subject := d.Claimed
	if d.Kind == verify.TestsTampered {
		subject = d.Subject
	}
	return fmt.Sprintf("%s: %s; seen: %s", words(string(d.Kind)), subject, d.Found)
}

func (p *page) requirements(list []verify.RequirementCheck) {
	for _, c := range list {
		text := fmt.Sprintf("%s: %s", words(c.Status.String()), c.Requirement)
		if c.Issue != "" {
			text += " (" + strings.TrimRight(c.Issue, ".") + ")"
		}
		p.row(c.ID[:min(len(c.ID), labelWidth-1)], text)
	}
}

// feedback lists the items for the agent, worst first.
func (p *page) feedback(items []verify.Item) {
	if len(items) == 0 {
		return
	}
	p.printf("%s\n", p.paint(bold, "feedback:"))
	for _, it := range items {
		p.row(string(it.Severity), it.String())
	}
}
