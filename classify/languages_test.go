package classify

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Counted results are evidence in Chinese, too; bare claims, targets and failures are none.
func TestChineseEvidence(t *testing.T) {
	for _, text := range []string{
		"全部 12 个测试通过。", "12 项断言全部通过。", "运行了单元测试，28 个用例均通过。", "14/14 全部通过", "测试结果：通过 31 个，失败 0 个。",
		"通过 31，失败 0",
		"跑了 22 项断言（权限、分页、排序），全部通过。", "42 个测试用例全部跑通，耗时 3 秒",
		"執行結果：全部 64 個測試通過",
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	assert.Contains(t, judge(t, Input{Text: "重新执行脚本，退出码为 0。"}).Shown(nil), EvidenceExitCode)
	assert.Contains(t, judge(t, Input{Text: "访问首页，返回 200。"}).Shown(nil), EvidenceOutput)
	for _, text := range []string{
		"所有测试都通过了。", "目标：42 个测试全部通过。", "预期 18 个测试都会通过。", "12 个测试，3 个失败。", "通过 31 个，失败 2 个。",
		"通过 31，失败 2",
		"修复之后应该能让 12 个测试全部通过。",
	} {
		assert.NotContains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
}

func hasSignal(r Result, kind SignalKind, name string) bool {
	return slices.ContainsFunc(r.Signals, func(s Signal) bool { return s.Kind == kind && s.Name == name })
}

// What is denied, put off, asked or quoted is no claim.
func TestChineseClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"登录问题已修复。": true, "已经全部完成。": true, "修复完成，请刷新页面。": true, "第 2 批已完成（3 个文件）。": true,
		"【结果】全部完成":  true,
		"登录问题尚未修复。": false, "还没有全部完成。": false, "等问题修复后再合并。": false, "问题已修复了吗？": false,
		`弹窗里的"问题已修复"是写死的文案。`: false,
		"需要先完成迁移。":           false, "已存在的用户不受影响。": false,
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, want, hasSignal(r, SignalClaim, "done") || hasSignal(r, SignalClaim, "edit"), "%s %v", text,
			r.Signals)
	}
}

func TestChineseLayout(t *testing.T) {
	h := newHeuristic(t)
	names := func(text string) []string { return h.Features(Input{Text: text}) }
	for _, text := range []string{"改了两处：\n1、修复分页\n2、更新文档", "改了两处：\n1.修复分页\n2.更新文档",
		"改了两处：\n1）修复分页\n2）更新文档",
		"改了两处：\n1)修复分页\n2)更新文档"} {
		assert.Contains(t, names(text), "items", text)
	}
	assert.NotContains(t, names("版本号如下：\n1.5 版修复分页\n2.0 版更新文档"), "items")
	// What follows a full stop of full width is a block of its own.
	assert.Contains(t, names("分页参数的校验已经调整好，接口文档和示例代码也同步更新了一遍。\n`page` 从几开始，由哪一端决定？"),
		"ends:question")
}

// Counted results are evidence however Japanese counts them; denied, expected and failing ones are none.
func TestJapaneseEvidence(t *testing.T) {
	for text, want := range map[string]bool{
		"12件すべてパスしました。":              true,
		"12件すべてパス":                   true,
		"１２件すべてパスしました。":              true,
		"全214件のテストがパスしています。":         true,
		"テスト: 12件成功、0件失敗":            true,
		"テストは 7/7 件成功です。":            true,
		"12件中12件が成功しました。":            true,
		"テスト結果は 45 件成功、失敗 0 件でした。":   true,
		"すべてのテスト（18件）が通りました。":        true,
		"`pytest` の結果、31 件すべて通りました。": true,
		"12件中11件が成功しました。":            false,
		"12件が成功、3件が失敗しました。":          false,
		"45件が成功し、3件のテストが失敗しました。":     false,
		"テスト 12 件のうち失敗 2 件":          false,
		"12件すべてパスするはずです。":            false,
		"すべてのテストがパスしました。":            false,
		"テストを12件追加しました。":             false,
		"12件の商品を登録しました。":             false,
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, want, slices.Contains(r.Shown(nil), EvidenceTests), "%s: %v", text, r.Signals)
	}
}

