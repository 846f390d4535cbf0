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
	review   *verify.Review
	standing verify.Status

	Verdict   string          `json:"verdict"`
	Why       []string        `json:"why"`
	Plan      string          `json:"plan,omitempty"` // which one was read
	Decision  verify.Decision `json:"decision"`
	Overrides []string        `json:"overrides"`
	Honesty   verify.Honesty  `json:"honesty"`
	Concerns  []string        `json:"concerns"`
	Facts     verify.Facts    `json:"facts"`
}

// standings are the standings in the words of a decision, with the exit statuses of --exit-code.
var standings = map[verify.Status]struct {
	verdict string
	color   style
	exit    exit
}{
	verify.Met:        {string(verify.Approve), green, 0},
	verify.NotMet:     {string(verify.Feedback), red, 10},
	verify.Unverified: {string(verify.Unverified), yellow, 12},
}

func (v *verification) print(w io.Writer, t terminal, asJSON bool) error {
	if asJSON {
		for _, runs := range []*[]verify.Run{&v.Facts.Runs, &v.Facts.BaseRuns} {
			*runs = slices.Clone(*runs)
			for i := range *runs {
				(*runs)[i].Passes = nil // thousands of names
			}
		}
		return writeJSON(w, v)
	}
	p := page{terminal: t}
	p.printf("%s%s%s\n", p.paint(standings[v.standing].color, v.Verdict), p.paint(dim, " · "), honestyInWords(v.Honesty))
	p.evidence(v.Facts, v.Honesty)
	p.rows("concern", v.Concerns)
	p.row("plan", v.Plan)
	for _, c := range v.Decision.Requirements {
		text := fmt.Sprintf("%s: %s", words(c.Status.String()), c.Requirement)
		if c.Issue != "" {
			text += " (" + strings.TrimRight(c.Issue, ".") + ")"
		}
		p.row(c.ID[:min(len(c.ID), labelWidth-1)], text)
	}
	if v.standing == verify.Unverified && len(v.Why) > 0 {
		p.row("why", v.Why[0])
	}
	for i, it := range v.Decision.Items { // for the agent, worst first
		if i == 0 {
			p.printf("%s\n", p.paint(bold, "feedback:"))
		}
		p.row(string(it.Severity), it.String())
	}
	return p.print(w)
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
		p.row("", strings.Join(r.Failures[:min(len(r.Failures), maxRows)], ", "))
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
		p.row(strings.Replace(words(string(d.Severity)), "should fix", "to fix", 1), discrepancyInWords(d))
	}
	for _, s := range f.Suspects {
		p.row("look at", s.Path+" "+s.Why)
	}
	p.rows("unchecked", h.Unchecked)
	p.rows("unseen", f.Unseen)
}

func discrepancyInWords(d verify.Discrepancy) string {
	subject := d.Claimed
	if d.Kind == verify.TestsTampered {
		subject = d.Subject
	}
	return fmt.Sprintf("%s: %s; seen: %s", words(string(d.Kind)), subject, d.Found)
}
