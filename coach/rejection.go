package coach

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// findings are the values of fields.Finding: what is known about a rejected completion.
var findings = [...]string{"", "failed", "unchanged", "unchecked", "hidden", "unable", "gap", "claim"}

// claims are the claims of a check, in the order in which they are asked for. Their names are values of fields.Kind.
var claims = [...]string{
	classify.ClaimTests, classify.ClaimBuild, classify.ClaimTypes, classify.ClaimLint,
	classify.ClaimPullRequest, classify.ClaimPush, classify.ClaimCommit,
}

// passing are the claims that a check passed. They are often misread, so only a certain one is said.
var passing = claims[:4]

// kindNames are the names of claims for what a host saw.
var kindNames = map[classify.CheckKind]string{
	classify.CheckTest: classify.ClaimTests, classify.CheckBuild: classify.ClaimBuild,
	classify.CheckLint:   classify.ClaimLint,
	classify.CheckCommit: classify.ClaimCommit, classify.CheckPush: classify.ClaimPush,
	classify.CheckPull: classify.ClaimPullRequest,
}

// evidenceNames are the same for evidence. A command may be any check.
var evidenceNames = map[classify.EvidenceKind]string{
	classify.EvidenceTests: classify.ClaimTests, classify.EvidenceCommit: classify.ClaimCommit,
	classify.EvidencePullRequest: classify.ClaimPullRequest,
}

// rejection fills the fields that say why a completion was not accepted and what to do.
func (f *fields) rejection(r classify.Result, in Context) {
	stated, claimed := claimedChecks(r, in)
	claimsChange := slices.ContainsFunc(r.Signals, func(s classify.Signal) bool {
		return s.Kind == classify.SignalClaim && (s.Name == classify.ClaimEdit || s.Name == "done")
	})
	work := changed(r, in)
	fitting := work.fitting()
	named := namedChecks(r, in)
	checks := slices.DeleteFunc(slices.Clone(named), func(c check) bool { return !work.fits(c.command) })
	hasTests := func(c check) bool { return c.kind == classify.ClaimTests }
	refuted := f.facts(in, stated, claimsChange)
	switch {
	case len(checks) == 0 && len(named) > 0: // what it checked is not what it changed
		claimed = nil
	case fitting == "docs" && len(stated) == 0: // the commands are what the document says
		checks = nil
	case !refuted && slices.Contains(r.Shown(in.Evidence), classify.EvidenceTests):
		checks = slices.DeleteFunc(checks, hasTests)
	case fitting == "tests" && !slices.Contains(stated, classify.ClaimTests) &&
		!slices.ContainsFunc(checks, hasTests): // only its tests show a change of tests
		claimed, checks = nil, nil
	}
	if !refuted {
		f.words(r, in, claimed, checks)
	}
	if f.Kind == "" && len(claimed) > 0 && !slices.Contains(passing, claimed[0]) {
		f.Kind = claimed[0]
	}
	claims := func(s classify.Signal) bool { return s.Kind == classify.SignalClaim && s.Name != "will_do" }
	if in.Work.Edited == "" && len(r.Signals) > 0 && !slices.ContainsFunc(r.Signals, claims) && onlyListing(in.Text) {
		fitting = "apply" // it shows code, and does not say that it changed anything
	}
	switch f.Finding {
	case "failed", "hidden":
		checks = nil // its own command, or none: that of another check would be false
	case "", "unchecked":
		bare := f.Finding == "" && fitting == "any" && !slices.Contains(stated, classify.ClaimTests) // it may have no tests
		if len(checks) == 0 && !bare && f.Criterion == "" && f.Hint == "" {
			checks = work.own(fitting)
		}
	}
	f.Ask = f.ask(fitting, checks)
	if f.Finding == "" && in.Work.Edited == "" && onlyEdits(in.Text) {
		f.Ask = "read"
	}
	if f.Ask == "command" && f.Command == "" {
		f.commands(checks, claimed)
	}
}

// claimedChecks returns the checks that the output claims, and those that it claims without showing them.
func claimedChecks(r classify.Result, in Context) (all, unshown []string) {
	shown := r.Shown(in.Evidence)
	for _, name := range claims {
		for _, s := range r.Signals {
			if s.Kind == classify.SignalEvidence && s.Name == string(classify.EvidenceTests) && name == classify.ClaimTests {
				all = append(all, name)
			}
			if s.Kind == classify.SignalClaim && claimKind(in.Text, s) == name {
				all = append(all, name)
				switch calls := (classify.Signal{Kind: s.Kind, Name: name}).CallsFor(); {
				case calls != "" && slices.Contains(shown, calls):
				case calls == classify.EvidenceExitCode && slices.Contains(shown, classify.EvidenceOutput):
				case calls == classify.EvidenceCommit && slices.Contains(shown, classify.EvidencePullRequest):
				default:
					unshown = append(unshown, name)
				}
			}
		}
	}
	return slices.Compact(all), slices.Compact(unshown)
}