// Polite questions need no question mark; indirect ones and statements are none.
func TestJapaneseQuestions(t *testing.T) {
	h := newHeuristic(t)
	for text, want := range map[string]bool{
		"この計画で進めてよろしいでしょうか。": true,
		"どちらの案にしますか。":        true,
		"先に取り込みますか":          true,
		"削除してよいですか？":         true,
		"表示されるかどうかを確認します。":   false,
		"ログが出ているか":           false,
		"「削除しますか」と表示されます。":   false,
		"設定は完了しています。":        false,
		"確認した項目は次のとおりですか:\n": false,
	} {
		rd, _, err := h.read(Input{Text: text}, false)
		require.NoError(t, err)
		assert.Equal(t, want, rd.questions > 0, text)
	}
}

// A claim with a hedge and nothing behind it, in a language that the tables know.
func TestJapaneseHedge(t *testing.T) {
	r := judge(t, Input{Text: "ログインのリダイレクトを修正しました。これで動くはずです。"})
	assert.True(t, r.WasRejectedCompletion, r.Reason)
	assert.Greater(t, r.Confidence, maxUnread)
}

func TestEastMarkers(t *testing.T) {
	for text, want := range map[string]lineKind{
		"・入力チェックを追加":                    itemLine,
		"● 画面を修正":                       itemLine,
		"① 依存関係を更新":                     itemLine,
		"１．サーバーを停止":                     itemLine,
		"１２）再起動":                        itemLine,
		"■ 変更内容":                        headingLine,
		"【実施内容】":                        headingLine,
		"【注意】再起動が必要です":                  paragraphLine,
		"１２件の結果":                        paragraphLine,
		"■ You've hit your usage limit": paragraphLine,
		"■":                             paragraphLine,
		"０":                             paragraphLine,
		"１\xef":                         paragraphLine,
	} {
		r := newLineReader(text)
		l, ok := r.next()
		require.True(t, ok, text)
		assert.Equal(t, want, l.kind, text)
		assert.LessOrEqual(t, l.start, l.end, text)
	}
}

// groupsOfATable completes a table: the groups that code asks for.
const groupsOfATable = `
@not = not
@later = will
@to = to
@clause = and
@fail = failed
@tests = tests
@id = id
@whole = thing
@unreal = expected
@other = like
@of = of
@finite = is
@or = or
`

// An alternative of several words, and a phrase for the end of a clause only.
func TestPhrasesOfSeveralWords(t *testing.T) {
	h, err := NewHeuristic(Tables(fstest.MapFS{
		"en.txt": {Data: []byte(groupsOfATable + `
@now = now|by+now
[claim done]
docs [really] up+to+date|ready @now
[hedge should end]
added [works]
`)},
	}))
	require.NoError(t, err)
	for text, want := range map[string]string{
		"The docs up to date by now.":        "docs up to date by now",
		"The docs really up to date now":     "docs really up to date now",
		"The docs ready now":                 "docs ready now",
		"The docs up to now":                 "",
		"The docs ready by then":             "",
		"A column added":                     "added",
		"A column added, and a row":          "added",
		"A column added works (sometimes).":  "added works",
		"A column added to the table":        "",
		"The docs up to `date` now":          "",
		"The docs up to date by now, added.": "docs up to date by now",
	} {
		r, err := h.Classify(context.Background(), Input{Text: text})
		require.NoError(t, err)
		got := ""
		if len(r.Signals) > 0 {
			got = text[r.Signals[0].Start:r.Signals[0].End]
		}
		assert.Equal(t, want, got, text)
	}
}

func TestFaultyAlternatives(t *testing.T) {
	for name, c := range map[string]struct{ table, want string }{
		"joined word is empty": {"[claim done]\nready+|done\n", "an empty word"},
		"a frequent word":      {"[words]\nof|\n", "an empty word"},
		"frequent words":       {"[words]\nof+the\n", `"of+the" is never one word in a text`},
	} {
		_, err := NewHeuristic(Tables(fstest.MapFS{"en.txt": {Data: []byte(groupsOfATable + c.table)}}))
		assert.ErrorContains(t, err, c.want, name)
	}
	for name, c := range map[string]struct{ group, want string }{
		"group for code": {"@of = out+of", "group @of holds words joined by +"},
		"other language": {"@among = out+of", "group @among holds words joined by +"},
	} {
		_, err := NewHeuristic(Tables(fstest.MapFS{
			"en.txt": {Data: []byte(groupsOfATable + "[claim done]\nready\n")}, "fr.txt": {Data: []byte(c.group)},
		}))
		assert.ErrorContains(t, err, c.want, name)
	}
}

