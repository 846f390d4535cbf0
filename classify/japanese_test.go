package classify

import (
	"context"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		rd, _, err := h.read(t.Context(), Input{Text: text}, false)
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
		r := lineReader{text: text}
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