// claimKind returns which check a claim is about: its name or, in "`npm test` passed", what the command checks.
func claimKind(text string, s classify.Signal) string {
	if s.Name != classify.ClaimChecked {
		return s.Name
	}
	for _, command := range commandsIn(text[s.Start:s.End]) {
		if kind, ok := knownCheck(command); ok {
			return kind
		}
	}
	return s.Name
}

// facts says what the host saw, if it refutes the report: the checks that it claims, or that it changed something.
func (f *fields) facts(in Context, claimed []string, changed bool) bool {
	w := in.Work
	edited := w.Edited == classify.EditedCode || w.Edited == classify.EditedDocs ||
		w.Edited == classify.EditedNone && (w.Session == classify.EditedCode || w.Session == classify.EditedDocs)
	for _, kind := range claimed {
		outcome, ran := w.Outcome(kind)
		switch {
		case ran && outcome == classify.OutcomeFailed:
			return f.find("failed", kind, w)
		case ran && outcome == classify.OutcomeUnknown:
			return f.find("hidden", kind, w)
		case !ran && edited:
			return f.find("unchecked", kind, w)
		}
	}
	if w.Session == classify.EditedNone && len(w.Checks) == 0 && len(claimed) == 0 && changed {
		return f.find("unchanged", "", w)
	}
	if w.Edited == classify.EditedCode {
		checks := slices.DeleteFunc(slices.Clone(w.Checks), func(c classify.Check) bool {
			return c.Kind == classify.CheckCommit || c.Kind == classify.CheckPush || c.Kind == classify.CheckPull
		})
		if len(checks) == 0 {
			return f.find("unchecked", "", w)
		}
		switch last := checks[len(checks)-1]; last.Outcome {
		case classify.OutcomeFailed:
			return f.find("failed", kindNames[last.Kind], w)
		case classify.OutcomeUnknown:
			return f.find("hidden", kindNames[last.Kind], w)
		}
	}
	for _, e := range classify.Latest(in.Evidence) {
		switch kind := evidenceNames[e.Kind]; {
		case e.Absent:
			return f.find("unchecked", kind, w)
		case e.Failed && (kind == "" || kind == classify.ClaimTests):
			return f.find("failed", kind, w)
		}
	}
	return false
}

// find notes a finding, and the command and the file that it is about.
func (f *fields) find(finding, kind string, w classify.Work) bool {
	f.Finding, f.Kind = finding, kind
	if finding == "failed" || finding == "hidden" {
		for _, c := range slices.Backward(w.Checks) {
			if kindNames[c.Kind] == kind && (c.Outcome == classify.OutcomeFailed) == (finding == "failed") {
				if _, ok := knownCheck(c.Command); ok && len(c.Command) <= maxCommand {
					f.Command = c.Command
				}
				break
			}
		}
	}
	for _, file := range slices.Backward(w.Files) {
		kind, base := kindOfFile(file)
		if finding == "unchecked" && (kind != "docs" || w.Edited == classify.EditedDocs) {
			f.File = cmp.Or(safePath(file), safePath(base))
			break
		}
	}
	return true
}

// words says what the output itself shows, as far as it is certain.
func (f *fields) words(r classify.Result, in Context, claimed []string, checks []check) {
	if slices.ContainsFunc(r.Signals, classify.Signal.SaysWhyUnchecked) {
		f.Finding = "unable"
		return
	}
	if f.Quote = quote(in.Text, r.Signals, classify.SignalGap, "admitted", maxGap); f.Quote != "" {
		f.Finding = "gap"
		return
	}
	if len(claimed) == 0 || expression("passedInFence").MatchString(in.Text[max(0, len(in.Text)-maxRead):]) {
		return
	}
	r.Signals = slices.DeleteFunc(slices.Clone(r.Signals), func(s classify.Signal) bool {
		return besideResult(in.Text, s)
	})
	f.Quote = quote(in.Text, r.Signals, classify.SignalClaim, claimed[0], maxClaim)
	if f.Quote != "" {
		f.Finding, f.Kind = "claim", claimed[0]
		return
	}
	for _, name := range claimed {
		if command, ok := certainClaim(in.Text, r, name, checks); ok {
			f.Finding, f.Kind, f.Claimed = "claim", name, command
			return
		}
	}
}