// The full stops of an abbreviation of two letters end no sentence.
func TestAbbreviations(t *testing.T) {
	lex := builtinLexicon(t, "de")
	for text, want := range map[string]int{
		"Soll ich die Formate (z. B. CSV) ergänzen?":   1,
		"Das gilt d. h. für beide, u. a. für Importe.": 1,
		"Das gilt z.\u00a0B. für Importe.":             1,
		"Variante B. Danach folgt C. Beides geht.":     3,
		"Erledigt. Weiter mit a. Fertig.":              3,
		"a. b.":                                        1,
		"a.":                                           1,
	} {
		buf, _ := mask(nil, text)
		_, sents := lex.tokenize(nil, nil, buf)
		assert.Len(t, sents, want, text)
	}
}

// Counted results are evidence in each language; bare claims, targets and failures are none.
func TestLatinEvidence(t *testing.T) {
	for _, text := range []string{
		"Alle 42 Tests laufen durch, der Fehler ist behoben.", "12 von 12 Testfällen bestanden.",
		"Ergebnis: 31 bestanden, 0 fehlgeschlagen.", "37/37 Tests grün, fertig.",
		"Las 42 pruebas pasan, el error está corregido.", "Ejecuté la suite: 214 pruebas pasaron, 0 fallos.",
		"37 de 37 pruebas en verde.",
		"Les 42 tests passent, l'erreur est corrigée.", "37 tests sur 37 passent désormais.",
		"Résultat : 31 tests réussis, 0 échec.",
		"Os 42 testes passaram, o erro está corrigido.", "Rodei tudo: 214 testes passaram, 0 falhas.",
		"37 de 37 testes passando.",
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	for _, text := range []string{
		"Alle Tests laufen durch.", "Ziel: 42 von 42 Tests grün.", "42 Tests, 3 fehlgeschlagen.",
		"Danach sollten alle 42 Tests grün sein.",
		"Todas las pruebas pasan.", "Objetivo: 42 pruebas pasan.", "42 pruebas, 3 fallaron.",
		"Las 42 pruebas deberían pasar, en verde todas.",
		"Tous les tests passent.", "Objectif : 42 tests passent.", "42 tests, dont 3 échoués.",
		"Todos os testes passam.", "Meta: 42 testes passando.", "42 testes, 3 falharam.",
	} {
		assert.NotContains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	for text, kind := range map[string]EvidenceKind{
		"Der Befehl endete mit Exit-Code " +
			"0.": EvidenceExitCode, "Terminó con código de salida 0, sin más.": EvidenceExitCode,
		"Il se termine avec le code de sortie " +
			"0.": EvidenceExitCode, "Terminou com código de saída 0.": EvidenceExitCode,
		"Der Endpunkt antwortet wieder mit " +
			"200.": EvidenceOutput, "El endpoint ya devuelve 200 otra vez.": EvidenceOutput,
		"La route renvoie maintenant 200.": EvidenceOutput, "A rota agora retorna 200.": EvidenceOutput,
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), kind, text)
	}
}

