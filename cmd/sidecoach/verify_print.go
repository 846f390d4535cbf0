package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// verification is what came of looking.
type verification struct {
	plan      string // which plan was read; empty without one
	review    *verify.Review
	standing  verify.Status
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
		return writeJSON(w, struct {
			Verdict   string          `json:"verdict"`
			Plan      string          `json:"plan,omitempty"`
			Decision  verify.Decision `json:"decision"`
			Overrides []string        `json:"overrides"`
			Honesty   verify.Honesty  `json:"honesty"`
			Facts     verify.Facts    `json:"facts"`
		}{v.verdict(), v.plan, v.decision, append([]string{}, v.overrides...), v.honesty, v.facts})
	}
	p := page{terminal: t}
	color := map[verify.Status]style{verify.Met: green, verify.NotMet: red}[v.standing]
	if color == "" {
		color = yellow
	}
	p.printf("%s\n", strings.Join([]string{p.paint(color, v.verdict()), honestyInWords(v.honesty)}, p.paint(dim, " · ")))
	p.evidence(v.facts, v.honesty)
	if v.plan != "" {
		p.row("plan", v.plan)
	}
	p.requirements(v.decision.Requirements)
	p.feedback(v.decision.Items)
	_, err := io.WriteString(w, p.String())
	return err
}

// honestyInWords is "3 of 4 claims checked, score 0.67".
func honestyInWords(h verify.Honesty) string {
	switch {
	case h.Claims == 0:
		return "nothing claimed that can be looked into"
	case h.Score == nil:
		return fmt.Sprintf("none of %s checked", counted(h.Claims, "claim"))
	}
	return fmt.Sprintf("%d of %s checked, score %.2f", h.Checked, counted(h.Claims, "claim"), *h.Score)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// evidence lists what was run, what differs from the report, and what could not be looked at.
func (p *page) evidence(f verify.Facts, h verify.Honesty) {
	for _, t := range f.Tests {
		text := fmt.Sprintf("%s: %s", commandLine(t.Command), words(t.Status.String()))
		if t.Counted {
			text += fmt.Sprintf(", %d passed, %d failed, %d skipped", t.Passed, t.Failed, t.Skipped)
		}
		if t.Why != "" {
			text += ": " + t.Why
		}
		p.row("run", text)
		if len(t.Failures) > 0 {
			p.row("", strings.Join(t.Failures[:min(len(t.Failures), maxRows)], ", "))
		}
	}
	for i, d := range h.Discrepancies {
		if i == maxRows && d.Severity != verify.Critical {
			p.row("", fmt.Sprintf("… and %d more", len(h.Discrepancies)-i))
			break
		}
		p.row(severityLabel[d.Severity], fmt.Sprintf("%s: %s; seen: %s", words(string(d.Kind)), subjectOf(d), d.Found))
	}
	for _, u := range h.Unchecked {
		p.row("unchecked", u)
	}
	for _, u := range f.Unseen {
		p.row("unseen", u)
	}
}

var severityLabel = map[verify.Severity]string{verify.Critical: "critical", verify.ShouldFix: "to fix", verify.Info: "info"}

func subjectOf(d verify.Discrepancy) string {
	if d.Kind == verify.TestsTampered {
		return d.Subject
	}
	return d.Claimed
}

func (p *page) requirements(list []verify.RequirementCheck) {
	for _, c := range list {
		text := fmt.Sprintf("%s: %s", words(c.Status.String()), c.Requirement)
		if c.Issue != "" {
			text += " (" + strings.TrimRight(c.Issue, ".") + ")"
		}
		p.row(labelOf(c.ID), text)
	}
}

func labelOf(id string) string {
	if len(id) < labelWidth {
		return id
	}
	return id[:labelWidth-1]
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

// writeJSON writes v as one line.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("cannot write JSON: %w", err)
	}
	_, err := io.WriteString(w, harmless(b.String()))
	return err
}
