package classify

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A line that is too long is read in parts. What stands in the middle of it is no marker, and a quote stays one.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("The cache is keyed by user. ", 146) // the next word is the last in the first part
	for _, marker := range []string{"``` ", "~~~ ", "> ", "- ", "# ", "<!-- a --> "} {
		text := long + "xxxxxxx " + marker + "and so on.\nFixed the parser."
		assert.Equal(t, []string{"Fixed the parser"}, quotes(judge(t, Input{Text: text}), text, SignalClaim), marker)
		lines := newLineReader(text)
		_, _ = lines.next()
		part, _ := lines.next()
		assert.True(t, strings.HasPrefix(text[part.start:], marker), "%q", text[part.start:])
		assert.Equal(t, paragraphLine, part.kind, marker)
	}
	text := "He wrote:\n\n> " + long + long + "Fixed the parser."
	assert.Empty(t, judge(t, Input{Text: text}).Signals)
	text = "Here it is.\n\n```\n" + long + "xxxxxxx ```\nFixed the parser.\n```\n"
	assert.Empty(t, judge(t, Input{Text: text}).Signals)
}

// Speech ends at the first mark that closes it, however many open; stray marks and apostrophes hide nothing.
func TestMaskedSpeech(t *testing.T) {
	mark := func(s string) string { return strings.Repeat("\x01", len(s)) }
	far := strings.Repeat("x", maxQuote)
	apart := strings.Repeat(" \n", maxQuote)
	for text, want := range map[string]string{
		`a "b" c "d" e`:          "a " + mark(`"b"`) + " c " + mark(`"d"`) + " e",
		"a “b “c” d":             "a " + mark("“b “c”") + " d",
		"a 'b don't c' d":        "a " + mark("'b don't c'") + " d",
		"don't won't":            "don't won't",
		`a "b`:                   `a "b`,
		`"" "b"`:                 `"" ` + mark(`"b"`),
		"他说「好」了":                 "他说" + mark("「好」") + "了",
		"„so“ und „so":           mark("„so“") + " und „so",
		"“" + far + "”":          "“" + far + "”",
		"“" + far + " “b” c":     "“" + far + " " + mark("“b”") + " c",
		"“a" + apart + "b”":      mark("“a" + apart + "b”"),
		`"a ` + far + ` "b" c`:   `"a ` + far + " " + mark(`"b"`) + " c",
		"« a “b” c » d “e":       mark("« a “b” c »") + " d “e",
		"‘it’s so’ there, ‘open": mark("‘it’s so’") + " there, ‘open",
	} {
		buf, _ := mask(nil, text)
		assert.Equal(t, want, string(buf), "%.40s", text)
	}
}

// inEach says in each language of the tables that it is fixed, that it should work, and asks whether to go on.
var inEach = map[string]string{
	"en": "Fixed the login redirect, it should work now. All done. Should I go on?",
	"de": "Ich habe die Weiterleitung korrigiert, das sollte jetzt funktionieren. Alles erledigt. Soll ich " +
		"weitermachen?",
	"es": "He corregido la redirección, debería funcionar ahora. Todo listo. ¿Quieres que continúe?",
	"fr": "J'ai corrigé la redirection, cela devrait fonctionner. Tout est prêt. Voulez-vous que je continue ?",
	"pt": "Corrigi o redirecionamento, deve funcionar agora. Tudo pronto. Quer que eu continue?",
	"cs": "Opravil jsem přesměrování, mělo by to fungovat. Vše je hotovo. Mám pokračovat?",
	"ru": "Исправил перенаправление, должно работать. Всё готово. Мне продолжать?",
	"zh": "我已经修复了登录重定向，应该可以正常工作了。全部完成。要继续吗？",
	"ja": "ログインのリダイレクトを修正しました。動くはずです。すべて完了しました。続けますか？",
}

// Whatever the languages of the prose and of the fence: what is added inside the fence adds no voice, neither its own
// nor, by another choice of tables, the prose's.
func TestFencesAddNoVoice(t *testing.T) {
	frames := map[string]string{
		"fence":      "\n\n```\n%s\n```\n",
		"open fence": "\n\n~~~text\n%s\n",
		"edit block": "\n\n<<<<<<< SEARCH\n%s\n=======\n>>>>>>> REPLACE\n",
	}
	texts := maps.Clone(inEach)
	texts["mixed"] = "The redirect was in the middleware, and the test of it did not see the second call.\nГотово. " +
		"完成。 Hecho."
	for name, words := range texts {
		before := judge(t, Input{Text: words})
		for kind, frame := range frames {
			for other, added := range inEach {
				after := judge(t, Input{Text: words + strings.Replace(frame, "%s", strings.Repeat(added+"\n", 30), 1)})
				assert.Equal(t, voiced(before), voiced(after), "%s behind %s: %s", other, name, kind)
			}
		}
	}
}

