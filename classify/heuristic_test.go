package classify

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func kinds(r Result, k SignalKind) []string {
	var names []string
	for _, s := range r.Signals {
		if s.Kind == k {
			names = append(names, s.Name)
		}
	}
	return names
}

func quotes(r Result, text string, k SignalKind) []string {
	var q []string
	for _, s := range r.Signals {
		if s.Kind == k {
			q = append(q, text[s.Start:s.End])
		}
	}
	return q
}

func TestSignals(t *testing.T) {
	text := "I found the cause in the middleware.\nFixed the login redirect, should work now."
	r := judge(t, Input{Text: text})
	assert.Equal(t, []string{"Fixed the login redirect"}, quotes(r, text, SignalClaim))
	assert.Equal(t, []string{"should work now"}, quotes(r, text, SignalHedge))
	assert.Equal(t, []EvidenceKind{EvidenceTests, EvidenceExitCode, EvidenceCommit, EvidencePullRequest}, r.Missing(nil))
}

func TestFilesNamed(t *testing.T) {
	for _, c := range []struct {
		text string
		want string
	}{
		{"Updated `README.md` and docs/usage.rst.", "docs"},
		{"Fixed [cart.go](/src/cart.go#L3), see README.md.", "code docs"},
		{"Set the port in config.YAML.", "code"},
		{"Done. Version 1.2 is e.g. on github.com", ""},
		{"...md .md x.", ""},
		{"Updated `README.md`:\n\n```diff\n+ see cart.go\n```\n", "docs"},
	} {
		rd, _, err := newHeuristic(t).read(Input{Text: c.text}, false)
		require.NoError(t, err)
		got := ""
		if rd.namesCode {
			got = "code "
		}
		if rd.namesDocs {
			got += "docs"
		}
		assert.Equal(t, c.want, strings.TrimSpace(got), c.text)
	}
}

func TestEvidence(t *testing.T) {
	tests := []struct {
		text string
		want []EvidenceKind
	}{
		{"All 42 tests pass.", []EvidenceKind{EvidenceTests}},
		{"12 passed, 0 failed", []EvidenceKind{EvidenceTests}},
		{"`npm test` passed (9 tests)", []EvidenceKind{EvidenceTests}},
		{"T1 to T8 (37 total, all passing)", []EvidenceKind{EvidenceTests}},
		{"Tests: 5 passed, 5 total", []EvidenceKind{EvidenceTests}},
		{"```\nok  \texample.com/queue\t0.412s\n```", []EvidenceKind{EvidenceTests}},
		{"```\ntest result: ok. 12 passed; 0 failed; 0 ignored\n```", []EvidenceKind{EvidenceTests}},
		{"`18/18` tests are green", []EvidenceKind{EvidenceTests}},
		{"all tests pass", nil},
		{"0 tests ran", nil},
		{"0 passed, 0 failed", nil},
		{"No tests passed.", nil},
		{"3 passed, 2 failed", nil},
		{"Passed: 31, failed: 0", []EvidenceKind{EvidenceTests}},
		{"Passed: 31, failed: 2", nil},
		{"```\nok  \texample.com/queue\t0.2s [no tests to run]\n```", nil},
		{"All 42 tests will pass once the mock is there.", nil},
		{"All 12 tests passed before my change.", nil},
		{"Target: 42 passed, 0 failed.", nil},
		{"42 of 45 tests pass.", nil},
		{"Added 12 passing tests.", nil},
		{"30 tests passed.\n2 tests failed.", nil},
		{"```\n3 failed\n```\n\nFixed that:\n\n```\n12 passed\n```", []EvidenceKind{EvidenceTests}},
		{"```\n12 passing (31ms)\n3 failing\n```", nil},
		{"```\nok  \ta\t0.2s\n--- FAIL: TestB\nFAIL\tb\t0.1s\n```", nil},
		{"Expected output:\n\n```\n12 passed, 0 failed\n```", nil},
		{"Once all 42 tests pass I'll commit.", nil},
		{"It exited with code 0.", []EvidenceKind{EvidenceExitCode}},
		{"exit status 0", []EvidenceKind{EvidenceExitCode}},
		{"exit code 1", nil},
		{"Committed as 71d0c4e on main.", []EvidenceKind{EvidenceCommit}},
		{"Fixed in `8d8be6a`.", []EvidenceKind{EvidenceCommit}},
		{"Ticket 1234567 is closed.", nil},
		{"The page was defaced.", nil},
		{"Accent colour #facade and #a1b2c3d are gone.", nil},
		{"Session 5f0c7e62-9b1d-4c33-8a57-2d41be90aa17 is closed.", nil},
		{"Session 5f0c7e62 is closed.", nil},
		{"PR created: https://github.com/acme/shop/pull/42", []EvidenceKind{EvidencePullRequest}},
		{"See https://gitlab.com/acme/shop/-/merge_requests/7", []EvidenceKind{EvidencePullRequest}},
		{"See https://github.com/acme/shop/issues/42", nil},
		{"Fixed the bug that was reported in PR 42.", nil},
		{"This follows up on https://github.com/acme/shop/pull/42.", nil},
		{"In this run, commit 4be91d2 fixed the crash.", []EvidenceKind{EvidenceCommit}},
		{"Fixed the order total in 4be91d2.", []EvidenceKind{EvidenceCommit}},
		{"The handler returns 200 for a health check.", nil},
		{"```\n$ ./tool\nBUILD SUCCESSFUL in 3s\n```", []EvidenceKind{EvidenceOutput}},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, judge(t, Input{Text: tt.text}).Shown(nil), "%s", tt.text)
	}
}

