package classify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Features returns the names of what the verdict on in is computed from, for those who tune the tables: the rules of
// the lexicon by where they were found, what is said of the text as a whole, and the words and pairs of neighbours.
// The name of a word begins with where it stands: "any ", "end " or "start ".
func (h *Heuristic) Features(in Input) []string {
	rd, req, err := h.read(in, true)
	if err != nil {
		return nil
	}
	return append(features(rd, req), rd.words.names()...)
}

// features names what holds of a text and its request. A rule of the lexicon counts by where it was found: anywhere,
// in the last sentence, among the last three, in the first two.
func features(rd, req *reading) []string {
	last, tail, head := rd.last, rd.end, rd.start
	var names []string
	on := func(name string, holds bool) {
		if holds {
			names = append(names, name)
		}
	}
	for i := range rd.lex.rules {
		bit := ruleSet(1) << i
		if rd.any&bit == 0 || rd.lex.rules[i].kind == "request" {
			continue
		}
		name := string(rd.lex.rules[i].kind) + "." + rd.lex.rules[i].name
		on(name, true)
		on(name+"@last", last.rules&bit != 0)
		on(name+"@end", tail&bit != 0)
		on(name+"@start", head&bit != 0)
	}
	question, change := req.asksQuestion(), req.has("request.change")
	evidence := rd.kind(SignalEvidence)
	claim := rd.has("claim.done", "claim.edit", "claim.tests", "claim.build", "claim.commit", "claim.pull_request")
	doneHead := rd.in(head, "claim.done", "claim.commit", "claim.tests")
	goesOn := rd.in(tail, "progress.next", "progress.doing", "progress.gerund")

	// How long it is, and what it is made of.
	for _, n := range [...]int{4, 13, 41, 121, 301} {
		on(fmt.Sprintf("words:%d+", n), rd.nWords >= n)
	}
	on("sentences:0", rd.sentences == 0)
	on("sentences:1", rd.sentences == 1)
	on("items", rd.lines[itemLine] > 0)
	on("items:6+", rd.lines[itemLine] >= 6)
	on("headings", rd.lines[headingLine] > 0)
	on("headings:4+", rd.lines[headingLine] >= 4)
	on("table", rd.lines[tableLine] >= 2)
	on("questions", rd.questions > 0)
	on("numbers:3+", rd.numbers >= 3)
	for kind, n := range rd.fences {
		on(fenceFeatures[kind], n > 0)
	}
	code, docs := rd.namesCode, rd.namesDocs
	on("files:code", code)
	on("files:docs", docs)
	on("files:docs-only", docs && !code)
	on("files:none", !docs && !code)
	on("claim-of-docs", docs && !code && claim)
	on("request:files-docs", req.namesDocs && !req.namesCode)
	on("request:files-code", req.namesCode)
	on("checked", rd.checks > 1)
	on("checked:4+", rd.checks > 3)
	on("checked:values", rd.observations > 1)
	on("trace", rd.traceVoice > 0)
	on("failing", rd.lastFail > rd.lastPass)

	// How it ends.
	on("ends:question", last.question)
	on("ends:question-before-items", !last.question && rd.questionNear())
	on("ends:colon", last.colon)
	on("ends:item", last.kind == itemLine)
	on("ends:open-fence", rd.openFence)
	on("ends:trace", rd.lastTrace)

	// What was asked for.
	on("request:none", req.nWords == 0)
	on("request:short", req.nWords > 0 && req.nWords <= 4)
	on("request:long", req.nWords > 100)
	on("request:question", question)
	on("request:explain", req.has("request.explain"))
	on("request:change", change)
	on("request:act", req.has("request.act"))
	on("request:document", req.has("request.document"))
	on("request:go", req.has("request.go") && req.nWords <= 12)
	on("request:greeting", req.has("request.greet") && req.nWords <= 4)

	// Kinds of signs, and the pairs of them that mean more than each alone.
	on("claim", claim)
	on("claim-in-front", doneHead)
	on("evidence", evidence)
	on("claim-without-evidence", claim && !evidence)
	on("claim-then-progress", claim && goesOn)
	on("goes-on", goesOn)
	on("goes-on-to-the-end", !last.question && rd.in(last.rules, "progress.next", "progress.doing"))
	on("hedge", rd.kind(SignalHedge))
	on("gap", rd.kind(SignalGap))
	on("failure", rd.kind(SignalFailure))
	on("failure-without-claim", rd.kind(SignalFailure) && !claim)
	on("blocked", rd.in(last.rules, "blocker.need", "blocker.then"))
	on("question-without-offer", last.question && !rd.in(last.rules, "offer.further"))
	on("question-without-claim", last.question && !claim)
	on("question-after-claim", last.question && doneHead)
	on("answer-to-question", question && !claim)
	on("claim-after-change-request", change && claim && !evidence)
	on("code-after-change-request", change && !evidence && rd.fences[codeFence]+rd.fences[editFence] > 2)
	return names
}

var fenceFeatures = [nFenceKinds]string{"fence:plain", "fence:shell", "fence:code", "fence:diff", "fence:edit"}

