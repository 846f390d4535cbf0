package classify

// Feature is a named property of an output on which the heuristic's verdict rests. In a name, @ says where a rule of the
// lexicon was found, + and - join properties: "claim+hedge" is a claim beside a hedge, "claim-evidence" one without evidence.
type Feature struct {
	Name  string
	Value float64
}

// features derives what the verdict is computed from. A rule of the lexicon counts by where it was found: in the last
// sentence, among the last three, in the first two, anywhere.
func (rd *reading) features(req *reading, sh *sheet) {
	on := sh.add
	last, tail, head := rd.closing()
	sh.rules(rd.lex, [4]ruleSet{rd.any, last.rules, tail, head})
	claims := rd.count(claimEdit) + rd.count(claimDone)
	on("claims:2+", claims >= 2)
	on("claims:5+", claims >= 5)
	for _, lim := range [...]struct {
		name string
		n    int
	}{{"words:4+", 4}, {"words:13+", 13}, {"words:41+", 41}, {"words:121+", 121}, {"words:301+", 301}} {
		on(lim.name, rd.words >= lim.n)
	}
	on("sentences:1", rd.sentences == 1)
	on("sentences:0", rd.sentences == 0)

	// How it ends.
	on("ends:question", last.question)
	on("ends:question-before", !last.question && rd.questionNear())
	on("ends:colon", last.colon)
	on("ends:ellipsis", last.ellipsis)
	on("ends:item", last.kind == itemLine)
	on("ends:heading", last.kind == headingLine)
	on("ends:table", last.kind == tableLine)
	on("ends:open-fence", rd.openFence)
	on("ends:fence", rd.lastLine == fenceLine || rd.lastLine == fencedLine)
	on("ends:trace", rd.lastTrace)
	on("ends:code-span", last.tokens > 0 && last.code == last.tokens)

	// What it is made of.
	on("items", rd.lines[itemLine] > 0)
	on("items:6+", rd.lines[itemLine] >= 6)
	on("items:claims", rd.itemClaims > 0)
	on("items:claims:3+", rd.itemClaims >= 3)
	on("items:claims-most", rd.itemClaims > 0 && rd.itemClaims*2 >= rd.lines[itemLine])
	on("items-claims", rd.lines[itemLine] >= 3 && rd.itemClaims == 0)
	on("numbered", rd.numbered >= 2)
	on("headings", rd.lines[headingLine] > 0)
	on("headings:4+", rd.lines[headingLine] >= 4)
	on("table", rd.lines[tableLine] >= 2)
	on("quote", rd.lines[quotedLine] > 0)
	on("check-marks", rd.checkMarks > 0)
	on("crosses", rd.crosses > 0)
	on("boxes:ticked", rd.ticked > 0)
	on("boxes:open", rd.unticked > 0)
	fenced := 0
	for k, n := range rd.fences {
		fenced += n
		on(fenceFeatures[k], n > 0)
	}
	on("fence:most", fenced > 0 && fenced*8 > rd.words)
	on("fence:only", fenced > 0 && rd.sentences == 0 && rd.fences[codeFence]+rd.fences[editFence]+rd.fences[diffFence] == 0)
	on("fence:edit-open", rd.fences[editFence] > 0 && !rd.openFence)
	on("fence:edit+prose", rd.fences[editFence] > 0 && rd.lastLine.voice())
	on("prompts", rd.prompts > 0)
	on("results", rd.results > 0)
	on("results:3+", rd.results >= 3)
	on("numbers:3+", rd.numbers >= 3)
	on("numbers:8+", rd.numbers >= 8)
	on("numbers-long-text", rd.numbers >= 2 && rd.words < 120)
	on("files:documents", rd.files.documents > 0)
	on("files:documents-code", rd.files.documents > 0 && rd.files.code == 0)
	on("files:documents-most", rd.files.documents > 0 && rd.files.documents >= rd.files.code)
	on("files:code", rd.files.code > 0)
	on("files:code:4+", rd.files.code >= 4)
	on("files:code-documents", rd.files.code > 0 && rd.files.documents == 0)
	on("request:document-file", req.files.documents > 0)
	on("request:document-file-code", req.files.documents > 0 && req.files.code == 0)
	on("measures", rd.measures > 0)
	on("measures:3+", rd.measures >= 3)
	on("trace:voice", rd.traceVoice > 0)
	on("trace:data", rd.traceData > 1)
	on("questions", rd.questions > 0)
	on("questions:3+", rd.questions >= 3)
	for t, name := range scriptFeatures {
		on(name, rd.reader.tongue == tongue(t))
	}
	on("language:known", rd.fits())
	on("language:foreign", rd.foreign*3 > rd.words && !rd.fits())

	// What was asked for.
	asked := req.asks()
	on("request:none", asked.none)
	on("request:short", req.words > 0 && req.words <= 4)
	on("request:long", req.words > 100)
	on("request:pasted", asked.pasted)
	on("request:headed", req.lines[headingLine] > 0)
	on("request:listed", req.lines[itemLine] >= 2)
	on("request:question", asked.question)
	on("request:explain", asked.explain)
	on("request:change", asked.change)
	on("request:act", asked.act)
	on("request:document", asked.document)
	on("request:go", asked.goOn)
	on("request:greeting", asked.greeting)
	on("request:foreign", req.words > 0 && req.foreign*3 > req.words)

	// What only means something together.
	evidence := rd.kind(SignalEvidence)
	observed := rd.has(answerObserved)
	claim := rd.has(claimDone) || rd.has(claimEdit) || rd.has(claimTests) || rd.has(claimBuild) || rd.has(claimCommit) || rd.has(claimPullRequest)
	commit := rd.has(evidenceCommit) || rd.has(evidencePullRequest)
	on("act-request+claim", asked.act && claim)
	on("act-request+commit", asked.act && commit)
	on("commit+claim", commit && rd.has(claimCommit))
	on("commit-claim", commit && !rd.has(claimCommit))
	on("document-request+claim", asked.document && claim)
	on("document-request+long", asked.document && rd.words > 120)
	on("document-request-change", asked.document && !asked.change)
	on("go-request+claim", asked.goOn && claim)
	on("numbers+claim-evidence", rd.numbers >= 2 && claim && !evidence)
	on("observed+numbers", observed && rd.numbers >= 1)
	on("measures+claim", rd.measures > 0 && claim)
	on("measures+claim-evidence", rd.measures > 0 && claim && !evidence)
	on("measures+observed", rd.measures > 0 && observed)
	on("question-or", last.question && last.or)
	on("question-or-offer", last.question && last.or && rd.in(last.rules, offerFurther))
	on("question-items", !last.question && last.kind == itemLine && rd.questionNear())
	on("question+answer-request", last.question && asked.question && !claim)
	on("question+offer+answer-request", last.question && rd.in(last.rules, offerFurther) && asked.question)
	on("question-offer+answer-request", last.question && !rd.in(last.rules, offerFurther) && asked.question)
	on("question+change-request", last.question && asked.change && !asked.question)
	on("assumed+submit", rd.has(hedgeAssumed) && rd.has(claimSubmit))
	on("not-run+submit", rd.has(hedgeNotRun) && rd.has(claimSubmit))
	on("greeting-blocker", asked.greeting && rd.words < 60)
	doneHead := rd.in(head, claimDone) || rd.in(head, claimCommit) || rd.in(head, claimTests)
	editHead := rd.in(head, claimEdit) || rd.in(head, claimPast)
	onlyDocuments := rd.files.documents > 0 && rd.files.code == 0
	on("claim+documents-only", claim && onlyDocuments)
	on("claim-head+documents-only", doneHead && onlyDocuments)
	on("claim-evidence+documents-only", claim && !evidence && onlyDocuments)
	on("claim-evidence-documents", claim && !evidence && rd.files.documents == 0)
	on("document-request+documents", asked.document && rd.files.documents > 0)
	on("claim-head", doneHead)
	on("claim-head+question", doneHead && last.question)
	on("claim-head+question-or", doneHead && last.question && last.or)
	on("claim-head+question+offer", doneHead && last.question && rd.in(last.rules, offerFurther))
	on("claim-head+question-evidence", doneHead && last.question && !evidence)
	on("claim-edit-head+question", !doneHead && editHead && last.question)
	on("question-claim-head", !doneHead && !editHead && last.question)
	on("question-claim-head+offer", !doneHead && !editHead && last.question && rd.in(last.rules, offerFurther))
	on("question-claim-head-offer", !doneHead && !editHead && last.question && !rd.in(last.rules, offerFurther))
	on("claim-head+question+next", doneHead && last.question && rd.in(last.rules, offerNext))
	on("claim-edit-head+question+next", !doneHead && editHead && last.question && rd.in(last.rules, offerNext))
	on("question+next-claim", !claim && last.question && rd.in(last.rules, offerNext))
	on("claim-head-evidence", doneHead && !evidence)
	on("claim-head+evidence", doneHead && evidence)
	on("claim-head+goes-on", doneHead && (rd.in(last.rules, progressNext) || rd.in(last.rules, progressDoing)))
	on("claim-head+change-request", doneHead && asked.change && !asked.question)
	on("claim-head+act-request", doneHead && asked.act)
	on("claim-head+question-request", doneHead && asked.question)
	on("claim-head+document-request", doneHead && asked.document)
	on("claim+evidence", claim && evidence)
	on("claim-evidence", claim && !evidence)
	on("claim-evidence-observed", claim && !evidence && !observed)
	on("claim+hedge", claim && rd.kind(SignalHedge))
	on("claim+gap", claim && rd.kind(SignalGap))
	on("evidence-claim", !claim && evidence)
	on("evidence-gap-failure", evidence && !rd.has(gapUnfinished) && !rd.has(failureLeft))
	on("edit+question", claim && last.question)
	on("answer+question-request", asked.question && !claim)
	on("answer+explain-request", asked.explain && !claim)
	on("claim+question-request", asked.question && !asked.change && claim)
	on("claim+explain-request", asked.explain && !asked.change && claim)
	on("hedge-claim", rd.kind(SignalHedge) && !claim)
	on("tests-evidence", rd.has(claimTests) && !evidence)
	on("commit-evidence", (rd.has(claimCommit) || rd.has(claimPullRequest)) && !commit)
	on("short+claim-evidence", rd.words < 20 && claim && !evidence)
	on("claim+items-claims", claim && rd.lines[itemLine] >= 3 && rd.itemClaims == 0)
	on("items:claims-evidence", rd.itemClaims > 0 && !evidence)
	on("results+claim", rd.results > 0 && claim)
	on("claim+change-request", asked.change && claim && !evidence)
	on("code+change-request", asked.change && !asked.question && (rd.fences[codeFence] > 2 || rd.fences[editFence] > 0) && !evidence)
	on("code+question-request", asked.question && rd.fences[codeFence] > 0)
	on("nothing+change-request", asked.change && !claim && !evidence)
	on("nothing-found", rd.any == 0)
	on("short+crash", rd.words < 60 && rd.kind(SignalFailure))
	on("short+crash-claim", rd.words < 60 && rd.kind(SignalFailure) && !claim)
	on("head-crash", rd.in(head, failureCrash) || rd.in(head, failurePrefix) || head.has(rd.lex.exception))
	on("progress-last-claim", rd.in(last.rules, progressNext) && !claim)
	on("progress-last-question", (rd.in(last.rules, progressNext) || rd.in(last.rules, progressDoing)) && !last.question)
	on("offer-last+claim-evidence", rd.in(last.rules, offerFurther) && claim && !evidence)
	on("offer-last-claim", rd.in(last.rules, offerFurther) && !claim)
	on("offer-last+question", rd.in(last.rules, offerFurther) && last.question)
	on("question-last-offer", last.question && !rd.in(last.rules, offerFurther))
	on("question-last-claim", last.question && !claim)
	goesOn := rd.in(tail, progressNext) || rd.in(tail, progressDoing) || rd.in(tail, progressGerund)
	hedge := rd.has(hedgeShould) || rd.has(hedgeNotRun) || rd.has(hedgeBelief)
	asksHuman := rd.in(last.rules, questionAsk) || rd.in(last.rules, questionApproval) || rd.in(last.rules, questionConfirm)
	on("goes-on", goesOn)
	on("goes-on+question-request", goesOn && asked.question)
	on("goes-on+explain-request", goesOn && asked.explain)
	on("goes-on-tail", !goesOn && (rd.has(progressNext) || rd.has(progressDoing) || rd.has(progressGerund)))
	on("goes-on-last-submit", (rd.in(last.rules, progressNext) || rd.in(last.rules, progressDoing)) && !rd.has(claimSubmit))
	on("goes-on+submit", goesOn && rd.has(claimSubmit))
	on("goes-on+submit-hedge", goesOn && rd.has(claimSubmit) && !hedge)
	on("claim+goes-on", claim && goesOn)
	on("claim-goes-on", claim && !goesOn)
	on("claim-goes-on-evidence", claim && !goesOn && !evidence)
	on("hedge+goes-on", hedge && goesOn)
	on("hedge-goes-on", hedge && !goesOn)
	on("hedge-goes-on-claim", hedge && !goesOn && !claim)
	on("evidence-goes-on-hedge", evidence && !goesOn && !hedge)
	on("evidence+goes-on", evidence && goesOn)
	on("gap+goes-on", rd.kind(SignalGap) && goesOn)
	on("gap-goes-on", rd.kind(SignalGap) && !goesOn)
	on("admitted+evidence", rd.has(gapAdmitted) && evidence)
	on("admitted+claim", rd.has(gapAdmitted) && claim)
	on("part+claim", rd.has(gapPart) && claim)
	on("failure+goes-on", rd.kind(SignalFailure) && goesOn)
	on("failure-goes-on", rd.kind(SignalFailure) && !goesOn)
	on("failure-goes-on-claim", rd.kind(SignalFailure) && !goesOn && !claim)
	on("asks-last", asksHuman)
	on("asks-last-question-mark", asksHuman && !last.question)
	on("asks-last+question-mark", asksHuman && last.question)
	offers := rd.in(last.rules, offerFurther)
	on("asks-last+question-mark-offer", asksHuman && last.question && !offers)
	on("asks-last+question-mark-claim", asksHuman && last.question && !claim)
	on("asks-last+question-mark-claim-offer", asksHuman && last.question && !claim && !offers)
	on("question-only", last.question && !claim && !offers && !evidence)
	on("no-tests+claim", rd.has(gapNoTests) && claim)
	on("blocker-last", rd.in(last.rules, blockerNeed) || rd.in(last.rules, blockerRefuse))
	blocked := rd.in(last.rules, blockerNeed) || rd.in(last.rules, blockerThen)
	on("blocker-last+question-request", blocked && asked.question)
	on("blocker-last-question-request", blocked && !asked.question && !asked.none)
	on("blocker-last+pasted-request", blocked && asked.pasted)
	on("asks+pasted-request", asked.pasted && (rd.has(blockerNeed) || rd.has(blockerThen) || rd.has(questionAsk)))
	on("asks-tail+pasted-request", asked.pasted && (rd.in(tail, blockerNeed) || rd.in(tail, blockerThen) || rd.in(tail, questionAsk)))
	on("asks-tail-claim", !claim && (rd.in(tail, blockerNeed) || rd.in(tail, blockerThen) || rd.in(tail, questionAsk)))
	lead := rd.leadIn()
	leadBlocks := rd.in(lead.rules, blockerNeed) || rd.in(lead.rules, blockerThen) || rd.in(lead.rules, questionAsk)
	on("lead-in:blocker", leadBlocks)
	on("lead-in:blocker-claim", leadBlocks && !claim)
	on("lead-in:question", lead.question)
	on("lead-in:progress", rd.in(lead.rules, progressNext) || rd.in(lead.rules, progressDoing))
	on("lead-in:offer", rd.in(lead.rules, offerFurther) || rd.in(lead.rules, offerNext))
	on("lead-in:claim", rd.in(lead.rules, claimDone) || rd.in(lead.rules, claimEdit) || rd.in(lead.rules, claimPast))
	on("blocker-last+question-mark", blocked && last.question)
	on("blocker-head", rd.in(head, blockerNeed) || rd.in(head, blockerRefuse))
	on("blocker-head-claim", (rd.in(head, blockerNeed) || rd.in(head, blockerRefuse)) && !claim)
	on("blocker-tail-claim-goes-on", rd.in(tail, blockerNeed) && !claim && !goesOn)
	on("blocker-claim", rd.kind(SignalBlocker) && !claim)
	on("short-claim-progress", rd.words < 20 && !claim && !goesOn)
	on("short-request-change", rd.words < 13 && asked.change)
	on("short+request-question", rd.words < 13 && asked.question)
	on("short+request-explain", rd.words < 13 && asked.explain)
}

