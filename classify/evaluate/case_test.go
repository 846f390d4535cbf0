package evaluate

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

const (
	hollow = `{"name":"hollow","input":{"text":"Fixed, should work now.","request":"Fix it"},"want":{"type":"status","was_rejected_completion":true,"action":"continue"},"meta":{"agent":"cursor","sure":false,"passes":2}}`
	asks   = `{"name":"asks","input":{"text":"Which one?"},"want":{"type":"question"}}`
)

func files(contents ...string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i, c := range contents {
		fsys[fmt.Sprintf("%c.jsonl", 'a'+i)] = &fstest.MapFile{Data: []byte(c)}
	}
	return fsys
}

func TestLoadCases(t *testing.T) {
	want := []Case{
		{Name: "hollow", Input: classify.Input{Text: "Fixed, should work now.", Request: "Fix it"},
			Want: Want{Type: classify.Status, WasRejectedCompletion: true, Action: actionContinue},
			Meta: map[string]any{"agent": "cursor", "sure": false, "passes": 2.0}},
		{Name: "asks", Input: classify.Input{Text: "Which one?"}, Want: Want{Type: classify.Question}},
	}
	for name, content := range map[string]string{
		"plain":            hollow + "\n" + asks + "\n",
		"no last newline":  hollow + "\n" + asks,
		"CRLF":             hollow + "\r\n" + asks + "\r\n",
		"blank lines":      "\n" + hollow + "\n \t\n" + asks + "\n\n",
		"byte order mark":  "\ufeff" + hollow + "\n" + asks,
		"blanks around it": "  " + hollow + "\t\n" + asks,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := LoadCases(files(content), "*.jsonl")
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(want, got))
		})
	}
	assert.False(t, want[0].sure())
	assert.True(t, want[1].sure(), "without a word about it a label is sure")
}

func TestLoadCasesReadsWhatIsNamed(t *testing.T) {
	fsys := files(hollow, asks)
	fsys["odd[1].jsonl"] = &fstest.MapFile{Data: []byte(strings.Replace(asks, "asks", "odd", 1))}
	for want, patterns := range map[string][]string{
		"hollow asks":     {"[ab].jsonl"},
		"asks hollow":     {"b.jsonl", "a.jsonl"},
		"asks hollow odd": {"b.jsonl", "*.jsonl", "a.jsonl"},
		"odd":             {"odd[1].jsonl"},
	} {
		cases, err := LoadCases(fsys, patterns...)
		require.NoError(t, err)
		var names []string
		for _, c := range cases {
			names = append(names, c.Name)
		}
		assert.Equal(t, want, strings.Join(names, " "), patterns)
	}
}

// Each line has one fault; all are told, with file and line.
func TestFaults(t *testing.T) {
	status := func(rest string) string {
		return `{"name":"n","input":{"text":"secret words"},"want":{"type":"status"` + rest + `}}`
	}
	for line, want := range map[string]string{
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"done"}}`:    `want.type: "done" is not one of error, blocker, question, completion, status`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"Status"}}`:  `want.type: "Status" is not one of error, blocker, question, completion, status`,
		`{"name":"n","input":{"text":"secret words"},"want":{}}`:                 `want.type: "" is not one of error, blocker, question, completion, status`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":["x"]}}`:     `want.type: a JSON array does not fit`,
		`{"name":"n","want":{"type":"status"}}`:                                  `input.text: it is missing`,
		`{"name":"n","input":{"request":"x"},"want":{"type":"status"}}`:          `input.text: it is missing`,
		`{"name":"n","input":{"text":"secret words"}}`:                           `want.type: "" is not one of error, blocker, question, completion, status`,
		`{"name":"n","input":{"text":7},"want":{"type":"status"}}`:               `input.text: a JSON number does not fit`,
		`{"name":"n","input":{"text":"","coached":"x"},"want":{"type":"error"}}`: `input.coached: a JSON string does not fit`,
		`{"name":" ","input":{"text":"secret words"},"want":{"type":"status"}}`:  `name: it is empty`,
		`{"name":"n","input":{"text":"","coached":1.5},"want":{"type":"error"}}`: `input.coached: a JSON number does not fit`,
		`["secret words"]`:              `a case: a JSON array does not fit`,
		`{"name":"secret`:               `not JSON: unexpected EOF`,
		`{"name":"n",}`:                 `not JSON: invalid character '}' looking for beginning of object key string`,
		status(`}} {"x":1`):             `something follows the case on its line`,
		status(`,"action":"deliver"`):   `want.action: a status calls for continue, not for "deliver"`,
		status(`,"action":"suppress"`):  `want.action: a status calls for continue, not for "suppress"`,
		status(`,"was_rejected":true`):  `unknown key "was_rejected"; keys of your own go under meta`,
		status(`},"meta":{"sure":"no"`): `meta.sure: it is neither true nor false`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"error","message":{}}}`:                                     `want.message: only a status is continued with a message`,
		`{"name":"n","label":1,"input":{"text":"secret words"},"want":{"type":"error"}}`:                                        `unknown key "label"; keys of your own go under meta`,
		`{"name":"n","input":{"text":"secret words","evidence":[{"kind":"commit"},{"king":"commit"}]},"want":{"type":"error"}}`: `unknown key "king"; keys of your own go under meta`,
		`{"name":"n","input":{"text":"secret words","evidence":[{"kind":"commit"},{"kind":"tests"}]},"want":{"type":"error"}}`:  `input.evidence[1].kind: "tests" is not one of test_output, exit_code, command_output, commit, pull_request`,
		`{"name":"n","input":{"text":"secret words","evidence":[{}]},"want":{"type":"error"}}`:                                  `input.evidence[0].kind: "" is not one of test_output, exit_code, command_output, commit, pull_request`,
		status(`,"was_rejected_completion":true,"message":{"matches":"("}`):                                                     "want.message.matches: error parsing regexp: missing closing ): `(`",
		"{\"name\":\"n\",\"input\":{\"text\":\"secret\xff\"},\"want\":{\"type\":\"error\"}}":                                    `it is not UTF-8; save the file as UTF-8`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"error","was_rejected_completion":true}}`:                   `want.was_rejected_completion: only a status can be one, not a error`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"completion","action":"continue"}}`:                         `want.action: a completion calls for deliver, not for "continue"`,
		`{"name":"hollow","input":{"text":"secret words"},"want":{"type":"error"}}`:                                             `name: "hollow" is taken by a.jsonl:1`,
		`{"name":"n","input":{"text":"x"},"want":{"type":"` + strings.Repeat("y", 100) +
			`"}}`: `want.type: "` + strings.Repeat("y", 59) + `…" is not one of error, blocker, question, completion, status`,
	} {
		cases, err := LoadCases(files(hollow, "\n"+line+"\n"+asks), "*.jsonl")
		require.EqualError(t, err, "b.jsonl:2: "+want, line)
		assert.NotContains(t, err.Error(), "secret", line)
		assert.Nil(t, cases)
	}
}