// What is denied, put off or asked is no claim, whether the participle stands first or last.
func TestLatinClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"Ich habe die Weiterleitung im Login endlich korrigiert.": true, "Erledigt. Die Übersetzung ist da.": true,
		"Die Datei wurde umbenannt.":                        true,
		"Ich habe die Weiterleitung noch nicht korrigiert.": false,
		"Sobald die Datei umbenannt ist, geht es weiter.":   false, "Wurde die Datei schon umbenannt?": false,
		"He corregido la redirección del login.": true, "Se actualizó el módulo de pagos.": true,
		"La migración está terminada.":    true,
		"No he corregido la redirección.": false, "Cuando la migración esté terminada, aviso.": false,
		"¿Ya está terminada la migración?":                false,
		"J'ai corrigé la redirection après la connexion.": true, "Le fichier a été renommé.": true,
		"La migration est terminée.":          true,
		"Je n'ai pas corrigé la redirection.": false, "Le fichier doit être renommé.": false,
		"La migration est-elle terminée ?": false,
		"Corrigi a redireção do login.":    true, "A correção foi aplicada em produção.": true,
		"No arquivo de rotas foram removidos os imports.": true,
		"Não corrigi a redireção.":                        false, "A correção ainda não foi aplicada.": false,
		"A migração já foi concluída?": false,
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, want, hasSignal(r, SignalClaim, "done") || hasSignal(r, SignalClaim, "edit"), "%s %v", text,
			r.Signals)
	}
}

// Going on with the next piece is an offer, a choice is none.
func TestLatinOffers(t *testing.T) {
	for text, want := range map[string]bool{
		"Soll ich mit Aufgabe 7 weitermachen?": true, "Soll ich die Tabelle löschen oder behalten?": false,
		"¿Continúo con la tarea 7?": true, "¿Elimino la tabla o la mantengo?": false,
		"Dois-je continuer avec la tâche 7 ?": true, "Dois-je supprimer la table ou la garder ?": false,
		"Posso seguir para a tarefa 7?": true, "Apago a tabela ou mantenho?": false,
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, want, hasSignal(r, signalOffer, "next"), "%s %v", text, r.Signals)
	}
}

// A text with no accents, or hardly any, is read in its language all the same, and so is the request beside it.
func TestLanguageWithoutAccents(t *testing.T) {
	h := newHeuristic(t)
	for text, want := range map[string]string{
		"Fertig, die Tests laufen durch.": "de", "Listo, todas las pruebas pasan.": "es",
		"Les tests passent maintenant.":  "fr",
		"Feito! Todos os testes passam.": "pt", "Comment puis-je vous aider aujourd'hui ?": "fr", "Fertig.": "de",
		"Hotovo!": "cs",
		"Primeiro vou olhar a estrutura do projeto.": "pt", "Done, the tests pass.": "en",
		"Updated the es and fr locale files.": "en",
		"Fixed the café page.":                "en", "The de facto default is en.": "en",
	} {
		rd, req, err := h.read(Input{Text: text, Request: "ok"}, false)
		require.NoError(t, err)
		assert.Equal(t, want, rd.language, text)
		assert.Equal(t, want, req.language, text)
		assert.True(t, rd.fits(), text)
	}
}

// builtinLexicon returns the built-in lexicon that texts in a language are read with.
func builtinLexicon(tb testing.TB, language string) *lexicon {
	l, err := builtin.languages()
	require.NoError(tb, err)
	lex, err := l.lexicons[slices.Index(l.names, language)]()
	require.NoError(tb, err)
	return lex
}

func signals(r Result) []string {
	var names []string
	for _, s := range r.Signals {
		names = append(names, string(s.Kind)+"."+s.Name)
	}
	return names
}

// Counted results are evidence in Russian and Czech, too; bare claims, goals and failures are none.
func TestSlavicEvidence(t *testing.T) {
	for _, text := range []string{
		"12 тестов прошли.", "Все 12 тестов успешно пройдены", "Прошли все 12 тестов.",
		"12 из 12 тестов проходят",
		"Тесты: 12/12", "Прогнал тесты: 42 прошло, 0 упало.",
		"Ни один из 42 тестов не упал.", "Прогнал 42 теста — все зелёные.",
		"Юнит-тесты: 18 пройдено",
		"Prošlo všech 12 testů.", "12 z 12 testů prochází", "Spustil jsem testy: 42 prošlo, 0 selhalo.",
		"Všech 42 testů je zelených, prošlo 42 testů", "87 testů, 0 chyb",
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	for _, text := range []string{"Команда вернула код возврата 0.", "Завершилось с кодом 0",
		"Příkaz skončil s návratovým kódem 0."} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceExitCode, text)
	}
	for _, text := range []string{
		"Все тесты проходят.", "42 теста прошли, 2 упали.", "Должны пройти все 42 теста.",
		"Ожидается, что 42 теста пройдут.", "40 из 42 тестов проходят.",
		"Všechny testy prochází.", "40 z 42 testů prochází.", "Mělo by projít všech 42 testů.",
	} {
		assert.NotContains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
}