var scriptFeatures = [nTongues]string{"script:english", "script:latin", "script:cyrillic", "script:chinese", "script:japanese"}

var fenceFeatures = [nFenceKinds]string{"fence:plain", "fence:shell", "fence:code", "fence:diff", "fence:edit"}

// closing returns the last sentence, and the rules found in the last three and the first two.
func (rd *reading) closing() (last seen, tail, head ruleSet) {
	for i := range min(3, rd.sentences) {
		tail |= rd.nth(i).rules
	}
	for i := range min(2, rd.sentences) {
		head |= rd.head[i].rules
	}
	if rd.sentences > 0 {
		last = *rd.nth(0)
	}
	return last, tail, head
}

// nth returns the nth sentence from the end, 0 the last.
func (rd *reading) nth(i int) *seen { return &rd.tail[(rd.sentences-1-i)%len(rd.tail)] }

// questionNear reports whether a question stands shortly before the end and only list items follow it, its options.
func (rd *reading) questionNear() bool {
	for i := range min(len(rd.tail), rd.sentences) {
		s := rd.nth(i)
		if s.question {
			return true
		}
		if s.kind != itemLine && i > 0 {
			return false
		}
	}
	return false
}

// leadIn returns the sentence before the list with which the text ends, as far back as the last ones go.
func (rd *reading) leadIn() seen {
	for i := range min(len(rd.tail), rd.sentences) {
		if s := rd.nth(i); s.kind != itemLine {
			if i == 0 {
				break
			}
			return *s
		}
	}
	return seen{}
}

// fits reports whether the text is in the lexicon's language.
func (rd *reading) fits() bool {
	return rd.common*9 >= rd.words && rd.words > 0 || rd.words <= 12 && rd.any != 0 && rd.foreign*3 <= rd.words
}

// asked is what the human's request calls for.
type asked struct {
	none, pasted, question, explain, change, act, document, goOn, greeting bool
}

func (rd *reading) asks() asked {
	first, last := seen{}, seen{}
	if rd.sentences > 0 {
		first, last = rd.head[0], *rd.nth(0)
	}
	q := first.question || last.question || rd.sentences > 0 && rd.in(first.rules, requestQuestion)
	return asked{
		none: rd.words == 0, pasted: isPasted(rd.text), question: q,
		explain: rd.has(requestExplain), change: rd.has(requestChange), act: rd.has(requestAct), document: rd.has(requestDocument),
		goOn: rd.has(requestGo) && rd.words <= 12, greeting: rd.has(requestGreet) && rd.words <= 4,
	}
}