// What is under meta is the owner's, whatever its keys.
func TestMeta(t *testing.T) {
	cases, err := LoadCases(files(`{"name":"n","input":{"text":"x"},"want":{"type":"error"},"meta":{"Want":1,"want":{"type":"done"}}}`), "*.jsonl")
	require.NoError(t, err)
	assert.Equal(t, 1.0, cases[0].Meta["Want"])
}

func TestEveryFaultIsTold(t *testing.T) {
	_, err := LoadCases(files(
		"x\n"+asks+"\n"+`{"name":"","input":{"text":""},"want":{"type":"done"}}`,
		"\n\n",
		asks,
	), "*.jsonl", "missing.jsonl", "none*.txt", "[")
	assert.EqualError(t, err, `a.jsonl:1: not JSON: invalid character 'x' looking for beginning of value
a.jsonl:3: name: it is empty
a.jsonl:3: want.type: "done" is not one of error, blocker, question, completion, status
b.jsonl: it has no case
c.jsonl:1: name: "asks" is taken by a.jsonl:2
missing.jsonl: file does not exist
none*.txt: file does not exist
[: syntax error in pattern`)
	assert.ErrorIs(t, err, fs.ErrNotExist)

	_, err = LoadCases(files())
	assert.EqualError(t, err, "cases: no file is named")
	_, err = LoadCases(fstest.MapFS{"dir/a.jsonl": {Data: []byte(asks)}}, "dir")
	assert.ErrorContains(t, err, "dir: ")
}

func TestLongLines(t *testing.T) {
	long := strings.Replace(asks, "Which one?", strings.Repeat("long ", 2<<20), 1)
	cases, err := LoadCases(files(long), "a.jsonl")
	require.NoError(t, err)
	assert.Len(t, cases[0].Input.Text, 10<<20)
}

func TestMessageCheck(t *testing.T) {
	m := Message{Contains: []string{"Test output"}, NotContains: []string{"great job"}, MaxChars: 24, Matches: `\.$`}
	assert.Empty(t, m.Check("Show the test output ää."))
	assert.Equal(t, []string{`the message lacks "Test output"`, `the message has "great job"`,
		`the message does not match "\\.$"`, "the message has 27 characters, more than 24"},
		m.Check("Great job! Now show the di…"))
	assert.Equal(t, []string{"there is no message"}, m.Check(" \n"))
	assert.Empty(t, Message{}.Check("anything"))
}

// FuzzLoadCases: a file is loaded or refused with a place for each fault; what is loaded is valid and survives being
// written.
func FuzzLoadCases(f *testing.F) {
	f.Add(hollow + "\n" + asks)
	f.Add("\ufeff{}\r\n[]")
	f.Add(`{"name":"a","input":{"text":""},"want":{"type":"status","message":{"contains":["x"],"matches":"y"},"was_rejected_completion":true}}`)
	f.Fuzz(func(t *testing.T, content string) {
		cases, err := LoadCases(files(content), "*")
		if err != nil {
			if cases != nil {
				t.Fatal(err, cases)
			}
			for fault := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(fault, "a.jsonl") && !strings.HasPrefix(fault, "and ") {
					t.Fatal(fault)
				}
			}
			return
		}
		if err := checkAll(cases); err != nil {
			t.Fatal(err)
		}
		again, err := LoadCases(files(lines(t, cases)), "*")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(cases, again, cmp.FilterValues(func(a, b map[string]any) bool {
			return len(a)+len(b) == 0
		}, cmp.Ignore())); diff != "" {
			t.Fatal(diff)
		}
	})
}

// README.md has a case that can be loaded, and a row for each figure.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, example, _ := strings.Cut(string(page), "```json\n")
	example, _, _ = strings.Cut(example, "```")
	_, err = LoadCases(files(strings.ReplaceAll(example, "\n", " ")), "*")
	require.NoError(t, err)
	for _, name := range figureNames() {
		assert.Contains(t, string(page), "\n| `"+name+"` | ")
	}
}
