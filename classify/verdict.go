package classify

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// verdict turns what was read and how likely each class is into a result.
type verdict struct {
	rd, req *reading
	host    []Evidence
	work    Work
	p       row
}

// maxUnread is the confidence that a verdict on a text in no known language has at most.
const maxUnread = 0.60

func (v *verdict) result() Result {
	if v.rd.unclear(v.req.asksQuestion()) {
		return Result{Type: Status, Reason: "unclear: the text has no words to judge", Source: "heuristic"}
	}
	r := Result{Source: "heuristic", Signals: v.rd.signals.list(), SignalsDropped: v.rd.signals.dropped}
	p := v.p
	r.Type, r.Confidence = Status, p[classRejected]+p[classProgress]
	for c, t := range classTypes {
		if p[c] > r.Confidence {
			r.Type, r.Confidence = t, p[c]
		}
	}
	if r.Type == Status {
		r.Confidence = v.sureOfStatus(r.Confidence)
	}
	r.WasRejectedCompletion = r.Type == Status && (p[classRejected] >= p[classProgress] && !v.announces() ||
		v.closesWithClaim() ||
		v.rd.has("claim.submit") && v.rd.has("hedge.cannot_check"))
	r.Reason = v.reason(r)
	if v.rd.fits() {
		r.Language = v.rd.language
	}
	for _, c := range corrections {
		if c.holds(v, r) {
			r.become(c.to, max(p[slices.Index(classTypes[:], c.to)], closingConfidence), c.reason)
			r.Reason = cmp.Or(c.reason, v.reason(r))
		}
	}
	v.weighHost(&r)
	r = v.weighWork(r)
	crash := r.Type == Error && (v.rd.traceVoice > 0 || v.rd.has("failure.exception"))
	if !v.rd.fits() && !crash && (v.rd.nWords >= 4 || v.rd.foreign > 0) && r.Confidence > maxUnread {
		r.Confidence = maxUnread
		r.Reason += "; in a language that no lexicon fits"
	}
	if v.rd.skipped {
		r.Confidence = min(r.Confidence, maxUnread)
		r.Reason += "; it is too long, and only its end was read"
	}
	r.Confidence = math.Round(min(r.Confidence, surest)*1000) / 1000
	return r
}

// weighWork lets the facts of the turn decide about a claim, as [Work.Weigh] says. Where they do, a claim shown is as
// good as a claim not shown, so that the output is a claim if those two together are likelier than anything else.
func (v *verdict) weighWork(r Result) Result {
	f := v.work.byFacts(r.Signals)
	if f.failed && !v.rd.has("claim.tests") && saysItFails().MatchString(v.rd.text) {
		f = finding{typ: Error, reason: "reports that its check failed"}
	}
	if f.typ == "" || r.Type != Completion && r.Type != Status {
		return r
	}
	claims, goesOn := v.p[classCompletion]+v.p[classRejected], v.p[classProgress]
	if f.typ == Status && r.Type == Status && f.unchecked && v.announces() {
		r.WasRejectedCompletion = false // its next step comes before the check
		return r
	}
	if r.Type == Status && goesOn > claims && (!f.unchecked || v.rd.goesOn()) {
		if f.typ != Status {
			r.Confidence = v.sureOfStatus(goesOn)
		}
		return r
	}
	if f.typ == Status {
		claims = v.sureOfStatus(claims + goesOn) // either is continued
	}
	r.become(f.typ, claims, f.reason)
	return r
}

