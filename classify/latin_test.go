package classify

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		_, sents := lex.tokenize(nil, nil, buf, text)
		assert.Len(t, sents, want, text)
	}
}

// Counted results are evidence in each language; bare claims, targets and failures are none.
func TestLatinEvidence(t *testing.T) {
	for _, text := range []string{
		"Alle 42 Tests laufen durch, der Fehler ist behoben.", "12 von 12 Testfällen bestanden.", "Ergebnis: 31 bestanden, 0 fehlgeschlagen.", "37/37 Tests grün, fertig.",
		"Las 42 pruebas pasan, el error está corregido.", "Ejecuté la suite: 214 pruebas pasaron, 0 fallos.", "37 de 37 pruebas en verde.",
		"Les 42 tests passent, l'erreur est corrigée.", "37 tests sur 37 passent désormais.", "Résultat : 31 tests réussis, 0 échec.",
		"Os 42 testes passaram, o erro está corrigido.", "Rodei tudo: 214 testes passaram, 0 falhas.", "37 de 37 testes passando.",
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	for _, text := range []string{
		"Alle Tests laufen durch.", "Ziel: 42 von 42 Tests grün.", "42 Tests, 3 fehlgeschlagen.", "Danach sollten alle 42 Tests grün sein.",
		"Todas las pruebas pasan.", "Objetivo: 42 pruebas pasan.", "42 pruebas, 3 fallaron.", "Las 42 pruebas deberían pasar, en verde todas.",
		"Tous les tests passent.", "Objectif : 42 tests passent.", "42 tests, dont 3 échoués.",
		"Todos os testes passam.", "Meta: 42 testes passando.", "42 testes, 3 falharam.",
	} {
		assert.NotContains(t, judge(t, Input{Text: text}).Shown(nil), EvidenceTests, text)
	}
	for text, kind := range map[string]EvidenceKind{
		"Der Befehl endete mit Exit-Code 0.": EvidenceExitCode, "Terminó con código de salida 0, sin más.": EvidenceExitCode,
		"Il se termine avec le code de sortie 0.": EvidenceExitCode, "Terminou com código de saída 0.": EvidenceExitCode,
		"Der Endpunkt antwortet wieder mit 200.": EvidenceOutput, "El endpoint ya devuelve 200 otra vez.": EvidenceOutput,
		"La route renvoie maintenant 200.": EvidenceOutput, "A rota agora retorna 200.": EvidenceOutput,
	} {
		assert.Contains(t, judge(t, Input{Text: text}).Shown(nil), kind, text)
	}
}

// What is denied, put off or asked is no claim, whether the participle stands first or last.
func TestLatinClaims(t *testing.T) {
	for text, want := range map[string]bool{
		"Ich habe die Weiterleitung im Login endlich korrigiert.": true, "Erledigt. Die Übersetzung ist da.": true, "Die Datei wurde umbenannt.": true,
		"Ich habe die Weiterleitung noch nicht korrigiert.": false, "Sobald die Datei umbenannt ist, geht es weiter.": false, "Wurde die Datei schon umbenannt?": false,
		"He corregido la redirección del login.": true, "Se actualizó el módulo de pagos.": true, "La migración está terminada.": true,
		"No he corregido la redirección.": false, "Cuando la migración esté terminada, aviso.": false, "¿Ya está terminada la migración?": false,
		"J'ai corrigé la redirection après la connexion.": true, "Le fichier a été renommé.": true, "La migration est terminée.": true,
		"Je n'ai pas corrigé la redirection.": false, "Le fichier doit être renommé.": false, "La migration est-elle terminée ?": false,
		"Corrigi a redireção do login.": true, "A correção foi aplicada em produção.": true, "No arquivo de rotas foram removidos os imports.": true,
		"Não corrigi a redireção.": false, "A correção ainda não foi aplicada.": false, "A migração já foi concluída?": false,
	} {
		r := judge(t, Input{Text: text})
		assert.Equal(t, want, hasSignal(r, SignalClaim, "done") || hasSignal(r, SignalClaim, "edit"), "%s %v", text, r.Signals)
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
		assert.Equal(t, want, hasSignal(r, SignalOffer, "next"), "%s %v", text, r.Signals)
	}
}

// A text with no accents, or hardly any, is read in its language all the same, and so is the request beside it.
func TestLanguageWithoutAccents(t *testing.T) {
	h := newHeuristic(t)
	for text, want := range map[string]string{
		"Fertig, die Tests laufen durch.": "de", "Listo, todas las pruebas pasan.": "es", "Les tests passent maintenant.": "fr",
		"Feito! Todos os testes passam.": "pt", "Comment puis-je vous aider aujourd'hui ?": "fr", "Fertig.": "de", "Hotovo!": "cs",
		"Primeiro vou olhar a estrutura do projeto.": "pt", "Done, the tests pass.": "en", "Updated the es and fr locale files.": "en",
		"Fixed the café page.": "en", "The de facto default is en.": "en",
	} {
		rd, req, err := h.read(t.Context(), Input{Text: text, Request: "ok"}, false)
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