// besideResult reports whether a number stands in the line behind a signal, or a fence follows it: that may be the
// result.
func besideResult(text string, s classify.Signal) bool {
	line, rest, _ := strings.Cut(text[s.End:], "\n")
	return strings.ContainsAny(line, "0123456789") || strings.HasPrefix(strings.TrimSpace(rest), "```")
}

// certainClaim reports whether a sentence states, in English or about a command, that a check of this kind passed, and
// nothing makes that doubtful: no instruction, no condition, nothing before or after it that changes what it says. It
// returns the command that the sentence is about, if any.
func certainClaim(text string, r classify.Result, kind string, checks []check) (command string, ok bool) {
	if !slices.Contains(passing, kind) {
		return "", false
	}
	sentences := classify.Sentences(text)
	for _, sig := range r.Signals {
		i := slices.IndexFunc(sentences, func(s classify.Sentence) bool { return s.Start <= sig.Start && sig.End <= s.End })
		if i < 0 || sig.Kind != classify.SignalClaim || claimKind(text, sig) != kind {
			continue
		}
		s := sentences[i]
		before, after := text[s.Start:sig.Start], strings.TrimLeft(text[sig.End:s.End], " \t*_✅✓")
		if doubtful(text[s.Start:s.End]) || len(words(before)) > 3 || after != "" && strings.IndexAny(after, ".,;:!(—–") != 0 {
			continue
		}
		if i := slices.IndexFunc(checks, func(c check) bool {
			return c.kind == kind && strings.Contains(text[sig.Start:sig.End], "`"+c.command+"`")
		}); i >= 0 {
			return checks[i].command, true
		}
		if (r.Language == "en" || r.Language == "") && sig.Name == kind {
			return "", true
		}
	}
	return "", false
}

// doubtful reports whether a sentence has a word that makes a claim in it uncertain.
func doubtful(sentence string) bool {
	return slices.ContainsFunc(words(folded(sentence)), func(w word) bool { return in(w, "doubt") })
}

// ask chooses what the agent must do. Fitting is the ask that fits what was changed.
func (f *fields) ask(fitting string, checks []check) string {
	switch f.Finding {
	case "unable":
		return "possible"
	case "unchanged", "gap":
		return "finish"
	}
	named := func(kind string) bool {
		return slices.ContainsFunc(checks, func(c check) bool { return kind == "" || c.kind == kind })
	}
	switch {
	case f.Command != "":
		return "command"
	case f.Kind != "":
		if named(f.Kind) {
			return "command"
		}
		return f.Kind
	case named(""):
		return "command"
	case f.Criterion != "":
		return "criterion"
	case f.Hint != "":
		return "hint"
	}
	return fitting
}

// commands takes the best one or two of the checks that the output names.
func (f *fields) commands(checks []check, claimed []string) {
	rank := func(c check) int {
		if c.kind == f.Kind {
			return -1
		}
		if i := slices.Index(claimed, c.kind); i >= 0 {
			return i
		}
		return len(claims) + slices.Index(claims[:], c.kind)
	}
	slices.SortStableFunc(checks, func(a, b check) int { return rank(a) - rank(b) })
	f.Command = checks[0].command
	for _, c := range checks[1:] {
		if c.kind != checks[0].kind && len(f.Command)+len(c.command) <= maxCommand {
			f.Second = c.command
			return
		}
	}
}

// safePath returns file if it is short and plain and gives no order.
func safePath(file string) string {
	if !expression("plainPath").MatchString(file) || unsafe(file) != "" {
		return ""
	}
	return file
}

// quote returns the sentence of the agent's own prose around the heaviest signal of a kind and a name, or "" if it
// may not be quoted. The sentence must be whole and plain. The signal must be most of it, so that it says that and
// nothing else.
func quote(text string, signals []classify.Signal, kind classify.SignalKind, name string, max int) string {
	signals = slices.DeleteFunc(slices.Clone(signals), func(s classify.Signal) bool {
		return s.Kind != kind || s.Name != name
	})
	slices.SortStableFunc(signals, func(a, b classify.Signal) int { return cmp.Compare(b.Weight, a.Weight) })
	if len(signals) == 0 {
		return ""
	}
	sentences := classify.Sentences(text)
	for _, sig := range signals {
		i := slices.IndexFunc(sentences, func(s classify.Sentence) bool {
			return s.Paragraph && s.Start <= sig.Start && sig.End <= s.End
		})
		if i < 0 {
			continue
		}
		sentence := text[sentences[i].Start:sentences[i].End]
		if expression("plainSentence").MatchString(sentence) && utf8.RuneCountInString(sentence) <= max &&
			5*(sig.End-sig.Start) >= 4*len(strings.TrimRight(sentence, ".!。！")) && unsafe(sentence) == "" {
			return plaintext.Line(sentence, max)
		}
	}
	return ""
}
