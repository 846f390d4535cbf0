package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReadReply(t *testing.T) {
	for want, list := range map[Reply][]string{
		ReplyNone: {"", " \n", "...", "??"},
		ReplyNudge: {
			"continue", "Continue.", "please continue", "OK, go on!", "okay continue", "thanks, continue", "👍 continue", "go on then", "keep going", "proceed with the plan",
			"keep going until all tests pass", "finish the remaining tasks", "do the rest", "next step", "and?", "Continue from where you left off.",
			"Run the tests.", "did you run the tests?", "can you run all the unit tests please", "re-run the tests", "have you run the tests yet?", "Great! Now run the tests.",
			"show me the output", "Show me the full test output, please", "Can you show me the output of the tests?", "does it actually work?", "did it work?", "do all tests pass?",
			"run the tests and show me the output", "Continue. Then run the tests, please.", "keep going, and run the tests",
			"can you run lint, test and check-types", "run lint and the tests", "please run the linter, the type checker and the unit tests", "run npm test, then lint",
			"did you run eslint and tsc?", "test it", "verify it works", "double check", "prove it", "where is the proof?", "are you done?", "/run go test ./...", "go test ./...",
			"继续", "继续吧", "好的，继续", "请继续执行", "运行一下测试看看", "给我看一下测试输出", "続けて", "続けてください。", "テストを実行してください", "進めてください",
			"weiter", "Mach weiter!", "mach bitte weiter", "bitte weitermachen", "Zeig mir die Ausgabe der Tests", "lass die tests laufen",
			"continuez", "continue stp", "lance les tests et montre-moi la sortie", "pokračuj", "tak pokračuj, prosím",
			"continúa por favor", "ejecuta las pruebas", "pode continuar", "продолжай", "продолжай дальше", "запусти тесты, пожалуйста",
		},
		ReplyYesNudge: {
			"yes, continue", "Yes continue!", "yes, go ahead and run the tests", "yes run the tests", "ja, mach weiter", "ja mach weiter", "oui, continue",
			"sí, continúa", "да, продолжай", "ano, pokračuj", "はい、続けて", "是的，继续",
		},
		ReplyAssent: {
			"yes", "yes please", "y", "ok", "OK!", "sure, go ahead", "go ahead", "do it", "looks good", "LGTM, ship it", "great", "implement the plan", "👍",
			"ja, bitte", "passt", "oui", "vale", "да", "ок", "好的", "可以", "はい", "お願いします", "jo",
		},
		ReplyAnswer: {
			"Yes, drop it.", "no", "no, keep it", "no, use postgres", "A", "2", "the second one", "Option B", "b) and hurry", "proceed with option B", "use Postgres",
			"I'd prefer SQLite", "don't do that", "never mind", "stop", "Stop, that's wrong", "both", "not yet", "nein, nimm Postgres", "non, la deuxième", "нет", "第二个", "不要用这个", "いいえ",
		},
		ReplyOther: {
			"Now add a logout button.", "and add a logout button", "Fix the login redirect.", "the tests are in the wrong folder", "continue with the second task in the list and rename foo",
			"run the tests and add a logout button", "continue, then rename foo to bar", "continue " + strings.Repeat("and on ", 40), "Nothing works.", "run a marathon", "go home",
			"perfect, now add a footer", "ok now do the same for the logout page", "looks good, merge", "thanks", "great, thanks!", "correct the typo in the readme",
			"right click does not work", "I want a footer as well", "let's do the logout next", "stop the server and restart it", "wait for the CI", "all tests must pass",
			"proceed with the deployment", "run the migration", "lint the footer", "run lint on the new footer component", "fix it", "commit and push", "why did you change that?", "para el logout usa otra página",
		},
	} {
		for _, words := range list {
			require.Equal(t, want, ReadReply(words), words)
		}
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add("Yes, \xff do it")
	f.Fuzz(func(t *testing.T, words string) {
		got := ReadReply(words)
		require.Contains(t, []Reply{ReplyNone, ReplyNudge, ReplyAssent, ReplyYesNudge, ReplyAnswer, ReplyOther}, got)
		require.Equal(t, got, ReadReply(" \n"+words+"\t"), "white space around says nothing")
	})
}