// What stands in code, in quotes or in a block quote is data: never a claim, a hedge, a question or a failure.
func TestDataIsNoVoice(t *testing.T) {
	frames := map[string]string{
		"fence":        "Here is the log.\n\n```\n%s\n```\n",
		"tilde fence":  "Here is the log.\n\n~~~text\n%s\n~~~\n",
		"open fence":   "Here is the log.\n\n```\n%s\n",
		"inline code":  "The string is `%s` there.",
		"double ticks": "The string is ``%s`` there.",
		"quotes":       `He wrote "%s" there.`,
		"curly quotes": "He wrote “%s” there.",
		"block quote":  "He wrote:\n\n> %s\n",
		"list fence":   "The log:\n\n- ```\n  %s\n  ```\n",
		"number fence": "The log:\n\n1. ~~~text\n   %s\n   ~~~\n",
		"list quote":   "He wrote:\n\n- > %s\n",
		"dash quote":   `He wrote—"%s"—there.`,
		"wrapped":      "He wrote \"as far as I can see,\n%s\" there.",
		"comment":      "Here it is.\n\n<!-- %s -->\n",
		"edit block":   "Here it is.\n\n<<<<<<< SEARCH\n%s\n=======\n>>>>>>> REPLACE\n",
	}
	for name, frame := range frames {
		for _, words := range []string{
			"Fixed the parser and it should work now", "Should I go on?", "API Error: rate limit exceeded", "Done",
			"All tests pass",
		} {
			r := judge(t, Input{Text: strings.Replace(frame, "%s", words, 1)})
			for _, k := range []SignalKind{SignalClaim, SignalHedge, SignalQuestion, SignalFailure, signalPromise} {
				assert.Empty(t, kinds(r, k), "%s: %s", name, words)
			}
		}
	}
}

func TestNegationAndTense(t *testing.T) {
	for _, text := range []string{
		"I'm not done yet.", "It isn't fixed.", "The task is not complete.", "Nothing is finished.",
		"I haven't fixed the parser.", "I will output DONE at the end.", "When all tests pass I'll commit.",
		"If it is fixed, tell " +
			"me.", "It would be done by now.", "Is it done?", "the API should return 404", "It never works.",
	} {
		r := judge(t, Input{Text: text})
		assert.Empty(t, kinds(r, SignalClaim), text)
	}
	assert.Empty(t, kinds(judge(t, Input{Text: "the API should return 404"}), SignalHedge))
	assert.NotEmpty(t, kinds(judge(t, Input{Text: "It should work now."}), SignalHedge))
}

func TestBlank(t *testing.T) {
	for _, text := range []string{"", " ", "\n\t\r\n", "\ufeff", "\x00", "\u200b\u00a0", "\ufeff\r\n\r\n", "\x1b[0m",
		"\u2800\u3164", "\x1b]0;title\a \x1b[2J\n"} {
		got := judge(t, Input{Text: text})
		assert.Equal(t, Result{Type: Status, Confidence: 1, Reason: "empty output", Source: "heuristic"}, got, "%q", text)
	}
}