const (
	codeExtensions = " go py js ts tsx jsx mjs css scss html vue svelte java kt rs c h cpp cs rb php swift dart lua sh " +
		"sql json yaml yml toml xml al ipynb astro ps1 bat ex gradle prisma tf "
	docExtensions = " prd md mdx mdc rst txt adoc tex docx pdf "
)

// names notes whether a text of the agent's or the human's voice names files of code, and whether it names documents.
func (rd *reading) names(text string) {
	for at := 0; !rd.namesCode || !rd.namesDocs; {
		i := strings.IndexByte(text[at:], '.')
		if i < 0 {
			break
		}
		at += i + 1
		end := at
		for end < len(text) && end-at < 8 && isWordByte(text[end]|0x20) {
			end++
		}
		if at < 2 || end == at || !isWordByte(text[at-2]|0x20) {
			continue
		}
		extension := " " + strings.ToLower(text[at:end]) + " "
		rd.namesCode = rd.namesCode || strings.Contains(codeExtensions, extension)
		rd.namesDocs = rd.namesDocs || strings.Contains(docExtensions, extension)
	}
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

// goesOn reports whether the text says what the agent does next, or that a part is still open.
func (rd *reading) goesOn() bool {
	return rd.has("progress.next", "progress.doing", "progress.gerund") || rd.kind(SignalGap, signalPromise)
}

// closes reports whether one of the last three sentences has a rule, or what stands before the list with which the
// text ends.
func (rd *reading) closes(rules ...string) bool {
	items := true
	for i := range min(len(rd.tail), rd.sentences) {
		s := rd.nth(i)
		if rd.in(s.rules, rules...) && (i < 3 || items) {
			return true
		}
		items = items && s.kind == itemLine
	}
	return false
}

const maxUnclear = 200 // bytes

// unclear reports whether a text says nothing: it has a word or a few of no language that the tables know, or none at
// all, and no code. "asdf", "null" and "{}" are such texts, and so is data alone: JSON in which no text has several
// words, a UUID, signs without letters. A bare number, a hash or a letter may answer a question; without one
// it is unclear, too.
func (rd *reading) unclear(asked bool) bool {
	data := rd.lines[fencedLine]+rd.lines[quotedLine]+rd.lines[tableLine] > 0 || rd.traceVoice > 0
	text := strings.TrimFunc(rd.text, func(r rune) bool { return plaintext.IsSpace(r) || plaintext.IsInvisible(r) })
	if len(text) > maxUnclear {
		return false
	}
	switch strings.ToLower(strings.Trim(text, "[]<>()")) {
	case "null", "nil", "undefined", "nan", "object object", "%s", "%d", "%v", "true", "false", "/dev/null", "no output",
		"no response":
		return true
	}
	const digits = "0123456789"
	number := strings.Trim(text, digits+".,+-% ") == ""
	signs := rd.any == 0 && !data && !strings.ContainsFunc(text, unicode.IsLetter)
	id := strings.Trim(text, digits+"abcdefABCDEFx-") == "" && len(text) >= 6 && strings.ContainsAny(text, digits)
	uuid := id && len(text) == 36 && strings.Count(text, "-") == 4
	if !asked && (number || id || utf8.RuneCountInString(text) == 1) || !number && (signs || uuid || onlyJSON(text)) {
		return true
	}
	if data || strings.ContainsAny(text, digits) || rd.nWords > 3 || rd.any != 0 || rd.common > 0 ||
		rd.foreign > 0 || rd.words.known > 0 {
		return false
	}
	for i := range min(len(rd.tail), rd.sentences) {
		if s := rd.nth(i); s.code > 0 || s.question {
			return false
		}
	}
	return true
}

// onlyJSON reports whether text is a JSON array or object in which no text has several words.
func onlyJSON(text string) bool {
	var compact bytes.Buffer
	return strings.IndexAny(text, "[{") == 0 && json.Compact(&compact, []byte(text)) == nil &&
		!strings.ContainsFunc(compact.String(), plaintext.IsSpace)
}

// fits reports whether the text is in the lexicon's language.
func (rd *reading) fits() bool {
	return rd.common*9 >= rd.nWords && rd.nWords > 0 || rd.nWords <= 12 && rd.any != 0 && rd.foreign*3 <= rd.nWords
}

// asksQuestion reports whether a request is or holds a question at its beginning or its end.
func (rd *reading) asksQuestion() bool {
	return rd.sentences > 0 && (rd.head[0].question || rd.nth(0).question || rd.in(rd.head[0].rules, "request.question"))
}

// has reports whether one of the rules was found anywhere in the text.
func (rd *reading) has(rules ...string) bool { return rd.in(rd.any, rules...) }

// in reports whether a set holds one of the rules. A host's table may lack a rule; then it holds nowhere.
func (rd *reading) in(s ruleSet, rules ...string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool {
		i, ok := rd.lex.byName[rule]
		return ok && s.has(i)
	})
}

// kind reports whether any rule of one of the kinds was found.
func (rd *reading) kind(kinds ...SignalKind) bool {
	return slices.ContainsFunc(kinds, func(k SignalKind) bool { return rd.any&rd.lex.kinds[k] != 0 })
}
