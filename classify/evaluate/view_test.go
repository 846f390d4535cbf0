package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

func html(tb testing.TB, r Report) string {
	tb.Helper()
	var b bytes.Buffer
	require.NoError(tb, View{Reports: []Report{r}}.HTML(&b))
	return b.String()
}

func TestPage(t *testing.T) {
	page := html(t, evaluate(t, script, ten(), Options{Name: "script <1>"}))
	assert.Contains(t, page, "<h1>script &lt;1&gt;</h1>")
	assert.Contains(t, page, "10 cases, 9 sure · threshold 0.80")
	assert.Contains(t, page, "\naccuracy               0.600 (6/10)  0.313–0.832  0.556\n")
	assert.Equal(t, 6, strings.Count(page, "<details>"), "those that are not right")
	assert.Contains(t, page, "<pre dir=\"auto\">rejected 0.8</pre>", "the text of a wrong case")
	assert.NotContains(t, page, `auto">error 0.95`, "not that of a right one")
}

// The page is one file and asks nothing from anywhere.
func TestPageStandsAlone(t *testing.T) {
	page := html(t, evaluate(t, script, ten(), Options{Repeat: 3}))
	for _, bad := range []string{`\ssrc\s*=`, `\shref\s*=`, `url\(`, `@import`, `https?://`, `<link`, `<img`, `<iframe`,
		`fetch\(`, `XMLHttpRequest`, `\{\{`, `ZgotmplZ`} {
		assert.NotRegexp(t, regexp.MustCompile(bad), page)
	}
	assert.Contains(t, page, `content="default-src 'none'; style-src 'unsafe-inline'"`)
	assert.Contains(t, page, "prefers-color-scheme: dark")
}

