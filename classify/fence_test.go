package classify

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// inEach says in each language of the tables that it is fixed, that it should work, and asks whether to go on.
var inEach = map[string]string{
	"en": "Fixed the login redirect, it should work now. All done. Should I go on?",
	"de": "Ich habe die Weiterleitung korrigiert, das sollte jetzt funktionieren. Alles erledigt. Soll ich weitermachen?",
	"es": "He corregido la redirección, debería funcionar ahora. Todo listo. ¿Quieres que continúe?",
	"fr": "J'ai corrigé la redirection, cela devrait fonctionner. Tout est prêt. Voulez-vous que je continue ?",
	"pt": "Corrigi o redirecionamento, deve funcionar agora. Tudo pronto. Quer que eu continue?",
	"cs": "Opravil jsem přesměrování, mělo by to fungovat. Vše je hotovo. Mám pokračovat?",
	"ru": "Исправил перенаправление, должно работать. Всё готово. Мне продолжать?",
	"zh": "我已经修复了登录重定向，应该可以正常工作了。全部完成。要继续吗？",
	"ja": "ログインのリダイレクトを修正しました。動くはずです。すべて完了しました。続けますか？",
}

// Whatever the languages of the prose and of the fence: what is added inside the fence adds no voice, neither its own nor, by
// another choice of tables, the prose's.
func TestFencesAddNoVoice(t *testing.T) {
	frames := map[string]string{
		"fence":      "\n\n```\n%s\n```\n",
		"open fence": "\n\n~~~text\n%s\n",
		"edit block": "\n\n<<<<<<< SEARCH\n%s\n=======\n>>>>>>> REPLACE\n",
	}
	texts := maps.Clone(inEach)
	texts["mixed"] = "The redirect was in the middleware, and the test of it did not see the second call.\nГотово. 完成。 Hecho."
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
		if slices.Contains([]SignalKind{SignalClaim, SignalHedge, SignalQuestion, SignalFailure, SignalPromise, SignalOffer}, s.Kind) {
			spans = append(spans, [2]int{s.Start, s.End})
		}
	}
	return spans
}
