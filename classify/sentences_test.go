package classify

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSentences(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"empty", " \n\t\n", nil},
		{"prose", "I fixed it. **All tests pass!** Shall I push?\n", []string{"prose:I fixed it.", "prose:**All tests pass!**", "prose:Shall I push?"}},
		{"items", "- Added `a.go`. It works.\n2. [x] Ran it\n", []string{"item:Added `a.go`.", "item:It works.", "item:Ran it"}},
		{"heading, table", "## Done\n| a | b |\n|---|---|\n", []string{"heading:Done", "table:| a | b |"}},
		{"hard wrap", "This sentence is longer than forty characters and\ngoes on here. Next.", []string{
			"prose:This sentence is longer than forty characters and\ngoes on here.", "prose:Next."}},
		{"fence", "Look:\n```go\nx := 1. y\n\nz\n```\n> said\n> twice\nend", []string{
			"prose:Look:", "code:x := 1. y\n\nz", "quote:> said\n> twice", "prose:end"}},
		{"Chinese", "已修复。测试通过了吗？", []string{"prose:已修复。", "prose:测试通过了吗？"}},
		{"CRLF", "One.\r\nTwo.\r\n", []string{"prose:One.", "prose:Two."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range Sentences(c.text) {
				got = append(got, string(s.Kind)+":"+c.text[s.Start:s.End])
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// The sentences of any text are in order, apart and not empty, and leave out nothing that a human reads but markers.
func TestSentencesCover(t *testing.T) {
	for _, c := range loadCases(t, "cases/*.jsonl") {
		end := 0
		for _, s := range Sentences(c.Input.Text) {
			assert.LessOrEqual(t, end, s.Start, c.Name)
			assert.NotEmpty(t, strings.TrimSpace(c.Input.Text[s.Start:s.End]), c.Name)
			end = s.End
		}
		for _, sig := range judge(t, c.Input).Signals {
			inside := false
			for _, s := range Sentences(c.Input.Text) {
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
