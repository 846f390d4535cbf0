package classify

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
		"12 тестов прошли.", "Все 12 тестов успешно пройдены", "Прошли все 12 тестов.", "12 из 12 тестов проходят", "Тесты: 12/12", "Прогнал тесты: 42 прошло, 0 упало.",
		"Ни один из 42 тестов не упал.", "Прогнал 42 теста — все зелёные.", "Юнит-тесты: 18 пройдено",
		"Prošlo všech 12 testů.", "12 z 12 testů prochází", "Spustil jsem testy: 42 prošlo, 0 selhalo.", "Všech 42 testů je zelených, prošlo 42 testů", "87 testů, 0 chyb",
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	for _, text := range []string{"Команда вернула код возврата 0.", "Завершилось с кодом 0", "Příkaz skončil s návratovým kódem 0."} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceExitCode, text)
	}
	for _, text := range []string{
		"Все тесты проходят.", "42 теста прошли, 2 упали.", "Должны пройти все 42 теста.", "Ожидается, что 42 теста пройдут.", "40 из 42 тестов проходят.",
		"Všechny testy prochází.", "40 z 42 testů prochází.", "Mělo by projít všech 42 testů.",
	} {
		assert.NotContains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
}

// What is denied, put off or asked is no claim; ё and е are one letter.
func TestSlavicClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"Всё готово.": true, "Все готово.": true, "Ошибка исправлена.": true, "Отчёт обновлён.": true, "Я добавил проверку.": true, "Исправлены права файла.": true,
		"Ошибка ещё не исправлена.": false, "Нужно, чтобы ошибка была исправлена.": false, "Ошибка исправлена?": false, "Кнопка «Всё готово» лишняя.": false,
		"Všechno hotovo.": true, "Chyba je opravená, je opravena.": true, "Přidal jsem kontrolu.": true, "Nyní vše funguje.": true,
		"Chyba ještě není opravena.": false, "Je chyba opravena?": false, "Ujistěte se, že je adresa správně nastavena.": false,
	} {
		names := signals(judge(t, Input{Text: text}))
		assert.Equal(t, want, slices.Contains(names, "claim.done") || slices.Contains(names, "claim.edit"), "%s %v", text, names)
	}
}

// A full stop before a small letter ends no sentence, and a line that begins with one goes on with what stands above it.
func TestSlavicSentences(t *testing.T) {
	h := newHeuristic(t)
	names := func(text string) []string { return h.Features(Input{Text: text}) }
	assert.Contains(t, names("Кэш сбрасывается при записи, т.е. чтение после неё идёт в базу"), "sentences:1")
	assert.Contains(t, names("Сервер читает настройки один раз при запуске и больше\nк файлу не обращается"), "sentences:1")
}
