package classify

import "math/bits"

// namedRule is a rule of the lexicon that code asks for by name.
type namedRule uint8

const (
	answerObserved namedRule = iota
	blockerNeed
	blockerRefuse
	blockerThen
	claimBuild
	claimCommit
	claimDone
	claimEdit
	claimPast
	claimPullRequest
	claimSubmit
	claimTests
	evidenceCommit
	evidencePullRequest
	failureCrash
	failureException
	failureLeft
	failurePrefix
	gapAdmitted
	gapNoTests
	gapPart
	gapUnfinished
	hedgeAssumed
	hedgeBelief
	hedgeNotRun
	hedgeShould
	offerFurther
	offerNext
	progressDoing
	progressGerund
	progressNext
	questionAct
	questionApproval
	questionAsk
	questionCondition
	questionConfirm
	requestAct
	requestChange
	requestDocument
	requestExplain
	requestGo
	requestGreet
	requestQuestion
	nNamedRules
)

// ruleNames are the names. A host's table may have no such rule; then it holds nowhere.
var ruleNames = [nNamedRules]string{
	answerObserved:      "answer.observed",
	blockerNeed:         "blocker.need",
	blockerRefuse:       "blocker.refuse",
	blockerThen:         "blocker.then",
	claimBuild:          "claim.build",
	claimCommit:         "claim.commit",
	claimDone:           "claim.done",
	claimEdit:           "claim.edit",
	claimPast:           "claim.past",
	claimPullRequest:    "claim.pull_request",
	claimSubmit:         "claim.submit",
	claimTests:          "claim.tests",
	evidenceCommit:      "evidence.commit",
	evidencePullRequest: "evidence.pull_request",
	failureCrash:        "failure.crash",
	failureException:    "failure.exception",
	failureLeft:         "failure.left",
	failurePrefix:       "failure.prefix",
	gapAdmitted:         "gap.admitted",
	gapNoTests:          "gap.no_tests",
	gapPart:             "gap.part",
	gapUnfinished:       "gap.unfinished",
	hedgeAssumed:        "hedge.assumed",
	hedgeBelief:         "hedge.belief",
	hedgeNotRun:         "hedge.not_run",
	hedgeShould:         "hedge.should",
	offerFurther:        "offer.further",
	offerNext:           "offer.next",
	progressDoing:       "progress.doing",
	progressGerund:      "progress.gerund",
	progressNext:        "progress.next",
	questionAct:         "question.act",
	questionApproval:    "question.approval",
	questionAsk:         "question.ask",
	questionCondition:   "question.condition",
	questionConfirm:     "question.confirm",
	requestAct:          "request.act",
	requestChange:       "request.change",
	requestDocument:     "request.document",
	requestExplain:      "request.explain",
	requestGo:           "request.go",
	requestGreet:        "request.greet",
	requestQuestion:     "request.question",
}

// has reports whether the rule was found anywhere in the text.
func (rd *reading) has(r namedRule) bool { return rd.any&rd.lex.named[r] != 0 }

// in reports whether a set holds the rule.
func (rd *reading) in(s ruleSet, r namedRule) bool { return s&rd.lex.named[r] != 0 }

// count returns how often the rule was found.
func (rd *reading) count(r namedRule) int {
	if set := rd.lex.named[r]; set != 0 {
		return rd.counts[bits.TrailingZeros64(uint64(set))]
	}
	return 0
}

// kind reports whether any rule of the kind was found.
func (rd *reading) kind(k SignalKind) bool { return rd.any&rd.lex.kinds[k] != 0 }