// Nothing that a case or a classifier says becomes a part of the page.
func TestPageEscapes(t *testing.T) {
	const evil = `</pre></script><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "\x00\u202e\x1b[31m\xff{{.}}"
	c := Case{Name: evil, Input: classify.Input{Text: evil, Request: evil}, Want: Want{Type: classify.Question},
		Meta: map[string]any{"agent": evil, "lang": evil}}
	judge := classify.ClassifierFunc(func(context.Context, classify.Input) (classify.Result, error) {
		return classify.Result{Type: classify.Error, Confidence: 1, Reason: evil, Fallback: evil,
			Signals: []classify.Signal{{Kind: evil, Name: evil, Start: 0, End: len(evil), Weight: 1}}}, nil
	})
	page := html(t, evaluate(t, judge, []Case{c}, Options{Name: evil}))
	assert.NotContains(t, page, "<script>")
	assert.Equal(t, 1, strings.Count(page, "</pre>"))
	assert.NotContains(t, page, "<img")
	assert.Contains(t, page, "&lt;script&gt;alert(1)")
	assert.Contains(t, page, `\x00\u202e\x1b[31m\xff{{.}}`)
	assert.True(t, utf8.ValidString(page))
	for _, r := range "\x00\u202e\x1b" {
		assert.False(t, strings.ContainsRune(page, r), "%q", r)
	}
}

// Secrets are masked wherever a case or a classifier has them.
func TestPageMasksSecrets(t *testing.T) {
	const key = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	c := said("case "+key, "question", strings.Repeat("x ", 3_990)+key+strings.Repeat(" x", 20_000)+key)
	c.Input.Request, c.Meta = "use "+key, map[string]any{"lang": key}
	judge := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		return classify.Result{Type: classify.Error, Confidence: 1, Reason: key, Fallback: key, CoachingMessage: key,
			Signals: []classify.Signal{{Name: key, Start: len(in.Text) - 30, End: len(in.Text), Weight: 1}}}, nil
	})
	page := html(t, evaluate(t, judge, []Case{c}, Options{Name: key}))
	assert.Contains(t, page, "<pre")
	assert.NotContains(t, page, "abcd")
	assert.NotContains(t, page, "6789")
}

func TestPageOfAComparison(t *testing.T) {
	const evil = "<b>evil</b>\u202e"
	cases := []Case{said(evil, "question", "x"), said("b", "error", "y"), said("c", "error", "z")}
	before := evaluate(t, answersBy(map[string]string{"x": "question 1", "y": "status 1", "z": "error 1"}), cases,
		Options{Name: "<i>"})
	now := evaluate(t, answersBy(map[string]string{"x": "fail", "y": "error 0.9", "z": "error 1"}), cases,
		Options{Name: "now"})
	var b strings.Builder
	require.NoError(t, View{Reports: []Report{now.Compare("before.json", before)}}.HTML(&b))
	for _, want := range []string{
		"Against before.json, 3 cases in both:", "<li>not measured alike: classifier &lt;i&gt; before, now now</li>",
		"<li>1 fixed, 1 broken, p 1.000, may be noise</li>",
		`broken  &lt;b&gt;evil&lt;/b&gt;\u202e  question  question 1.00, deliver  unanswered           1/1`,
		`fixed   b                  error     status 1.00, continue   error 0.90, deliver  1/1`,
	} {
		assert.Contains(t, b.String(), want)
	}
	assert.NotContains(t, b.String(), "ZgotmplZ")
}

// Of a huge text the start and the end are shown.
func TestPageOfAHugeText(t *testing.T) {
	c := said("a", "question", "")
	c.Input.Text = "START " + strings.Repeat("ü middle ", 1<<17) + " END?"
	judge := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		return classify.Result{Type: classify.Error, Signals: []classify.Signal{
			{Kind: classify.SignalQuestion, Start: len(in.Text) - 4, End: len(in.Text), Weight: 2}}}, nil
	})
	page := html(t, evaluate(t, judge, []Case{c}, Options{}))
	assert.Less(t, len(page), 100_000)
	assert.Contains(t, page, ">START ")
	assert.Contains(t, page, "question  2.00 &#34;END?&#34;")
	assert.Regexp(t, `… \d{7,} bytes left out …`, page)
}

// A report that was read from a file has no texts and is shown all the same.
func TestPageOfAReportFromAFile(t *testing.T) {
	b, err := json.Marshal(evaluate(t, script, ten(), Options{}))
	require.NoError(t, err)
	r, err := ReadReport(bytes.NewReader(b))
	require.NoError(t, err)
	page := html(t, r)
	assert.NotContains(t, page, "<pre")
	assert.Contains(t, page, "rejected, want completion")
	html(t, Report{}) // even of none
}

// Several reports are on one page, side by side.
func TestPageOfSeveral(t *testing.T) {
	a := evaluate(t, script, ten(), Options{Name: "a"})
	b := evaluate(t, script, ten(), Options{Name: "b", Threshold: 0.95})
	var page strings.Builder
	require.NoError(t, View{Reports: []Report{a, b.Compare("a", a)}}.HTML(&page))
	assert.Contains(t, page.String(), `<div class="report">`+"figure                 A             B\n")
	assert.Contains(t, page.String(), "\nchanges, p                           may be noise ")
	assert.Contains(t, page.String(), "<h1>B: b</h1>")
	assert.Contains(t, page.String(), "<summary><b>B: ")
	assert.NotContains(t, page.String(), "ZgotmplZ")
}
func text(tb testing.TB, v View) string {
	tb.Helper()
	var b strings.Builder
	require.NoError(tb, v.Text(&b))
	return b.String()
}

// No table breaks on a terminal of 80 characters, whatever there is to show.
func TestTablesFit(t *testing.T) {
	types := classify.Types()
	var cases []Case
	for i := range 1500 {
		meta := map[string]any{"language": strings.Repeat("a very long value ", 5), "sure": i%3 > 0}
		cases = append(cases, Case{Name: fmt.Sprint(i), Input: classify.Input{Text: fmt.Sprint(i)},
			Want: Want{Type: types[i%len(types)]}, Meta: meta})
	}
	judge := classify.ClassifierFunc(func(_ context.Context, in classify.Input) (classify.Result, error) {
		if strings.HasSuffix(in.Text, "7") {
			return classify.Result{}, errors.New("no answer")
		}
		return classify.Result{Type: classify.Question, Confidence: 0.9, Reason: "x"}, nil
	})
	for _, repeat := range []int{1, 2} {
		r := evaluate(t, judge, cases, Options{Repeat: repeat, Name: "stub"})
		out := text(t, View{Reports: []Report{r}})
		for line := range strings.Lines(out) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 80, line)
		}
		assert.Contains(t, out, "unanswered")
		assert.Contains(t, out, fmt.Sprintf("- %d × no answer\n", 150*repeat))
	}
	r := evaluate(t, judge, cases[:5], Options{Name: "stub"})
	assert.NotContains(t, text(t, View{Reports: []Report{r}}), "unanswered", "a column for nothing")
}

// What cases and classifiers say does not break a terminal.
func TestTextIsData(t *testing.T) {
	const evil = "a|b*c\x1b[31m\u202e`d`\n# e"
	cases := []Case{said(evil, "question", "x")}
	before := evaluate(t, answersBy(map[string]string{"x": "question 1"}), cases, Options{Name: evil})
	now := evaluate(t, answersBy(nil), cases, Options{Name: evil})
	q, err := parseRequirement("broken<=0")
	require.NoError(t, err)
	out := text(t, View{Reports: []Report{now.Compare(evil, before)}, Requirements: []Requirement{q}})
	for _, r := range "\x1b\u202e" {
		assert.NotContains(t, out, string(r))
	}
	assert.NotContains(t, out, "\n# e")
	assert.Contains(t, out, "- NOT MET: broken<=0\n")
}

func TestBrief(t *testing.T) {
	for in, want := range map[int64]string{0: "0s", 999: "999ns", 39_689: "39.7µs", 102_112: "102µs",
		1_234_567_890: "1.23s", 61_234_000_000: "1m1.2s"} {
		assert.Equal(t, want, brief(time.Duration(in)).String())
	}
}