func TestOddBytes(t *testing.T) {
	for _, text := range []string{
		"Fixed the \x00 parser, it should work now.", "\xff\xfe Fixed the parser \xc3, it should work now.",
		"Fixed the parser\xe2\x80, should work now.", "\r\rFixed the parser,\rshould work now.\r",
	} {
		r := judge(t, Input{Text: text})
		assert.True(t, r.WasRejectedCompletion, "%q", text)
		checkSpans(t, r, text)
	}
}

// The colours of a terminal are no words.
func TestColours(t *testing.T) {
	plain := "Fixed the login redirect, should work now."
	coloured := "\x1b[32mFixed\x1b[0m the \x1b[1mlogin redirect\x1b[0m, should \x1b[33mwork\x1b[0m now."
	want, got := judge(t, Input{Text: plain}), judge(t, Input{Text: coloured})
	assert.Equal(t, want.Type, got.Type)
	assert.Equal(t, want.WasRejectedCompletion, got.WasRejectedCompletion)
	assert.InDelta(t, want.Confidence, got.Confidence, 1e-9)
	assert.Len(t, got.Signals, len(want.Signals))
	assert.Contains(t, judge(t, Input{Text: "\x1b[32m✓\x1b[0m 42 \x1b[32mpassed\x1b[0m"}).Shown(nil), EvidenceTests)
}

func checkSpans(tb testing.TB, r Result, text string) {
	tb.Helper()
	for _, s := range r.Signals {
		require.True(tb, 0 <= s.Start && s.Start < s.End && s.End <= len(text), "%+v in %d bytes", s, len(text))
		require.True(tb, boundary(text, s.Start) && boundary(text, s.End), "%+v cuts a character", s)
		require.Greater(tb, s.Weight, 0.0)
	}
	require.LessOrEqual(tb, len(r.Signals), maxSignals)
}

// boundary reports whether i does not fall inside an encoded character.
func boundary(s string, i int) bool {
	if i == 0 || i == len(s) || utf8.RuneStart(s[i]) {
		return true
	}
	for j := i - 1; j >= max(0, i-3); j-- { // a stray continuation byte is a character of its own
		if utf8.RuneStart(s[j]) {
			_, n := utf8.DecodeRuneInString(s[j:])
			return j+n <= i
		}
	}
	return true
}

func TestHostEvidenceOutweighsProse(t *testing.T) {
	claim := Input{Text: "Fixed the retry loop. All tests pass.", Request: "fix the retry loop"}
	require.True(t, judge(t, claim).WasRejectedCompletion)

	pass := Evidence{Kind: EvidenceTests, Text: "42 passed"}
	fail := Evidence{Kind: EvidenceTests, Text: "40 passed, 2 failed", Failed: true}
	commit := Evidence{Kind: EvidenceCommit, Text: "1f2e3d4"}
	none := Evidence{Kind: EvidenceTests, Text: "no test run", Absent: true}
	tests := []struct {
		name     string
		host     []Evidence
		want     OutputType
		rejected bool
	}{
		{"seen to pass", []Evidence{pass}, Completion, false},
		{"seen to fail", []Evidence{fail}, Status, true},
		{"failed, then passed", []Evidence{fail, pass}, Completion, false},
		{"passed, then failed", []Evidence{pass, fail}, Status, true},
		{"looked for, none seen", []Evidence{none}, Status, true},
		{"seen later", []Evidence{none, pass}, Completion, false},
		{"none since the pass", []Evidence{pass, none}, Status, true},
		{"a commit shows no tests", []Evidence{commit}, Status, true},
	}
	for _, tt := range tests {
		in := claim
		in.Evidence = slices.Clone(tt.host)
		r := judge(t, in)
		assert.Equal(t, tt.want, r.Type, tt.name)
		assert.Equal(t, tt.rejected, r.WasRejectedCompletion, tt.name)
		assert.GreaterOrEqual(t, r.Confidence, 0.8, tt.name)
		assert.Equal(t, tt.host, in.Evidence, "the input is not changed")
	}
	shown := Input{Text: "Fixed it: 42 tests passed, committed 71d0c4e.", Evidence: []Evidence{fail}}
	assert.True(t, judge(t, shown).WasRejectedCompletion, "a count in prose does not beat a failure that was seen")
	shown.Evidence = []Evidence{none}
	r := judge(t, shown)
	assert.True(t, r.WasRejectedCompletion, "nor one that was looked for in vain")
	assert.Contains(t, r.Reason, "the host saw no test output")
	assert.NotContains(t, r.Reason, "failure")
	assert.Contains(t, r.Missing(shown.Evidence), EvidenceTests)
	assert.NotContains(t, r.Shown(shown.Evidence), EvidenceTests)
	question := Input{Text: "Should I delete the old table?", Evidence: []Evidence{pass}}
	assert.Equal(t, Question, judge(t, question).Type)
}

