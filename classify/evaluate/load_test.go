package evaluate

import (
	"errors"
	"fmt"
	"io/fs"
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
			Want: Want{Type: classify.Status, WasRejectedCompletion: true, Action: Continue},
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
	assert.False(t, want[0].Sure())
	assert.True(t, want[1].Sure(), "without a word about it a label is sure")
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
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"done"}}`:    `want.type: "done" is none of error, blocker, question, completion, status`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"Status"}}`:  `want.type: "Status" is none of error, blocker, question, completion, status`,
		`{"name":"n","input":{"text":"secret words"},"want":{}}`:                 `want.type: it is missing`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":["x"]}}`:     `want.type: it can't be a JSON array`,
		`{"name":"n","input":{"text":"secret words"}}`:                           `want: it is missing`,
		`{"name":"n","want":{"type":"status"}}`:                                  `input.text: it is missing`,
		`{"name":"n","input":{"request":"x"},"want":{"type":"status"}}`:          `input.text: it is missing`,
		`{"name":"n","input":{"text":7},"want":{"type":"status"}}`:               `input.text: it can't be a JSON number`,
		`{"name":"n","input":{"text":"","coached":"x"},"want":{"type":"error"}}`: `input.coached: it can't be a JSON string`,
		`{"name":" ","input":{"text":"secret words"},"want":{"type":"status"}}`:  `name: it is empty`,
		`{"name":"n","input":{"text":"","coached":1.5},"want":{"type":"error"}}`: `input.coached: it can't be a JSON number that is not whole, or so large`,
		`["secret words"]`:              `a case is an object, not a JSON array`,
		`{"name":"secret`:               `not JSON: the line ends too early`,
		`{"name":"n",}`:                 `not JSON: byte 13: invalid character '}' looking for beginning of object key string`,
		status(`}} {"x":1`):             `something follows the case on its line`,
		status(`,"action":"deliver"`):   `want.action: a status calls for continue, not for deliver`,
		status(`,"action":"suppress"`):  `want.action: "suppress" is neither continue nor deliver`,
		status(`,"was_rejected":true`):  `unknown key "want.was_rejected": want takes type, was_rejected_completion, action, coaching; keys of your own go under meta`,
		status(`},"meta":{"sure":"no"`): `meta.sure: it is neither true nor false`,
		status(`,"coaching":{}`):        `want.coaching: only a rejected completion is coached`,
		status(`,"was_rejected_completion":true,"coaching":{"max_length":-1}`):            `want.coaching.max_length: -1 is below 0`,
		status(`,"was_rejected_completion":true,"coaching":{"contains":[""]}`):            `want.coaching: it contains or excludes an empty string`,
		`{"name":"n","name":"m","input":{"text":"secret words"},"want":{"type":"error"}}`: `key "name": it is there twice; remove one of them`,
		status(`,"type":"error"`): `key "want.type": it is there twice; remove one of them`,
		`{"name":"n","input":{"text":"secret words","text":"secret"},"want":{"type":"error"}}`:                                  `key "input.text": it is there twice; remove one of them`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"error"},"meta":{"x":[{"y":1,"y":1}]}}`:                     `key "meta.x[0].y": it is there twice; remove one of them`,
		`{"name":"n","input":{"text":"secret words"},"Want":{"type":"error"}}`:                                                  `unknown key "Want": letter case counts; write "want"`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"error","TYPE":"status"}}`:                                  `unknown key "want.TYPE": letter case counts; write "type"`,
		`{"name":"n","input":{"text":"secret words","Request":"x"},"want":{"type":"error"}}`:                                    `unknown key "input.Request": letter case counts; write "request"`,
		`{"name":"n","label":1,"input":{"text":"secret words"},"want":{"type":"error"}}`:                                        `unknown key "label": a case takes name, input, want, meta; keys of your own go under meta`,
		`{"name":"n","input":{"text":"secret words","evidence":[{"kind":"commit"},{"king":"commit"}]},"want":{"type":"error"}}`: `unknown key "input.evidence[1].king": input.evidence[1] takes kind, text, failed, absent; keys of your own go under meta`,
		`{"name":"n","input":{"text":"secret words","evidence":[{"kind":"commit"},{"kind":"tests"}]},"want":{"type":"error"}}`:  `input.evidence[1].kind: "tests" is none of test_output, exit_code, command_output, commit, pull_request`,
		`{"name":"n","input":{"text":"secret words","evidence":[{}]},"want":{"type":"error"}}`:                                  `input.evidence[0].kind: "" is none of test_output, exit_code, command_output, commit, pull_request`,
		status(`,"was_rejected_completion":true,"coaching":{"contain":["x"]}`):                                                  `unknown key "want.coaching.contain": want.coaching takes contains, excludes, max_length; keys of your own go under meta`,
		"{\"name\":\"n\",\"input\":{\"text\":\"secret\xff\"},\"want\":{\"type\":\"error\"}}":                                    `byte 36 is not UTF-8; save the file as UTF-8`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"error","was_rejected_completion":true}}`:                   `want.was_rejected_completion: a error is none; only a status can be`,
		`{"name":"n","input":{"text":"secret words"},"want":{"type":"completion","action":"continue"}}`:                         `want.action: a completion calls for deliver, not for continue`,
		`{"name":"hollow","input":{"text":"secret words"},"want":{"type":"error"}}`:                                             `name: "hollow" is taken by a.jsonl:1`,
		`{"name":"n","input":{"text":"x"},"want":{"type":"` + strings.Repeat("y", 100) + `"}}`:                                  `want.type: "` + strings.Repeat("y", 60) + `…" is none of error, blocker, question, completion, status`,
	} {
		cases, err := LoadCases(files(hollow, "\n"+line+"\n"+asks), "*.jsonl")
		e, ok := errors.AsType[*LoadError](err)
		require.True(t, ok, line)
		require.Len(t, e.Faults, 1, "%s: %v", line, err)
		assert.Equal(t, "b.jsonl:2: "+want, e.Faults[0].Error(), line)
		assert.NotContains(t, err.Error(), "secret", line)
		assert.Nil(t, cases)
	}
}

// What is under meta is the owner's, whatever its keys, and a wrong type does not hide wrong keys.
func TestKeys(t *testing.T) {
	cases, err := LoadCases(files(`{"name":"n","input":{"text":"x"},"want":{"type":"error"},"meta":{"Want":1,"want":{"type":"done"},"é":[{"a":1},{"a":1,"A":2}]}}`), "*.jsonl")
	require.NoError(t, err)
	assert.Equal(t, 1.0, cases[0].Meta["Want"])

	_, err = LoadCases(files(`{"Name":7,"input":{"text":"x","TEXT":"y"},"want":[{"type":"error"}],"wants":0,"wants":1}`), "*.jsonl")
	assert.EqualError(t, err, `evaluate: load cases: a.jsonl:1: unknown key "Name": letter case counts; write "name"
