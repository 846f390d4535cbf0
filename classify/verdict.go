package classify

import (
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
		reason := "unclear: the text has no words to judge"
		if v.rd.skipped {
			reason = "unclear: its beginning and its end have no words to judge, there was no time for more"
		}
		return Result{Type: Status, Reason: reason, Source: "heuristic"}
	}
	r := Result{Source: "heuristic", Signals: v.rd.signals.list(), SignalsDropped: v.rd.signals.dropped}
	p := v.p
	r.Type, r.Confidence = Status, p[classRejected]+p[classProgress]
	for c, t := range [...]OutputType{Error, Blocker, Question, Completion} {
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
	v.cancelled(&r)
	v.honestFailure(&r)
	v.shownResult(&r)
	v.onlyDocuments(&r)
	v.onlyAnswers(&r)
	v.onlyGit(&r)
	v.onlyFiles(&r)
	v.closingQuestion(&r)
	v.closingCondition(&r)
	v.weighHost(&r)
	r = v.weighWork(r)
	crash := r.Type == Error && (v.rd.traceVoice > 0 || v.rd.has("failure.exception"))
	if !v.rd.fits() && !crash && (v.rd.nWords >= 4 || v.rd.foreign > 0) && r.Confidence > maxUnread {
		r.Confidence = maxUnread
		r.Reason += "; in a language that no lexicon fits"
	}
	if v.rd.skipped {
		r.Confidence = min(r.Confidence, maxUnread)
		r.Reason += "; only its beginning and its end were read, there was no time for more"
	}
	r.Confidence = math.Round(min(r.Confidence, surest)*1000) / 1000
	return r
}

