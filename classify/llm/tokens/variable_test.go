package tokens

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/tiktoken-go/tokenizer"
)

const maxWhole = 2400 // characters of an output that is shown whole

func newJudge(t testing.TB) *llm.Classifier {
	t.Helper()
	client, err := llm.NewClient(llm.Config{Model: "m", Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	judge, err := llm.New(client, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return judge
}

var outputPart = regexp.MustCompile(`(?s)<output [0-9a-f]{16}>\n(.*)\n</output [0-9a-f]{16}>\n$`)

// measure returns how many tokens the variable part for in has, and whether the output is whole in it. It fails when that
// is more than the most, or when an output is cut that would have fitted.
func measure(t testing.TB, judge *llm.Classifier, count func(string) int, in classify.Input) (tokens int, whole bool) {
	t.Helper()
	_, user := judge.Messages(in)
	if tokens = count(user); tokens > maxVariable {
		t.Errorf("the variable part has %d tokens, more than %d: %.200q", tokens, maxVariable, in.Text)
	}
	at := outputPart.FindStringSubmatchIndex(user)
	if at == nil {
		t.Fatalf("no output: %q", user)
	}
	text := visible(in.Text)
	if user[at[2]:at[3]] == text {
		return tokens, true
	}
	if utf8.RuneCountInString(text) <= maxWhole {
		if n := count(user[:at[2]] + text + user[at[3]:]); n <= maxVariable {
			t.Errorf("an output of %d characters is cut, and whole that would be %d tokens: %.200q", utf8.RuneCountInString(text), n, text)
		}
	}
	return tokens, false
}

// visible is a text as a judge may see it.
func visible(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
			return -1
		}
		return r
	}, s)
}

// full is a text with as much beside it as can be.
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

// everywhere is a text in all parts.
func everywhere(text string) classify.Input {
	in := classify.Input{Text: text, Request: text, Skill: text, SkillHint: text, Criteria: []string{text, text}, Coached: 1}
	for range 7 {
		in.Evidence = append(in.Evidence, classify.Evidence{Kind: classify.EvidenceKind(text), Text: text})
	}
	return in
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

// first is the first n characters of a text that is said again and again.
func first(n int, text string) string {
	return string([]rune(strings.Repeat(text, n/utf8.RuneCountInString(text)+1))[:n])
}

// texts are outputs that may be hard to bound, by name.
func texts() map[string]string {
	var log strings.Builder
	for i := range 400 {
		fmt.Fprintf(&log, "=== RUN   TestStore/case_%03d\n--- PASS: TestStore/case_%03d (0.%02ds)\n", i, i, i%100)
	}
	raw := make([]byte, 4000)
	for i := range raw {
		raw[i] = byte(i*i*31 + i/7)
	}
	texts := map[string]string{
		"one letter":       "x",
		"claims":           strings.Repeat("All tests pass. Committed as 4be91c7. 42 passed, 0 failed.\n", 300),
		"test log":         log.String(),
		"hex dump":         random("0123456789abcdef ", 5000),
		"base64":           base64.StdEncoding.EncodeToString(raw),
		"no UTF-8":         string(raw),
		"letters":          random("abcdefghijklmnopqrstuvwxyz", 5000),
		"letters and case": random("qXzJkWvQjZxKVw", 5000),
		"capitals":         random("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 5000),
		"syllables":        strings.Repeat(random("bdfgklmnprstvz", 1)+random("aeiou", 1)+random("aeiou bdk", 40), 100),
		"digits":           random("0123456789", 5000),
		"spaced digits":    strings.Repeat("7 ", 3000),
		"signs":            random("!#$%&()*+-./:;<=>?@[]^_{|}~\"'`", 5000),
		"quotes":           strings.Repeat("'\"", 3000),
		"emoji":            random("😀🎉🚀🧪🔥💡✅⚠️", 3000),
		"rules":            random("─│┌┐└┘├┤┬┴┼ \n", 4000),
		"one rule":         strings.Repeat("─", 2400),
		"blanks":           random(" \n\t", 4000) + "x",
		"wide blanks":      random("\u00a0\u2003\u3000\n", 4000) + "x",
		"accents":          strings.Repeat("é", 2400),
		"accented letters": random("éèêëàâäïîôöùûüÿçñåøæœßłżźśćńąę", 3000),
		"marks":            strings.Repeat("e\u0301\u0323\u0308", 2000),
		"braille":          random("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⣿⣷⣯", 3000),
		"rare Han":         random("龘靐齉爩鱻麤灪籲龗癵驫麣纞虋讟钃鸜麷韊顳", 3000),
		"rare Hangul":      random("뷁쀍햏뙜쮋퓿뚧쫣꿻뾁쒀갉쳌", 3000),
		"rare Greek":       random("ἄἅἆἇὈὉὊὋὌὍᾀᾁᾂᾃΐῒϞϠϡ", 3000),
		"hieroglyphs":      random("𓀀𓀁𓀂𓀃𓁀𓂀𓃀𓄀𓅀𓆀", 3000),
		"mathematics":      random("∀∃∈∉∑∏√∞≤≥≠≈⊂⊃∪∩𝔸𝔹ℂ𝕏𝒜", 3000),
		"fullwidth":        random("ＡＢＣＤａｂｃｄ１２３４", 3000),
	}
	for language, text := range prose {
		texts[language] = first(6000, text)
	}
	return texts
}

// TestVariablePart holds the variable part to its most, whatever is in it.
func TestVariablePart(t *testing.T) {
	judge, now, before := newJudge(t), codec(t, tokenizer.O200kBase), codec(t, tokenizer.Cl100kBase)
	all := texts()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for kind, in := range map[string]classify.Input{
			"bare": {Text: all[name]}, "2,400 characters": {Text: first(maxWhole, all[name])},
			"full": full(all[name]), "everywhere": everywhere(all[name]),
		} {
			n, _ := measure(t, judge, now, in)
			_, user := judge.Messages(in)
			t.Logf("%s/%s: %d tokens (%d by an older tokenizer), %d characters", name, kind, n, before(user), utf8.RuneCountInString(user))
		}
	}
}

// TestRandomScripts does the same with random characters of every script, alone and mixed.
func TestRandomScripts(t *testing.T) {
	judge, count := newJudge(t), codec(t, tokenizer.O200kBase)
	r := rand.New(rand.NewPCG(3, 4))
	var all []rune
	for _, name := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		var script []rune
		for _, table := range unicode.Scripts[name].R16 {
			for c := rune(table.Lo); c <= rune(table.Hi); c += rune(table.Stride) {
				script = append(script, c)
			}
		}
		for _, table := range unicode.Scripts[name].R32 {
			for c := rune(table.Lo); c <= rune(table.Hi); c += rune(table.Stride) {
				script = append(script, c)
			}
		}
		all = append(all, script...)
		measure(t, judge, count, everywhere(sample(r, script, maxWhole, 0.2)))
		measure(t, judge, count, classify.Input{Text: sample(r, script, maxWhole, 0)})
	}
	for n := 200; n <= 3000; n += 400 {
		measure(t, judge, count, everywhere(sample(r, all, n, r.Float64()/2)))
		measure(t, judge, count, full(sample(r, all, n, r.Float64()/2)))
	}
}

