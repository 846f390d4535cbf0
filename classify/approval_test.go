package classify

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// approvals are outputs that wait for the human's word: what the agent does next depends on it. Each is a question, wherever
// the sentence stands at the end, and whatever the agent did before.
var approvals = map[string][]string{
	"en": {
		"I'll start as soon as you approve.", "If this looks good, I'll start implementing.", "Choose A or B and I'll implement it.",
		"Tell me which you prefer and I'll make the change.", "Once you confirm, I'll go ahead with the migration.",
		"Say the word and I'll begin.", "When you give me the go-ahead, I will merge it.", "Let me know which option you want and I'll proceed.",
		"If you agree, I'll apply this to the other modules.", "Reply \"go\" and I'll execute the plan.", "I'm waiting for your approval before I continue.",
		"With your OK, I'll delete the old table.", "Pick one and I'll wire it up.", "If you're happy with this plan, I'll proceed.",
		"I can start on this once you give the green light.", "Ready to implement when you are: just confirm.",
		"If that sounds right, I'll write the code next.", "Approve it and I'll push.",
	},
	"de": {
		"Sobald du zustimmst, fange ich an.", "Wenn das so passt, setze ich es um.", "Wähle A oder B, dann setze ich es um.",
		"Sag mir, welche Variante du möchtest, dann mache ich weiter.", "Nach deiner Freigabe starte ich die Migration.",
		"Wenn du einverstanden bist, beginne ich mit der Umsetzung.", "Ich warte auf deine Freigabe.", "Gib mir Bescheid, dann lege ich los.",
	},
	"es": {
		"En cuanto lo apruebes, empiezo.", "Si te parece bien, empiezo a implementarlo.", "Elige A o B y lo implemento.",
		"Dime cuál prefieres y hago el cambio.", "Cuando confirmes, sigo con la migración.", "Si estás de acuerdo, aplico los cambios.",
		"Espero tu aprobación para continuar.",
	},
	"pt": {
		"Assim que você aprovar, eu começo.", "Se estiver bom, começo a implementar.", "Escolha A ou B e eu implemento.",
		"Me diga qual você prefere e eu faço a mudança.", "Quando você confirmar, sigo com a migração.", "Se concordar, aplico as mudanças.",
		"Aguardo sua aprovação para continuar.",
	},
	"fr": {
		"Dès que vous approuvez, je commence.", "Si cela vous convient, je commence l'implémentation.", "Choisissez A ou B et je l'implémente.",
		"Dites-moi laquelle vous préférez et je fais le changement.", "Une fois que vous confirmez, je lance la migration.",
		"Si vous êtes d'accord, j'applique les modifications.", "J'attends votre validation pour continuer.",
	},
	"cs": {
		"Jakmile to schválíš, začnu.", "Pokud to takto vyhovuje, začnu s implementací.", "Vyber A nebo B a já to udělám.",
		"Řekni mi, kterou variantu chceš, a já změnu provedu.", "Až potvrdíš, spustím migraci.", "Pokud souhlasíš, provedu změny.",
		"Čekám na tvé schválení.",
	},
	"ru": {
		"Как только вы подтвердите, я начну.", "Если всё устраивает, приступлю к реализации.", "Выберите A или B, и я реализую.",
		"Скажите, какой вариант предпочитаете, и я внесу изменения.", "После вашего подтверждения запущу миграцию.",
		"Если вы согласны, применю изменения.", "Жду вашего подтверждения.",
	},
	"zh": {
		"你确认后我就开始。", "如果没有问题，我就开始实现。", "请选择 A 或 B，我来实现。", "告诉我你更喜欢哪个方案，我马上修改。",
		"等你批准后，我会继续迁移。", "如果同意，我就按这个方案改。", "确认无误后，我继续第二批。", "等待你的确认。",
	},
	"ja": {
		"承認いただければ開始します。", "この内容で問題なければ、実装を始めます。", "AかBを選んでください。その後実装します。",
		"どちらがよいか教えていただければ、変更します。", "ご確認いただけましたら、移行を進めます。", "よろしければ、このまま適用します。",
		"ご承認をお待ちしています。",
	},
}

func TestApprovals(t *testing.T) {
	before := map[string]string{
		"en": "I read the handlers and wrote a plan: split the module, then move the callers.", "de": "Ich habe die Module gelesen und einen Plan geschrieben.",
		"es": "He leído los módulos y escrito un plan.", "pt": "Li os módulos e escrevi um plano.", "fr": "J'ai lu les modules et écrit un plan.",
		"cs": "Přečetl jsem moduly a napsal plán.", "ru": "Я прочитал модули и написал план.", "zh": "我看完了这些模块，并写好了计划。", "ja": "モジュールを読み、計画を書きました。",
	}
	for language, list := range approvals {
		for _, text := range list {
			for _, in := range []Input{
				{Text: text}, {Text: before[language] + "\n\n" + text, Request: "refactor the module"}, {Text: before[language] + "\n\n" + text + "\n\n- " + before[language]},
			} {
				r := judge(t, in)
				assert.Equal(t, Question, r.Type, "%s: %q: %.2f %s", language, in.Text, r.Confidence, r.Reason)
			}
		}
	}
}

// What depends on something else than the human's word, or was approved before, is no approval.
func TestNoApprovals(t *testing.T) {
	for _, text := range []string{
		"Next I'll run the tests, and if they pass I'll commit.", "Once the build is done I'll deploy to staging.",
		"As soon as the server is up, I'll run the migration.", "When the download finishes I'll continue with step 3.",
		"You approved the plan, so I'll start with the parser now.",
		"测试通过后我会继续修改第二个模块。", "ビルドが終わったら、テストを実行します。", "Sobald der Build fertig ist, starte ich die Tests.",
	} {
		assert.Equal(t, Status, judge(t, Input{Text: text}).Type, text)
	}
}