// compiled returns a function that compiles expr when it is first called.
func compiled(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// saysItFails finds words by which a report admits that a check fails now.
var saysItFails = compiled("(?:`[^`\\n]+`|(?i:\\b(?:tests?|specs?|suite|checks?|build))\\b|" +
	`\b[Tt]est[\w.]+)[^.;\n]{0,40}` +
	`\b(?:(?:still |now )*fails?|(?:is|are) (?:still |now )*(?:failing|red|broken))\b`)

// The fit is more timid about statuses than it needs to be, and a status that is none is worst where it is a
// question, a blocker or an error. Held out by repositories, these two bring the confidence of a status near to how
// often it is right.
const (
	decisiveness = 1.8 // what the log-odds of a status are multiplied with
	caution      = 0.8 // how much more what needs a human counts against a status
)

// sureOfStatus returns the confidence in a status that is p likely.
func (v *verdict) sureOfStatus(p float64) float64 {
	p /= 1 + caution*(v.p[classError]+v.p[classBlocker]+v.p[classQuestion])
	a, b := math.Pow(p, decisiveness), math.Pow(1-p, decisiveness)
	return a / (a + b)
}

// announces reports whether the agent is at work: the text ends inside an edit or with a colon, it says at the end what
// it does next, or it says what comes next and claims nothing.
func (v *verdict) announces() bool {
	rd := v.rd
	switch {
	case rd.openFence && rd.lastLine == fencedLine, rd.last.colon && rd.lastLine.voice():
		return true
	case rd.last.question, rd.has("claim.submit"), rd.in(rd.last.rules, "offer.further", "blocker.then"):
		return false
	}
	next := rd.in(rd.last.rules, "progress.next", "progress.doing")
	if rd.has("claim.edit", "claim.done", "claim.tests", "claim.build", "hedge.should", "hedge.not_run",
		"hedge.cannot_check", "hedge.assumed") {
		return next
	}
	return rd.has("progress.next") && !rd.kind(signalPromise)
}

// closesWithClaim reports whether the last sentence claims a result or stands behind edits that the text shows, and
// names no further step.
func (v *verdict) closesWithClaim() bool {
	rd, last := v.rd, v.rd.last
	edits := rd.fences[editFence] > 0 && rd.lastLine.voice()
	return (rd.in(last.rules, "claim.done", "claim.edit", "hedge.should") || edits) && !last.question && !last.colon &&
		!rd.in(last.rules, "progress.next", "progress.doing") && !rd.openFence
}

// surest is the confidence that a verdict on words has at most.
const surest = 0.995

// closingConfidence is what a verdict has at least that rests on nothing but the question at the end.
const closingConfidence = 0.60

// leastQuestion is how likely a question has to be at the end of a report of more than longReport words: most of
// those only ask what is next.
const (
	leastQuestion = 0.15
	longReport    = 100
)

// corrections are what makes a verdict another one whatever the weights say, in order. Without a reason, the reason is
// that of the new type.
var corrections = [...]struct {
	holds  func(*verdict, Result) bool
	to     OutputType
	reason string
}{
	{(*verdict).cancelled, Error, "the run was stopped"},
	{(*verdict).honestFailure, Error, "reports a failure and leaves it there"},
	{(*verdict).shownResult, Completion, ""},
	{(*verdict).onlyDocuments, Completion, "reports a change of documents"},
	{(*verdict).onlyAnswers, Completion, "answers what was asked"},
	{(*verdict).onlyGit, Completion, "shows the commit or the pull request"},
	{(*verdict).onlyFiles, Completion, "reports an act on files"},
	{(*verdict).closingQuestion, Question, "ends with a question to the human"},
	{(*verdict).closingCondition, Question, "waits for an approval"},
}

// cancelled finds a status that ends with the note that the run was stopped.
func (v *verdict) cancelled(r Result) bool {
	return r.Type == Status && v.rd.in(v.rd.last.rules, "failure.cancelled")
}

// honestFailure finds a rejected completion that ends with a failure, and goes on with nothing: that is no false claim.
func (v *verdict) honestFailure(r Result) bool {
	return r.WasRejectedCompletion && v.rd.closes("failure.left") && !v.rd.closes("progress.next", "progress.doing")
}

// shownResult finds a status that shows how a check ended, or at its end what a command printed, and has no doubt, no
// gap and no further step. A further step that is only offered is none.
func (v *verdict) shownResult(r Result) bool {
	rd := v.rd
	shows := rd.any.has(rd.lex.tests) || rd.has("evidence.exit_code") || rd.in(rd.end, "evidence.command_output") ||
		rd.observed.shows() || rd.measured > 2
	offers := rd.observed.shows() && rd.in(rd.last.rules, "offer.further")
	goesOn := rd.closes("progress.next") && !offers || rd.closes("progress.doing", "progress.gerund")
	return r.Type == Status && shows && rd.fits() && !rd.kind(SignalHedge, SignalGap, SignalFailure) &&
		rd.lastFail <= rd.lastPass && !goesOn
}

// onlyDocuments finds a rejected completion that names documents and no other file, or is a few words on one, shows no
// code and claims no check: nothing in it can be run.
func (v *verdict) onlyDocuments(r Result) bool {
	rd, req := v.rd, v.req
	short := rd.nWords <= shortText && (rd.in(rd.head[0].rules, "answer.document") || req.namesDocs && !req.namesCode)
	return r.WasRejectedCompletion && (rd.namesDocs || short) && !rd.namesCode && rd.fits() && !rd.showsCode() &&
		!r.claimsCheck("")
}

// shortText is how many words a request or an output has at most that is only about one thing.
const shortText = 60

// Words, at most: of a request that is only a greeting, of one for a single look or command, and of its answer.
const (
	fewWords     = 4
	briefRequest = 12
	briefAnswer  = 40
)

// onlyAnswers finds a rejected completion that explains what a short request wants explained. It also finds one that
// claims no change and no check of its own, and announces nothing: it answers a question or a greeting, or thanks and
// offers more. And it finds one that claims nothing at all: it says what can be done.
func (v *verdict) onlyAnswers(r Result) bool {
	rd, req := v.rd, v.req
	asked := req.asksQuestion() && !req.has("request.change", "request.act") ||
		req.has("request.greet") && req.nWords <= fewWords ||
		req.has("request.explain", "request.act") && !req.has("request.change") && req.nWords <= briefRequest &&
			rd.nWords <= briefAnswer && (rd.numbers > 0 || rd.head[0].code > 0) // "check the status": it says what came out
	thanks := !rd.has("claim.done", "claim.past") && rd.closes("offer.further")
	claims := rd.has("claim.edit", "progress.next") || rd.fences != [nFenceKinds]int{} || r.claimsCheck(ClaimChecked)
	silent := rd.nWords > shortText && !rd.kind(SignalClaim, SignalProgress) && !rd.openFence
	return r.WasRejectedCompletion && rd.fits() && !rd.kind(SignalHedge) && ((asked || thanks || silent) && !claims ||
		asked && req.has("request.explain") && req.nWords <= shortText)
}

// onlyGit finds a short rejected completion that shows a commit or a pull request, claims no check, and was asked for
// an act.
func (v *verdict) onlyGit(r Result) bool {
	rd := v.rd
	return r.WasRejectedCompletion && rd.has("evidence.commit", "evidence.pull_request") && rd.fits() &&
		v.req.has("request.act") && rd.nWords <= shortText && !rd.has("claim.tests", "claim.build") && !rd.goesOn()
}

const longAct = 200 // words of an output that is about files as they are, at most

// onlyFiles finds a rejected completion that was asked in a few words to copy, move, rename, delete or download files,
// says that it did, shows no code and claims no check: nothing in it can be run.
func (v *verdict) onlyFiles(r Result) bool {
	rd, req := v.rd, v.req
	return r.WasRejectedCompletion && rd.fits() && req.has("request.file") && req.nWords <= shortText &&
		rd.nWords <= longAct && !rd.showsCode() && rd.kind(SignalClaim) && !rd.kind(SignalHedge) && !rd.goesOn() &&
		!r.claimsCheck("")
}

// claimsCheck reports whether a claim other than the one of that name calls for evidence.
func (r Result) claimsCheck(other string) bool {
	return slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Name != other && s.CallsFor() != "" })
}