// sample is n random characters, with that share of blanks among them.
func sample(r *rand.Rand, from []rune, n int, blank float64) string {
	var b strings.Builder
	for range n {
		if r.Float64() < blank {
			b.WriteByte(" \n"[r.IntN(2)])
		} else {
			b.WriteRune(from[r.IntN(len(from))])
		}
	}
	return b.String()
}

// TestNothingIsCutNeedlessly: an output of up to 2,400 characters that fits is whole.
func TestNothingIsCutNeedlessly(t *testing.T) {
	judge, count := newJudge(t), codec(t, tokenizer.O200kBase)
	fits := []string{"English", "German", "French", "Spanish", "Portuguese", "Italian", "Polish", "Czech", "Swedish", "Finnish",
		"Turkish", "Vietnamese", "Russian", "Ukrainian", "Bulgarian", "Arabic", "Hebrew", "Hindi", "Indonesian", "Romanian", "code", "Markdown"}
	long := maps.Clone(prose)
	long["code"] = "\tif err := s.db.QueryRowContext(ctx, `SELECT id, body FROM rows WHERE id = $1`, id).Scan(&r.ID, &r.Body); err != nil {\n\t\treturn Row{}, fmt.Errorf(\"store: read %d: %w\", id, err)\n\t}\n"
	long["Markdown"] = "## What changed\n\n- `store/read.go`: **both** tables answer through `Reader`\n- `store/migrate.go:118`: no second run\n\n| step | rows | time |\n|---|---:|---:|\n| copy | 41,208 | 3.2 s |\n"
	for _, name := range slices.Sorted(maps.Keys(long)) {
		text := long[name]
		for n := 400; n < maxWhole; n += 250 {
			measure(t, judge, count, full(first(n, text)))
			measure(t, judge, count, classify.Input{Text: strings.ReplaceAll(first(n, text), ". ", ".\r\n")})
		}
		tokens, whole := measure(t, judge, count, classify.Input{Text: first(maxWhole, text)})
		t.Logf("%s: %d tokens for 2,400 characters, whole: %v", name, tokens, whole)
		if !whole && slices.Contains(fits, name) {
			t.Errorf("%s: 2,400 characters are cut", name)
		}
	}
}

// TestCasesOfYours measures the cases of a file, one JSON object a line with an input in each.
func TestCasesOfYours(t *testing.T) {
	const variable = "SIDECOACH_CASES"
	if os.Getenv(variable) == "" {
		t.Skipf("%s names no file with cases", variable)
	}
	f, err := os.Open(os.Getenv(variable))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	judge, count := newJudge(t), codec(t, tokenizer.O200kBase)
	var cases, short, cut, sum int
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var c struct{ Input classify.Input }
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n, whole := measure(t, judge, count, c.Input)
		cases++
		sum += n
		if utf8.RuneCountInString(c.Input.Text) <= maxWhole {
			short++
			if !whole {
				cut++
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if cases > 0 {
		t.Logf("%d cases of %d tokens each; of %d with up to 2,400 characters %d are cut, none needlessly", cases, sum/cases, short, cut)
	}
}

func FuzzVariablePart(f *testing.F) {
	judge, count := newJudge(f), codec(f, tokenizer.O200kBase)
	f.Add("All tests pass.\r\n", "do it", "tests pass", uint16(30))
	f.Add("é龘뷁ἄ⠁", "𓀀", "qXzJkWvQ", uint16(2400))
	f.Fuzz(func(t *testing.T, text, request, criterion string, n uint16) {
		if text == "" {
			return
		}
		in := full(first(int(n)%5000, strings.ToValidUTF8(text, "?")))
		in.Request, in.Criteria, in.SkillHint = request, []string{criterion, request}, criterion
		measure(t, judge, count, in)
	})
}