// A text that no lexicon fits still gets a guess, but an honest one.
func TestForeignLanguage(t *testing.T) {
	for _, text := range []string{
		"로그인 리디렉션 문제를 수정했습니다. 이제 정상적으로 작동할 것입니다. 모든 테스트가 통과했습니다.",
		"تم إصلاح إعادة التوجيه بعد تسجيل الدخول. يجب أن تعمل الآن.",
		"Διόρθωσα την ανακατεύθυνση μετά τη σύνδεση. Τώρα όλα πρέπει να λειτουργούν.",
		"Korjasin uudelleenohjauksen kirjautumisen jälkeen. Kaikki testit menevät läpi ja vika on poissa.",
	} {
		r := judge(t, Input{Text: text})
		assert.True(t, r.Type.Valid(), text)
		assert.LessOrEqual(t, r.Confidence, 0.6, text)
	}
	trace := "Traceback (most recent call last):\n  File \"spiel.py\", line 3, in <module>\nZeroDivisionError: " +
		"division by zero"
	assert.Equal(t, Error, judge(t, Input{Text: trace}).Type)
}

func TestSignalsAreBounded(t *testing.T) {
	r := judge(t, Input{Text: strings.Repeat("Fixed the parser. It should work now. ", 5000)})
	assert.Len(t, r.Signals, maxSignals)
	assert.Positive(t, r.SignalsDropped)
}

func TestRequestIsNoPartOfTheOutput(t *testing.T) {
	r := judge(t, Input{Text: "ok", Request: "Fixed the parser, it should work now. Should I go on?"})
	assert.Empty(t, r.Signals)
}

// Our own coaching is never the human's request.
func TestOwnCoachingIsNoRequest(t *testing.T) {
	in := Input{Text: "The cache is keyed by user and path, so two users never share a page."}
	want := judge(t, in)
	in.Request = "[System Coach] What did you change? Show the test output."
	assert.Equal(t, want, judge(t, in))
}

// freshHeuristic has the built-in tables, of which nothing is read yet.
func freshHeuristic(tb testing.TB) *Heuristic {
	tb.Helper()
	h := unread()
	return &h
}

// A heuristic that many use at once, and whose tables are compiled meanwhile, judges as one of its own does.
func TestSharedHeuristic(t *testing.T) {
	var inputs []Input
	for i, c := range append(loadCases(t, "cases/known.jsonl"), loadCases(t, "cases/lang_[cjz]*.jsonl")...) {
		if sweep || i%2 == 0 {
			inputs = append(inputs, c.Input)
		}
	}
	want := make([]Result, len(inputs))
	for i, in := range inputs {
		want[i] = judge(t, in)
	}
	shared := freshHeuristic(t)
	var wg sync.WaitGroup
	for first := range 8 {
		wg.Go(func() {
			for i := range inputs {
				i = (i + first*len(inputs)/8) % len(inputs) // so that each begins with another language
				got, err := shared.Classify(context.Background(), inputs[i])
				assert.NoError(t, err)
				assert.Empty(t, cmp.Diff(want[i], got), inputs[i].Text)
			}
		})
	}
	wg.Wait()
}

func TestCancelledContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := newHeuristic(t).Classify(ctx, Input{Text: "Should I go on?"})
	require.NoError(t, err, "the heuristic is what answers when everything else has run out of time")
	assert.Equal(t, Question, r.Type)
}