// showsCode reports whether there is code in a fence.
func (rd *reading) showsCode() bool { return rd.fences[codeFence]+rd.fences[editFence] > 0 }

// closingQuestion finds a status that ends with a question to the human, however hollow what stands before it: who asks
// waits. A courtesy or a further offer ("want me to add tests too?") is none, unless it is about an act that wants an
// approval.
func (v *verdict) closingQuestion(r Result) bool {
	rd := v.rd
	reports := rd.in(rd.start, "claim.done", "claim.edit", "claim.past") && rd.nWords > longReport &&
		v.p[classQuestion] < leastQuestion
	offers := rd.in(rd.last.rules, "offer.further") && !rd.in(rd.last.rules, "question.approval", "question.act")
	return r.Type == Status && rd.last.question && rd.fits() && rd.lastLine != fenceLine && rd.lastLine != fencedLine &&
		!reports && !offers
}

// closingCondition finds an output whose end says that what comes next depends on the human's word, whatever the agent
// announces: "I'll start as soon as you approve".
func (v *verdict) closingCondition(r Result) bool {
	return r.Type != Error && r.Type != Question && v.rd.fits() && v.rd.closes("question.condition")
}

// weighHost lets what the host saw outweigh prose. What it saw fail last, or looked for and did not see, makes a
// claim of completion a rejected one; what it saw succeed makes one that was rejected for nothing but missing
// evidence a completion, if it is that evidence.
func (v *verdict) weighHost(r *Result) {
	var failed, absent, seen []string
	tests := false
	for _, e := range Latest(v.host) {
		switch {
		case e.Absent:
			absent = append(absent, words(e.Kind))
		case e.Failed:
			failed = append(failed, words(e.Kind))
		default:
			seen = append(seen, words(e.Kind))
		}
		tests = tests || e.Kind == EvidenceTests && e.shown()
	}
	rd := v.rd
	claims := r.WasRejectedCompletion || rd.has("claim.done", "claim.tests", "claim.build") || rd.kind(SignalEvidence)
	answers := (v.req.asksQuestion() || v.req.has("request.explain")) && !v.req.has("request.change") &&
		!rd.has("claim.tests") && r.Type == Completion
	admits := rd.has("hedge.not_run") || rd.kind(SignalGap)
	switch {
	case len(failed)+len(absent) > 0 && claims && !answers && (r.Type == Completion || r.WasRejectedCompletion):
		if tests { // something else failed, and the tests passed: the text decides
			return
		}
		saw := "no " + strings.Join(absent, ", ")
		if len(failed) > 0 {
			saw = "a failure (" + strings.Join(failed, ", ") + ")"
		}
		r.become(Status, max(v.p[classCompletion]+v.p[classRejected]+v.p[classProgress], 0.9),
			"claims completion, but the host saw "+saw)
	case len(failed)+len(absent) == 0 && r.WasRejectedCompletion && !admits && len(r.Missing(nil)) > 0 &&
		len(r.Missing(v.host)) == 0 &&
		!(len(seen) == 1 && seen[0] == words(EvidenceOutput)):
		r.become(Completion, max(v.p[classCompletion]+v.p[classRejected], 0.9),
			"claims completion, and the host saw the evidence ("+strings.Join(seen, ", ")+")")
	}
}