// voiced returns where a verdict found what only the agent's voice holds.
func voiced(r Result) [][2]int {
	var spans [][2]int
	for _, s := range r.Signals {
		if slices.Contains([]SignalKind{SignalClaim, SignalHedge, SignalQuestion, SignalFailure, signalPromise,
			signalOffer}, s.Kind) {
			spans = append(spans, [2]int{s.Start, s.End})
		}
	}
	return spans
}

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", " \n\t\n", nil},
		{"prose", "I fixed it. **All tests pass!** Shall I push?\n", []string{"prose:I fixed it.",
			"prose:**All tests pass!**", "prose:Shall I push?"}},
		{"items", "- Added `a.go`. It works.\n2. [x] Ran it\n", []string{"Added `a.go`.", "It works.", "Ran it"}},
		{"heading, table", "## Done\n| a | b |\n|---|---|\n", []string{"Done", "| a | b |"}},
		{"hard wrap", "This sentence is longer than forty characters and\ngoes on here. Next.", []string{
			"prose:This sentence is longer than forty characters and\ngoes on here.", "prose:Next."}},
		{"behind a list", "- Moved the check of the session in front of the guard\n\n`npm run build` also passes.\n",
			[]string{"Moved the check of the session in front of the guard", "prose:`npm run build` also passes."}},
		{"item, hard wrap", "- Moved the check of the session in front of\n  `guard`.\n", []string{
			"Moved the check of the session in front of\n  `guard`."}},
		{"fence", "Look:\n```go\nx := 1. y\n\nz\n```\n> said\n> twice\nend", []string{
			"prose:Look:", "prose:end"}},
		{"Chinese", "已修复。测试通过了吗？", []string{"prose:已修复。", "prose:测试通过了吗？"}},
		{"CRLF", "One.\r\nTwo.\r\n", []string{"prose:One.", "prose:Two."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range Sentences(c.text) {
				kind := ""
				if s.Paragraph {
					kind = "prose:"
				}
				got = append(got, kind+c.text[s.Start:s.End])
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// The sentences of any text are in order, apart and not empty, and leave out nothing that a human reads but markers.
func TestSentencesCover(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for i, c := range loadCases(t, "cases/*.jsonl") {
		if i%2 > 0 && !sweep {
			continue
		}
		sentences, end := Sentences(c.Input.Text), 0
		for _, s := range sentences {
			assert.LessOrEqual(t, end, s.Start, c.Name)
			assert.NotEmpty(t, strings.TrimSpace(c.Input.Text[s.Start:s.End]), c.Name)
			end = s.End
		}
		for _, sig := range judge(t, c.Input).Signals {
			inside := sig.Kind == SignalEvidence
			for _, s := range sentences {
				inside = inside || s.Start <= sig.Start && sig.End <= s.End
			}
			assert.True(t, inside, "%s: signal %q is in no sentence", c.Name, c.Input.Text[sig.Start:sig.End])
		}
	}
}

func TestLanguage(t *testing.T) {
	for want, text := range map[string]string{
		"en": "I fixed the login and ran the tests.",
		"de": "Ich habe die Anmeldung korrigiert und die Tests laufen wieder.",
		"es": "He corregido el inicio de sesión y las pruebas pasan.",
		"pt": "Corrigi o login e os testes não falham mais, mas falta um caso.",
		"fr": "J'ai corrigé la connexion et les tests passent dans tous les cas.",
		"cs": "Opravil jsem přihlášení a všechny testy prošly, což je dobře.",
		"ru": "Исправил вход, и все тесты проходят.",
		"zh": "已修复登录问题，所有测试都通过了。",
		"ja": "ログインを修正しました。テストはすべて成功しています。",
		"":   "Kirjautuminen korjattiin eilen myöhään illalla kokonaan.",
	} {
		assert.Equal(t, want, judge(t, Input{Text: text}).Language, text)
	}
}