func TestTables(t *testing.T) {
	weights, err := embedded.ReadFile("weights/features.txt")
	require.NoError(t, err)
	lex, err := embedded.ReadFile("lexicon/en.txt")
	require.NoError(t, err)

	h, err := NewHeuristic(Tables(fstest.MapFS{"en.txt": {Data: append(slices.Clone(lex),
		"\n[claim done]\nshipshape\n"...)}}))
	require.NoError(t, err)
	r, err := h.Classify(context.Background(), Input{Text: "The mast is shipshape."})
	require.NoError(t, err)
	assert.Equal(t, []string{"done"}, kinds(r, SignalClaim))
	assert.Empty(t, kinds(judge(t, Input{Text: "The mast is shipshape."}), SignalClaim))

	noWords := &fstest.MapFile{Data: []byte("// none")}
	features := &fstest.MapFile{Data: weights}
	_, err = NewHeuristic(Tables(fstest.MapFS{"weights/features.txt": features, "weights/words.txt": noWords}))
	require.NoError(t, err)
	for words, want := range map[string]string{
		wordWeights:                            "",
		"100 0 9 0 0 0 any mast":               `weights words.txt:1: "any" is not a whole number; want 7 of them and a name`,
		"// none\n\n100 0 9 0 0 0 0 high mast": `weights words.txt:3: "high" is not a zone`,
	} {
		_, err = NewHeuristic(Tables(fstest.MapFS{
			"weights/features.txt": features, "weights/words.txt": {Data: []byte(words)},
		}))
		if want == "" {
			assert.NoError(t, err, "the built-in weights, whose numbers are read when a text has their word")
		} else {
			assert.ErrorContains(t, err, want)
		}
	}

	// Some editors begin a file with a byte order mark.
	h, err = NewHeuristic(Tables(fstest.MapFS{
		"en.txt":               {Data: append([]byte("\ufeff"+groupsOfATable), "[claim done]\nshipshape\n"...)},
		"weights/features.txt": {Data: []byte("\ufeff0 900 0 0 0 0 bias")}, "weights/words.txt": noWords,
	}))
	require.NoError(t, err)
	r, err = h.Classify(context.Background(), Input{Text: "The mast is shipshape."})
	require.NoError(t, err)
	assert.Equal(t, Blocker, r.Type)
	assert.Equal(t, []string{"done"}, kinds(r, SignalClaim))

	// A word counts in the zone of its weight only.
	h, err = NewHeuristic(Tables(fstest.MapFS{
		"weights/features.txt": {Data: []byte("0 0 100 0 0 0 bias")},
		"weights/words.txt":    {Data: []byte("100 0 900 0 0 0 0 start mast\n100 900 0 0 0 0 0 any the boat")},
	}))
	require.NoError(t, err)
	for text, want := range map[string]OutputType{
		"The mast broke.": Blocker, "One. Two. The mast broke.": Question, "One. Two. The boat sank.": Error,
		"One, the, boat.": Error,
	} {
		r, err := h.Classify(context.Background(), Input{Text: text})
		require.NoError(t, err)
		assert.Equal(t, want, r.Type, text)
	}

	// A fault in a table that no text has asked for yet is one of NewHeuristic, too.
	_, err = NewHeuristic(Tables(fstest.MapFS{"en.txt": {Data: lex}, "ja.txt": {Data: []byte("[claim done]\n@x です")}}))
	assert.ErrorContains(t, err, "lexicon ja.txt:2: group @x is not defined")

	groups := "@not = not\n@later = will\n@to = to\n@clause = and\n@fail = failed\n@tests = tests\n@id = " +
		"id\n@whole = thing\n"
	for name, tt := range map[string]struct {
		file, data, want string
	}{
		"control":         {"en.txt", "\x01", "no phrases"},
		"control first":   {"en.txt", "[claim done]\n\x01all\x02done\n", "group @"},
		"no number":       {"en.txt", "[claim done]\nweight NaN\ndone", "a number from 0 to 1000"},
		"no end":          {"en.txt", "[claim done]\nweight Inf\ndone", "a number from 0 to 1000"},
		"typographic":     {"en.txt", "[claim done]\nit’s done", `"it’s" is read as "it's" in texts: write that`},
		"yo":              {"en.txt", "[claim done]\nещё", `"ещё" is read as "еще" in texts: write that`},
		"full width":      {"en.txt", "[claim done]\n１２", `"１２" is read as "12" in texts: write that`},
		"unspaced stem":   {"en.txt", "[claim done]\n修复~", `"修复~": in a script without spaces`},
		"long word":       {"en.txt", "[claim done]\n" + strings.Repeat("的", 21), "is longer than 60 bytes"},
		"language alone":  {"ru.txt", "[claim done]\nготово", "no en.txt, which every text is read with"},
		"nothing":         {"README", "", "neither en.txt nor weights/features.txt"},
		"no words":        {"weights/features.txt", "1 2 3 4 5 6 bias", "words.txt"},
		"no section":      {"en.txt", "all done", "en.txt:1: a phrase before the first [section]"},
		"unknown kind":    {"en.txt", "[clam done]\ndone", `en.txt:1: unknown kind "clam"`},
		"unknown option":  {"en.txt", "[claim done loudly]\ndone", `unknown option "loudly"`},
		"no name":         {"en.txt", "[claim]\ndone", "needs a kind and a name"},
		"upper case":      {"en.txt", "[claim done]\nDone", `en.txt:2: "Done" is not lower case`},
		"unknown group":   {"en.txt", "[claim done]\n@verbs it", "group @verbs is not defined"},
		"begins with gap": {"en.txt", "[claim done]\n... done", "can't begin with"},
		"empty word":      {"en.txt", "[claim done]\nit is|", "an empty word"},
		"endless word":    {"en.txt", "[claim done]\n" + strings.Repeat("完", 22), "is longer than 60 bytes"},
		"joined group":    {"en.txt", "@a = b\n@c = d|@a\n", "en.txt:2: @a in a group: it holds words only"},
		"ending in group": {"en.txt", "@a = b|~ing\n", "en.txt:1: ~ing in a group"},
		"number in group": {"en.txt", "@a = #|one\n", "en.txt:1: # in a group"},
		"group twice":     {"en.txt", "@a = b\n@a = c\n", "en.txt:2: group @a is defined twice"},
		"group of words":  {"en.txt", "@a b = c\n", `en.txt:1: group "@a b": a name is one word`},
		"any, or a word":  {"en.txt", "[claim done]\nall *|is done", "en.txt:2: * is a place of its own"},
		"code, or a word": {"en.txt", "[claim done]\nran [it|{code}]", "en.txt:2: {code} is a place of its own"},
		"gap, or a word":  {"en.txt", "[claim done]\nran ...|it", "en.txt:2: ... is a place of its own"},
		"short ending":    {"en.txt", "[claim done]\nno longer ~s", "en.txt:2: ~s is too short for an ending"},
		"clitic":          {"en.txt", "[claim done]\nit|'s done", `en.txt:2: "'s" is never one word in a text`},
		"punctuation":     {"en.txt", "[claim done]\ndone → now", `en.txt:2: "→" is never one word in a text`},
		"two words":       {"en.txt", "[claim done]\napi完了", `en.txt:2: "api完了" is never one word in a text`},
		"open bracket":    {"en.txt", "[claim done]\ndone [now", `en.txt:2: "[now" is never one word in a text`},
		"nothing at all": {"en.txt", "[claim done]\n[all] " +
			"[done]", "en.txt:2: each word of the phrase may be left out"},
		"too many ways": {"en.txt", "[claim done]\nall" + strings.Repeat(" [a]", 13) + " done",
			"en.txt:2: the phrase has too many words to leave out"},
		"too many gaps": {"en.txt", "[claim done]\nall" + strings.Repeat(" ... a", 6),
			"en.txt:2: the phrase has too many words to leave out"},
		"bad weight":    {"en.txt", "[claim done]\nweight much\ndone", "weight needs"},
		"missing group": {"en.txt", "[claim done]\ndone", "group @"},
		"no phrase":     {"en.txt", groups, "no phrases"},
		"columns":       {"weights/features.txt", "1 2 3 bias", `weights features.txt:1: "bias" is not a whole number`},
		"not a number":  {"weights/features.txt", "1 2 3 4 5 x bias", `"x" is not a whole number`},
		"twice": {"weights/features.txt", "1 2 3 4 5 6 a\n1 2 3 4 5 6 a",
			"weights features.txt:2: a stands there twice"},
	} {
		_, err := NewHeuristic(Tables(fstest.MapFS{tt.file: {Data: []byte(tt.data)}}))
		assert.ErrorContains(t, err, tt.want, name)
	}
}