a.jsonl:1: unknown key "input.TEXT": letter case counts; write "text"
a.jsonl:1: unknown key "wants": a case takes name, input, want, meta; keys of your own go under meta
a.jsonl:1: key "wants": it is there twice; remove one of them`)

	_, err = LoadCases(files(strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)), "*.jsonl")
	assert.EqualError(t, err, "evaluate: load cases: a.jsonl:1: not JSON: byte 10001: invalid character '[' exceeded max depth")

	many := `{"meta":{` + strings.Repeat(`"x":0,`, 100_000) + `"x":0}}`
	_, err = LoadCases(files(many), "*.jsonl")
	e, ok := errors.AsType[*LoadError](err)
	require.True(t, ok)
	assert.Len(t, e.Faults, maxFaults)
	assert.Equal(t, 100_000-maxFaults, e.More)
}

func TestEveryFaultIsTold(t *testing.T) {
	_, err := LoadCases(files(
		"x\n"+asks+"\n"+`{"name":"","input":{"text":""},"want":{"type":"done"}}`,
		"\n\n",
		asks,
	), "*.jsonl", "missing.jsonl", "none*.txt", "[")
	assert.EqualError(t, err, `evaluate: load cases: a.jsonl:1: not JSON: byte 1: invalid character 'x' looking for beginning of value