// words names a kind of evidence in prose.
func words(k EvidenceKind) string { return strings.ReplaceAll(string(k), "_", " ") }

// reason says in words what spoke for the verdict.
func (v *verdict) reason(r Result) string {
	var shown []string
	if r.Type == Completion {
		for _, k := range r.Shown(nil) {
			shown = append(shown, words(k))
		}
	}
	return v.ground(r) + strings.Join(shown, ", ")
}

// ground names what spoke for the verdict, up to the evidence shown by a completion.
func (v *verdict) ground(r Result) string {
	rd := v.rd
	shows := len(r.Shown(nil)) > 0
	switch {
	case r.Type == Error && rd.has("failure.crash", "failure.exception"):
		return "the run broke and this is its error"
	case r.Type == Error && rd.has("failure.prefix"):
		return "opens with a failure and leaves it there"
	case r.Type == Error && rd.lastTrace:
		return "ends in a stack trace"
	case r.Type == Error:
		return "stops on a failure and leaves it there"
	case r.Type == Blocker && rd.has("blocker.refuse"):
		return "refuses, or can't go on by itself"
	case r.Type == Blocker:
		return "can't go on without something from outside"
	case r.Type == Question && (rd.in(rd.last.rules, "question.approval") ||
		!rd.last.question && rd.has("question.approval")):
		return "waits for an approval"
	case r.Type == Question && rd.last.question:
		return "ends with a question to the human"
	case r.Type == Question:
		return "leaves a decision or an input to the human"
	case r.Type == Completion && shows:
		return "shows its result: "
	case r.Type == Completion && rd.kind(SignalClaim):
		return "reports a result that it can stand on"
	case r.Type == Completion:
		return "answers what was asked"
	case !r.WasRejectedCompletion && rd.has("progress.next", "progress.doing", "progress.gerund"):
		return "is at work and says what comes next"
	case !r.WasRejectedCompletion:
		return "progress, with no result and no question yet"
	case shows:
		return "claims completion, but what it shows does not carry the claim"
	case !rd.kind(SignalClaim) && rd.kind(signalPromise):
		return "promises instead of showing work"
	case rd.has("hedge.not_run") && rd.kind(SignalClaim):
		return "claims completion with nothing run"
	case rd.kind(SignalHedge) && rd.kind(SignalClaim):
		return "claims completion with a hedge and without evidence"
	case rd.kind(SignalGap) && rd.kind(SignalClaim):
		return "claims completion, admits that a part is missing, and shows no evidence"
	case rd.kind(SignalClaim):
		return "claims completion without evidence"
	}
	return "reads like a result without evidence"
}