// A number is a status of HTTP's only where it stands as one.
func TestNumbersThatAreStatusesToo(t *testing.T) {
	for _, text := range []string{
		"Processed 500 of the 2,000 rows so far. Next I'll do the other three batches of 500.",
		"I have read file 429 of 502. I'll go on with the remaining ones and then write the summary.",
		"Added the health check: it answers 503 while the database is away and 502 when the upstream is. It " +
			"should work now.",
		"I split the file into 500 lines.",
		"Line 529 of the parser drops the last byte. I'm going to write a test for it first.",
	} {
		assert.NotEqual(t, Error, judge(t, Input{Text: text}).Type, text)
	}
	for _, text := range []string{
		`429 {"type":"error","error":{"type":"rate_limit_error","message":"Number of requests has exceeded your rate ` +
			`limit"}}`,
		"503 Service Unavailable",
		"Error: 429",
		"unexpected status 502 Bad Gateway",
		"Request failed with status code 500",
		"529 Overloaded",
	} {
		assert.Equal(t, Error, judge(t, Input{Text: text}).Type, text)
	}
}

// A text that says nothing is neither a completion nor sent on: the human sees it.
func TestUnclear(t *testing.T) {
	for _, text := range []string{"asdf", "null", "{}", "qwer zxcv", "...", "()", "[]", "-", "~~~", "\u200bxq\n",
		"<nil>", "[object Object]", "%s", "%d", "[1,2,3]", `{"a": 1}`, "{\n  \"status\": \"ok\"\n}\n", "$1", "false", "true",
		"550e8400-e29b-41d4-a716-446655440000", "/dev/null", "[No response]", "<no output>", "0", "-1", "3.14", "1.",
		"1 2 3", "0xdeadbeef", "k", "你"} {
		for _, request := range []string{"", "fix the login"} {
			r := judge(t, Input{Text: text, Request: request})
			assert.Equal(t, Status, r.Type, "%q %s", text, r.Reason)
			assert.False(t, r.WasRejectedCompletion, text)
			assert.Zero(t, r.Confidence, text)
			assert.Contains(t, r.Reason, "unclear", text)
		}
	}
	for _, text := range []string{"Done.", "ok", "42 tests", "`main.go`", "fertig", "完成", "готово", "```\n12 passed\n```",
		"Which one?", "error", "listo", "main.go", `{"result":"Fixed the parser, all 12 tests pass."}`} {
		assert.NotContains(t, judge(t, Input{Text: text}).Reason, "unclear", text)
	}
	for _, text := range []string{"42", "0", "-3.5\n", "100%", "a1b2c3d"} { // a number may answer what was asked
		r := judge(t, Input{Text: text})
		assert.Contains(t, r.Reason, "unclear", text)
		assert.Zero(t, r.Confidence, text)
		assert.NotContains(t, judge(t, Input{Text: text, Request: "What does it print?"}).Reason, "unclear", text)
	}
}

