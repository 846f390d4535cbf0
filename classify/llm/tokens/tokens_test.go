// Package tokens counts what a verdict costs, with a tokenizer that is too large to be a dependency of the library.
package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/tiktoken-go/tokenizer"
)

const (
	minStatic, maxStatic = 1100, 1500
	maxVariable          = 900
	maxOlder             = 960 // by cl100k_base, which takes more tokens for Cyrillic alone
)

// encodings are those of the models of the time, and of those before them.
var encodings = []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase}

func codec(t testing.TB, e tokenizer.Encoding) func(string) int {
	t.Helper()
	c, err := tokenizer.Get(e)
	if err != nil {
		t.Fatal(err)
	}
	return func(s string) int {
		n, err := c.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// sent returns the static and the variable part of the request that a classifier makes.
func sent(t testing.TB, in classify.Input) (system, schema, user string) {
	t.Helper()
	var req struct {
		Messages       []struct{ Role, Content string }
		ResponseFormat json.RawMessage `json:"response_format"`
	}
	client, err := llm.NewClient(llm.Config{Model: "m", Key: "k", Retries: -1, Transport: transport(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if err := json.NewDecoder(bytes.NewReader(body)).Decode(&req); err != nil {
			t.Error(err)
		}
		return nil, errors.New("seen")
	})})
	if err != nil {
		t.Fatal(err)
	}
	judge, err := llm.New(client, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := judge.Classify(t.Context(), in); err == nil {
		t.Fatal("there is no verdict to be had")
	}
	if len(req.Messages) != 2 || req.Messages[0].Role != "system" || req.Messages[1].Role != "user" {
		t.Fatalf("messages: %+v", req.Messages)
	}
	return req.Messages[0].Content, string(req.ResponseFormat), req.Messages[1].Content
}

func TestStaticPart(t *testing.T) {
	system, schema, _ := sent(t, classify.Input{Text: "x"})
	for _, e := range encodings {
		count := codec(t, e)
		messages, all := count(system), count(system)+count(schema)
		t.Logf("%s: system message %d tokens, with the schema %d", e, messages, all)
		if messages < minStatic || all > maxStatic {
			t.Errorf("%s: the static part has %d to %d tokens, not %d to %d", e, messages, all, minStatic, maxStatic)
		}
	}
}

func full(text string) classify.Input {
	return classify.Input{
		Text:      text,
		Request:   strings.Repeat("Please move the session store to the new schema and keep the old rows readable. ", 10),
		Skill:     "feature-development",
		SkillHint: "passing tests, commit hashes, and a pull request link, each of them shown in the report and not only named",
		Criteria: []string{"every row of the old table can be read through the new store", "the migration runs twice without a change",
			"a failed migration leaves the old table as it was", "go test ./store/... passes", "the README says how to roll back",
			"the metrics keep their names", "no query takes longer than before, measured on the sample data", "the old code is removed"},
		Evidence: []classify.Evidence{
			{Kind: classify.EvidenceTests, Text: "go test ./store/...: 42 passed"},
			{Kind: classify.EvidenceExitCode, Text: "go vet ./...: exit status 1", Failed: true},
			{Kind: classify.EvidenceCommit, Text: "4be91c7 store: read old rows"},
		},
		Coached: 2,
	}
}

func random(alphabet string, n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	rs := []rune(alphabet)
	var b strings.Builder
	for range n {
		b.WriteRune(rs[r.IntN(len(rs))])
	}
	return b.String()
}

func TestVariablePart(t *testing.T) {
	prose := strings.Repeat("I moved the reader behind an interface, so that both tables answer the same way, and adapted the callers. ", 60)
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "=== RUN   TestStore/case_%03d\n--- PASS: TestStore/case_%03d (0.%02ds)\n", i, i, i%100)
	}
	code := strings.Repeat("\tif err := s.db.QueryRowContext(ctx, `SELECT id, body FROM rows WHERE id = $1`, id).Scan(&r.ID, &r.Body); err != nil {\n\t\treturn Row{}, fmt.Errorf(\"store: read %d: %w\", id, err)\n\t}\n", 30)
	raw := make([]byte, 4000)
	for i := range raw {
		raw[i] = byte(i*i*31 + i/7)
	}
	texts := map[string]string{
		"empty word":   "x",
		"prose, whole": prose[:2400],
		"prose":        prose,
		"claims":       strings.Repeat("All tests pass. Committed as 4be91c7. 42 passed, 0 failed.\n", 300),
		"test log":     log.String(),
		"code":         code,
		"hex dump":     random("0123456789abcdef ", 5000),
		"base64":       base64.StdEncoding.EncodeToString(raw),
		"no UTF-8":     string(raw),
		"letters":      random("abcdefghijklmnopqrstuvwxyz", 5000),
		"signs":        random("!#$%&()*+-./:;<=>?@[]^_{|}~\"'`", 5000),
		"emoji":        random("😀🎉🚀🧪🔥💡✅⚠️", 3000),
		"Japanese":     strings.Repeat("移行は完了しました。テストはまだ実行していません。次にキャッシュを確認します。", 80),
		"Chinese":      strings.Repeat("迁移已经完成，但是还没有运行测试。接下来我会检查缓存并更新文档。", 100),
		"Russian":      strings.Repeat("Миграция завершена, но тесты ещё не запускались. Дальше проверю кэш. ", 60),
		"German":       strings.Repeat("Die Umstellung ist fertig, aber die Tests liefen noch nicht. Als Nächstes prüfe ich den Zwischenspeicher. ", 40),
		"Korean":       strings.Repeat("마이그레이션은 끝났지만 테스트는 아직 실행하지 않았습니다. ", 80),
		"Arabic":       strings.Repeat("اكتمل الترحيل لكن الاختبارات لم تُشغَّل بعد. ", 80),
		"box drawing":  random("─│┌┐└┘├┤┬┴┼ \n", 4000),
		"blanks":       random(" \n\t", 4000) + "x",
	}
	now, before := codec(t, tokenizer.O200kBase), codec(t, tokenizer.Cl100kBase)
	for name, text := range texts {
		for kind, in := range map[string]classify.Input{"bare": {Text: text}, "full": full(text)} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				_, _, user := sent(t, in)
				n, old := now(user), before(user)
				t.Logf("%d tokens (%d by the older tokenizer), %d characters", n, old, len([]rune(user)))
				if n > maxVariable {
					t.Errorf("the variable part has %d tokens, more than %d", n, maxVariable)
				}
				if old > maxOlder {
					t.Errorf("the variable part has %d tokens by the older tokenizer, more than %d", old, maxOlder)
				}
			})
		}
	}
}

// TestProseStaysWhole keeps the estimate from being so careful that ordinary texts are cut.
func TestProseStaysWhole(t *testing.T) {
	text := strings.Repeat("I moved the reader behind an interface, so that both tables answer the same way, and adapted the callers. ", 60)[:2400]
	for _, in := range []classify.Input{{Text: text}, full(text)} {
		_, _, user := sent(t, in)
		if !strings.Contains(user, text) {
			t.Error("an output of 2,400 characters was cut")
		}
	}
}