// What is denied, put off or asked is no claim; ё and е are one letter.
func TestSlavicClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"Всё готово.": true, "Все готово.": true, "Ошибка исправлена.": true,
		"Отчёт обновлён.":     true,
		"Я добавил проверку.": true, "Исправлены права файла.": true,
		"Ошибка ещё не исправлена.": false, "Нужно, чтобы ошибка была исправлена.": false,
		"Ошибка исправлена?":          false,
		"Кнопка «Всё готово» лишняя.": false,
		"Všechno hotovo.":             true, "Chyba je opravená, je opravena.": true, "Přidal jsem kontrolu.": true,
		"Nyní vše funguje.":          true,
		"Chyba ještě není opravena.": false, "Je chyba opravena?": false,
		"Ujistěte se, že je adresa správně nastavena.": false,
	} {
		names := signals(judge(t, Input{Text: text}))
		assert.Equal(t, want, slices.Contains(names, "claim.done") || slices.Contains(names, "claim.edit"), "%s %v", text,
			names)
	}
}

// A full stop before a small letter ends no sentence, and a line that begins with one goes on with what stands above
// it.
func TestSlavicSentences(t *testing.T) {
	h := newHeuristic(t)
	names := func(text string) []string { return h.Features(Input{Text: text}) }
	assert.Contains(t, names("Кэш сбрасывается при записи, т.е. чтение после неё идёт в базу"),
		"sentences:1")
	assert.Contains(t, names("Сервер читает настройки один раз при запуске и больше\nк файлу не обращается"),
		"sentences:1")
}

// In scripts without spaces words of the tables run into one another. Each phrase has to be found in at least one of
// the ways in which it can be written, or it is no use.
func TestUnspacedPhrasesAreFound(t *testing.T) {
	for _, language := range []string{"zh", "ja"} {
		lex := builtinLexicon(t, language)
		for i := range lex.patterns {
			pat := &lex.patterns[i]
			ways, unspacedOnly := lex.spellings(pat)
			if !unspacedOnly {
				continue
			}
			name := "ignore"
			if !pat.ignored {
				name = string(lex.rules[pat.rule].kind) + "." + lex.rules[pat.rule].name
			}
			assert.True(t, slices.ContainsFunc(ways, lex.splits), "%s: %v is cut otherwise", name, ways[0])
		}
	}
}

// splits reports whether the words, written without spaces, are the tokens again.
func (lex *lexicon) splits(words []string) bool {
	text := strings.Join(words, "")
	buf, _ := mask(nil, text)
	toks, _ := lex.tokenize(nil, nil, buf)
	if len(toks) != len(words) {
		return false
	}
	for i, t := range toks {
		if text[t.start:t.end] != words[i] {
			return false
		}
	}
	return true
}

// spellings returns some of the ways in which a pattern can be written, each alternative of each element at least once,
// without what may be left out, and whether all of them consist of words without spaces.
func (lex *lexicon) spellings(pat *pattern) (ways [][]string, unspacedOnly bool) {
	var positions [][][]string
	most := 0
	for _, e := range pat.elems {
		if e.opt || e.gap {
			continue
		}
		if e.any&^(1<<numberToken) != 0 || e.tail != 0 || e.any != 0 && len(e.ids) == 0 {
			return nil, false
		}
		var choices [][]string
		for _, id := range e.ids {
			choices = append(choices, []string{lex.vocab.words[id]})
		}
		for _, run := range e.runs {
			var words []string
			for _, id := range run {
				words = append(words, lex.vocab.words[id])
			}
			choices = append(choices, words)
		}
		positions = append(positions, choices)
		most = max(most, len(choices))
	}
	for shift := range 7 { // so that different choices meet
		for n := range most {
			var words []string
			for k, choices := range positions {
				words = append(words, choices[(n+k*shift)%len(choices)]...)
			}
			for _, w := range words {
				if r := []rune(w)[0]; !unspaced(r) {
					return nil, false
				}
			}
			ways = append(ways, words)
		}
	}
	return ways, len(ways) > 0
}