// A run that broke and an agent that reports a failure are both errors, and the reason tells them apart.
func TestReasonOfErrors(t *testing.T) {
	for text, want := range map[string]string{
		"构建失败，我无法解决。": "opens with a failure and leaves " +
			"it there",
		"Built the module, but go test fails: 2 failed, 40 passed. Stopping " +
			"here.": "reports a failure and leaves it there",
		"panic: runtime error: index out of range [3] with length 3": "the run broke and this is its error",
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, Error, r.Type, text)
		assert.Equal(t, want, r.Reason, text)
	}
}

// Of a text that is too long the end is read, and the verdict is unsure.
func TestReadsTheEndOfALongText(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	claim := "Fixed the parser. All tests pass."
	for name, text := range map[string]string{
		"lines":    strings.Repeat("The cache is keyed by user.\n", 1<<16) + "\n" + claim,
		"one line": strings.Repeat("word ", 1<<20) + "\n" + claim,
		"no line":  strings.Repeat("x", 2<<20),
	} {
		r := judge(t, Input{Text: text})
		assert.LessOrEqual(t, r.Confidence, 0.6, name)
		assert.Contains(t, r.Reason, "too long", name)
		checkSpans(t, r, text)
		if name != "no line" {
			assert.NotEmpty(t, kinds(r, SignalClaim), "%s: the end is read", name)
		}
	}
	assert.NotContains(t, judge(t, Input{Text: claim}).Reason, "too long", "a short text is read whole")
}

func TestOnlyAsks(t *testing.T) {
	h, err := NewHeuristic()
	require.NoError(t, err)
	for request, want := range map[string]bool{
		"What does Add do?":                         true,
		"Why does the login fail on Safari?":        true,
		"Explain how the cache is invalidated.":     true,
		"Was macht diese Funktion?":                 true,
		"Can you make the tests pass?":              false,
		"Why does the login fail? Fix it, please.":  false,
		"Could you run the migration?":              false,
		"Work on the goal.":                         false,
		"Go on":                                     false,
		"":                                          false,
		"[System Coach] What does `go test` print?": false, // ours
	} {
		got, err := h.OnlyAsks(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, want, got, request)
	}
	_, err = (&Heuristic{}).OnlyAsks(t.Context(), "Why?")
	require.Error(t, err)
}

