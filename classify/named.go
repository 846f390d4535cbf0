package classify

// The rules of the lexicon that code asks for. A host's table may lack one; then it holds nowhere.
const (
	blockerNeed       = "blocker.need"
	blockerRefuse     = "blocker.refuse"
	blockerThen       = "blocker.then"
	claimBuild        = "claim.build"
	claimCommit       = "claim.commit"
	claimDone         = "claim.done"
	claimEdit         = "claim.edit"
	claimPast         = "claim.past"
	claimPullRequest  = "claim.pull_request"
	claimSubmit       = "claim.submit"
	claimTests        = "claim.tests"
	failureCrash      = "failure.crash"
	failureException  = "failure.exception"
	failurePrefix     = "failure.prefix"
	hedgeNotRun       = "hedge.not_run"
	offerFurther      = "offer.further"
	offerNext         = "offer.next"
	progressDoing     = "progress.doing"
	progressGerund    = "progress.gerund"
	progressNext      = "progress.next"
	questionAct       = "question.act"
	questionApproval  = "question.approval"
	questionCondition = "question.condition"
	requestAct        = "request.act"
	requestChange     = "request.change"
	requestDocument   = "request.document"
	requestExplain    = "request.explain"
	requestGo         = "request.go"
	requestGreet      = "request.greet"
	requestQuestion   = "request.question"
)

// has reports whether the rule was found anywhere in the text.
func (rd *reading) has(rule string) bool { return rd.in(rd.any, rule) }

// in reports whether a set holds the rule.
func (rd *reading) in(s ruleSet, rule string) bool {
	i, ok := rd.lex.byName[rule]
	return ok && s.has(i)
}

// kind reports whether any rule of the kind was found.
func (rd *reading) kind(k SignalKind) bool { return rd.any&rd.lex.kinds[k] != 0 }