a.jsonl:3: name: it is empty
a.jsonl:3: want.type: "done" is none of error, blocker, question, completion, status
b.jsonl: it has no case
c.jsonl:1: name: "asks" is taken by a.jsonl:2
missing.jsonl: file does not exist
none*.txt: file does not exist
[: syntax error in pattern`)
	assert.ErrorIs(t, err, fs.ErrNotExist)

	_, err = LoadCases(files(strings.Repeat("x\n", 60)), "*.jsonl")
	e, ok := errors.AsType[*LoadError](err)
	require.True(t, ok)
	assert.Len(t, e.Faults, 50)
	assert.Equal(t, 10, e.More)
	assert.True(t, strings.HasSuffix(err.Error(), "\nand 10 more"))

	_, err = LoadCases(files())
	assert.EqualError(t, err, "evaluate: load cases: cases: no file is named")
	_, err = LoadCases(fstest.MapFS{"dir/a.jsonl": {Data: []byte(asks)}}, "dir")
	assert.EqualError(t, err, "evaluate: load cases: dir: it is a directory")
}

func TestLongLines(t *testing.T) {
	long := strings.Replace(asks, "Which one?", strings.Repeat("long ", 2<<20), 1)
	cases, err := LoadCases(files(long), "a.jsonl")
	require.NoError(t, err)
	assert.Len(t, cases[0].Input.Text, 10<<20)

	_, err = LoadCases(files(hollow+"\n"+strings.Repeat(" ", maxLine)+"\nx\n"+strings.Repeat(" ", maxLine+1)), "a.jsonl")
	assert.EqualError(t, err, `evaluate: load cases: a.jsonl:2: the line is longer than 64 MiB
a.jsonl:3: not JSON: byte 1: invalid character 'x' looking for beginning of value
a.jsonl:4: the line is longer than 64 MiB`)
}

func TestCoachingCheck(t *testing.T) {
	c := Coaching{Contains: []string{"Test output"}, Excludes: []string{"great job"}, MaxLength: 24}
	assert.Empty(t, c.Check("Show the test output ää."))
	assert.Equal(t, []string{`the coaching message lacks "Test output"`, `the coaching message has "great job"`,
		"the coaching message has 27 characters, more than 24"}, c.Check("Great job! Now show the di…"))
	assert.Equal(t, []string{"there is no coaching message"}, c.Check(" \n"))
	assert.Empty(t, Coaching{}.Check("anything"))
}

// FuzzLoadCases: a file is loaded or refused with a place for each fault; what is loaded is valid and survives being written.
func FuzzLoadCases(f *testing.F) {
	f.Add(hollow + "\n" + asks)
	f.Add("\ufeff{}\r\n[]")
	f.Add(`{"name":"a","input":{"text":""},"want":{"type":"status","coaching":{"contains":["x"]},"was_rejected_completion":true}}`)
	f.Fuzz(func(t *testing.T, content string) {
		cases, err := LoadCases(files(content), "*")
		if err != nil {
			e, ok := errors.AsType[*LoadError](err)
			if !ok || len(e.Faults) == 0 || cases != nil {
				t.Fatal(err, cases)
			}
			for _, fault := range e.Faults {
				if fault.File != "a.jsonl" || fault.Line > strings.Count(content, "\n")+1 {
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
		if diff := cmp.Diff(cases, again, cmp.FilterValues(func(a, b map[string]any) bool { return len(a)+len(b) == 0 }, cmp.Ignore())); diff != "" {
			t.Fatal(diff)
		}
	})
}