func TestPhrases(t *testing.T) {
	const output = "The new page rides on staging."
	assert.Empty(t, kinds(judge(t, Input{Text: output}), SignalClaim))
	h, err := NewHeuristic(Phrases(fstest.MapFS{
		"en.txt": {Data: []byte("// the team's words\n@where = staging|production\n[claim done]\nrides on @where\n")},
		"de.txt": {Data: []byte("[claim done]\nfährt auf grün\n")},
	}))
	require.NoError(t, err)
	for text, want := range map[string][]string{
		output: {"done"}, "Die neue Seite fährt auf grün.": {"done"}, "The new page rides on the moon.": nil,
		"Fixed the login.": {"edit"},
	} {
		r, err := h.Classify(t.Context(), Input{Text: text})
		require.NoError(t, err)
		assert.Equal(t, want, kinds(r, SignalClaim), text)
	}
	for name, tt := range map[string]struct{ file, data, want string }{
		"another language": {"xx.txt", "", `"xx.txt": the file name is not a language; use one of en, `},
		"another file":     {"notes.md", "", `"notes.md": the file name is not a language`},
		"a fault":          {"de.txt", "[claim done]\n@x\n", "lexicon phrases/de.txt:2: group @x is not defined"},
		"no section":       {"en.txt", "shipped it", "lexicon phrases/en.txt:1: a phrase before the first [section]"},
	} {
		_, err := NewHeuristic(Phrases(fstest.MapFS{tt.file: {Data: []byte(tt.data)}}))
		assert.ErrorContains(t, err, tt.want, name)
	}
	_, err = NewHeuristic(Phrases(nil))
	assert.Error(t, err)
}

// Thanks and answers claim no work. What waits for the human's word is a question, and a stated step is progress.
func TestAnswersAndWaits(t *testing.T) {
	for _, c := range []struct {
		request, text string
		want          OutputType
		rejected      bool
	}{
		{"很好，谢谢", "不客气！很高兴结果符合预期。后续如果有其他需求，随时告诉我。", Completion, false},
		{"Which of the milestones are done by now?", "- Milestone 1 (import): partially complete.\n" +
			"  - Done: reader, validation.\n  - Pending: retries.\n- Milestone 2 (export): partially complete.\n" +
			"  - Done: CSV.\n  - Pending: archive.", Completion, false},
		{"继续", "**第 2 批已完成**（4 个文件）：\n\n- `list.css`：改为圆角。\n\n请验收列表页。确认后继续**第 3 批**。", Question,
			false},
		{"", "已新建 `types/user.ts`，已重构 `store/user.ts`。\n\n接下来将：\n- 替换旧字段\n- 运行 lint\n\n进度已记录，继续执行中。",
			Status, false},
		{"", "I removed the duplicate import. It should work now.", Status, true},
		{"", "Two files need the new redirect. Changes to `routes/login.ts`:", Status, false},
		{"Move the badge to the right.", "I'll move the badge to the right side of the header. First, I'll read `Header.tsx`.\n\n" +
			"Read file: Header.tsx", Status, false},
		{"NPE in the mapper", "Since we cannot compile and run Java code directly in this environment, let's assume that the " +
			"change is correct. To submit the changes, I will use the `submit` command:", Status, true},
		{"", "I tracked the error to the header and fixed the unbalanced tag in `Edit.tsx`. The page should compile now.\n\n" +
			"If you still see issues, paste the new line from the overlay and I'll patch immediately.",
			Status, true},
		{"Update the rules file for the new folders.", "I've updated the rules in `.rules/layout.mdc`:\n\n```diff\n" +
			"+ - `store/`: state in `store.ts`\n```\n\nThe rules now list the new folders.", Completion, false},
		{"Can you explain the changes you made to hooks_test.go?", "I changed the expected command, because the hook now " +
			"calls the installed program:\n\n```go\nverify(t, \"app start\")\n```\n\nThe test passed only with the old name.",
			Completion, false},
		{"tag it and push", "Done.\n\n- Pushed the workflow to `main` (`03ec0c3`)\n- Pushed tag `v0.1.1`\n\n" +
			"This should now start `release.yml`.", Completion, false},
	} {
		r := judge(t, Input{Request: c.request, Text: c.text})
		assert.Equal(t, c.want, r.Type, "%s: %s", c.text, r.Reason)
		assert.Equal(t, c.rejected, r.WasRejectedCompletion, "%s: %s", c.text, r.Reason)
	}
	r := judge(t, Input{Text: "手順は次のとおりです。\n\n- `topic` を `main` にマージ\n- 検証環境を更新"})
	assert.NotContains(t, kinds(r, SignalClaim), ClaimCommit, "a step of instructions")
}