// weighWork lets the facts of the turn decide about a claim, as [Work.Weigh] says. Where they do, a claim shown is as
// good as a claim not shown, so that the output is a claim if those two together are likelier than anything else.
func (v *verdict) weighWork(r Result) Result {
	f := v.work.judge(r.Signals)
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

// saysItFails finds words by which a report admits that a check fails now.
var saysItFails = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:`[^`\\n]+`|(?i:\\b(?:tests?|specs?|suite|checks?|build))\\b|\\b[Tt]est[\\w.]+)[^.;\\n]{0,40}" +
		`\b(?:(?:still |now )*fails?|(?:is|are) (?:still |now )*(?:failing|red|broken))\b`)
})

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
	last, _, _ := rd.closing()
	switch {
	case rd.openFence && rd.lastLine == fencedLine, last.colon && rd.lastLine.voice():
		return true
	case last.question, rd.has("claim.submit"), rd.in(last.rules, "offer.further"), rd.in(last.rules, "blocker.then"):
		return false
	}
	next := rd.in(last.rules, "progress.next") || rd.in(last.rules, "progress.doing")
	switch {
	case rd.has("claim.edit"), rd.has("claim.done"), rd.has("claim.tests"), rd.has("claim.build"):
		return next
	case rd.has("hedge.should"), rd.has("hedge.not_run"), rd.has("hedge.cannot_check"), rd.has("hedge.assumed"):
		return next
	}
	return rd.has("progress.next") && !rd.kind(signalPromise)
}

// closesWithClaim reports whether the last sentence claims a result or stands behind edits that the text shows, and names
// no further step.
func (v *verdict) closesWithClaim() bool {
	last, _, _ := v.rd.closing()
	at := func(rule string) bool { return v.rd.in(last.rules, rule) }
	edits := v.rd.fences[editFence] > 0 && v.rd.lastLine.voice()
	return (at("claim.done") || at("claim.edit") || at("hedge.should") || edits) && !last.question && !last.colon &&
		!at("progress.next") && !at("progress.doing") && !v.rd.openFence
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

// closingQuestion makes a status that ends with a question to the human a question, however hollow what stands before
// it: who asks waits. A courtesy or a further offer ("want me to add tests too?") is none, unless it is about an act
// that wants an approval.
func (v *verdict) closingQuestion(r *Result) {
	last, _, head := v.rd.closing()
	if r.Type != Status || !last.question || !v.rd.fits() || v.rd.lastLine == fenceLine || v.rd.lastLine == fencedLine {
		return
	}
	reports := v.rd.in(head, "claim.done") || v.rd.in(head, "claim.edit") || v.rd.in(head, "claim.past")
	if reports && v.rd.nWords > longReport && v.p[classQuestion] < leastQuestion {
		return
	}
	offer := v.rd.in(last.rules, "offer.further")
	if offer && !v.rd.in(last.rules, "question.approval") && !v.rd.in(last.rules, "question.act") {
		return
	}
	r.become(Question, max(v.p[classQuestion], closingConfidence), "ends with a question to the human")
}

// cancelled makes a status an error that ends with the note that the run was stopped.
func (v *verdict) cancelled(r *Result) {
	if last, _, _ := v.rd.closing(); r.Type == Status && v.rd.in(last.rules, "failure.cancelled") {
		r.become(Error, max(v.p[classError], closingConfidence), "the run was stopped")
	}
}

// honestFailure makes a rejected completion an error that ends with a failure, and goes on with nothing: that is no
// false claim.
func (v *verdict) honestFailure(r *Result) {
	if r.WasRejectedCompletion && v.rd.closes("failure.left") && !v.rd.closes("progress.next") &&
		!v.rd.closes("progress.doing") {
		r.become(Error, max(v.p[classError], closingConfidence), "reports a failure and leaves it there")
	}
}

// shownResult makes a status a completion that shows how a check ended, or at its end what a command printed, and has
// no doubt, no gap and no further step. A further step that is only offered is none.
func (v *verdict) shownResult(r *Result) {
	rd := v.rd
	last, tail, _ := rd.closing()
	shows := rd.any.has(rd.lex.tests) || rd.has("evidence.exit_code") || rd.in(tail, "evidence.command_output") ||
		rd.observed.shows() || rd.measured > 2
	offers := rd.observed.shows() && rd.in(last.rules, "offer.further")
	goesOn := rd.closes("progress.next") && !offers || rd.closes("progress.doing") || rd.closes("progress.gerund")
	if r.Type != Status || !shows || !rd.fits() || rd.kind(SignalHedge) || rd.kind(SignalGap) || rd.kind(SignalFailure) ||
		rd.lastFail > rd.lastPass || goesOn {
		return
	}
	r.become(Completion, max(v.p[classCompletion], closingConfidence), "")
	r.Reason = v.reason(*r)
}

// onlyDocuments makes a rejected completion a completion that names documents and no other file, or is a few words on
// one, and claims no check: nothing in it can be run.
func (v *verdict) onlyDocuments(r *Result) {
	rd, req := v.rd, v.req
	short := rd.nWords <= shortText && (rd.in(rd.head[0].rules, "answer.document") || req.namesDocs && !req.namesCode)
	if r.WasRejectedCompletion && (rd.namesDocs || short) && !rd.namesCode && rd.fits() &&
		rd.fences[codeFence]+rd.fences[editFence] == 0 &&
		!slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.CallsFor() != "" }) {
		r.become(Completion, max(v.p[classCompletion], closingConfidence), "reports a change of documents")
	}
}

// shortText is how many words a request or an output has at most that is only about one thing.
const shortText = 60

const fewWords = 4 // of a request that is only a greeting

// onlyAnswers makes a rejected completion a completion that explains what a short request wants explained. So is one
// that claims no change and no check of its own, and announces nothing: it answers a question or a greeting, or thanks
// and offers more. And so is one that claims nothing at all: it says what can be done.
func (v *verdict) onlyAnswers(r *Result) {
	rd, req := v.rd, v.req
	if !r.WasRejectedCompletion || !rd.fits() || rd.kind(SignalHedge) {
		return
	}
	asked := req.asksQuestion() && !req.has("request.change") && !req.has("request.act") ||
		req.has("request.greet") && req.nWords <= fewWords
	thanks := !rd.has("claim.done") && !rd.has("claim.past") && rd.closes("offer.further")
	claims := rd.has("claim.edit") || rd.has("progress.next") || rd.fences != [nFenceKinds]int{} ||
		slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Name != ClaimChecked && s.CallsFor() != "" })
	silent := rd.nWords > shortText && !rd.kind(SignalClaim) && !rd.kind(SignalProgress) && !rd.openFence
	if (asked || thanks || silent) && !claims || asked && req.has("request.explain") && req.nWords <= shortText {
		r.become(Completion, max(v.p[classCompletion], closingConfidence), "answers what was asked")
	}
}

// onlyGit makes a short rejected completion a completion that shows a commit or a pull request, claims no check, and was
// asked for an act.
func (v *verdict) onlyGit(r *Result) {
	rd := v.rd
	if r.WasRejectedCompletion && (rd.has("evidence.commit") || rd.has("evidence.pull_request")) && rd.fits() &&
		v.req.has("request.act") && rd.nWords <= shortText && !rd.has("claim.tests") && !rd.has("claim.build") && !rd.goesOn() {
		r.become(Completion, max(v.p[classCompletion], closingConfidence), "shows the commit or the pull request")
	}
}

// onlyFiles makes a rejected completion a completion that was asked in a few words to copy, move, rename, delete or
// download files, says that it did, shows no code and claims no check: nothing in it can be run.
func (v *verdict) onlyFiles(r *Result) {
	rd, req := v.rd, v.req
	if r.WasRejectedCompletion && rd.fits() && req.has("request.file") && req.nWords <= shortText &&
		rd.nWords <= longAct && rd.fences[codeFence]+rd.fences[editFence] == 0 &&
		rd.kind(SignalClaim) && !rd.kind(SignalHedge) && !rd.goesOn() &&
		!slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.CallsFor() != "" }) {
		r.become(Completion, max(v.p[classCompletion], closingConfidence), "reports an act on files")
	}
}

const longAct = 200 // words of an output that is about files as they are, at most

// closingCondition makes an output a question whose end says that what comes next depends on the human's word,
// whatever the agent announces: "I'll start as soon as you approve".
func (v *verdict) closingCondition(r *Result) {
	if r.Type == Error || r.Type == Question || !v.rd.fits() || !v.rd.closes("question.condition") {
		return
	}
	r.become(Question, max(v.p[classQuestion], closingConfidence), "waits for an approval")
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
	claims := r.WasRejectedCompletion || rd.has("claim.done") || rd.has("claim.tests") || rd.has("claim.build") ||
		rd.kind(SignalEvidence)
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
	reason := v.ground(r)
	if r.Type == Completion {
		for i, k := range r.Shown(nil) {
			if i > 0 {
				reason += ", "
			}
			reason += words(k)
		}
	}
	return reason
}

// ground names what spoke for the verdict, up to the evidence shown by a completion.
func (v *verdict) ground(r Result) string {
	rd := v.rd
	last, _, _ := rd.closing()
	at := func(r string) bool { return rd.in(last.rules, r) }
	shows := len(r.Shown(nil)) > 0
	switch {
	case r.Type == Error && (rd.has("failure.crash") || rd.has("failure.exception")):
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
	case r.Type == Question && (at("question.approval") || !last.question && rd.has("question.approval")):
		return "waits for an approval"
	case r.Type == Question && last.question:
		return "ends with a question to the human"
	case r.Type == Question:
		return "leaves a decision or an input to the human"
	case r.Type == Completion && shows:
		return "shows its result: "
	case r.Type == Completion && rd.kind(SignalClaim):
		return "reports a result that it can stand on"
	case r.Type == Completion:
		return "answers what was asked"
	case !r.WasRejectedCompletion && (rd.has("progress.next") || rd.has("progress.doing") || rd.has("progress.gerund")):
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
