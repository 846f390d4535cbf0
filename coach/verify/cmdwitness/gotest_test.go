package cmdwitness

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// read reads a whole output, in writes of step bytes.
func read(text string, step int) *events {
	e := &events{packages: map[string]*goPackage{}}
	for text != "" {
		n := min(step, len(text))
		_, _ = e.Write([]byte(text[:n]))
		text = text[n:]
	}
	e.event(e.line)
	return e
}

func line(action, test, output string) string {
	b, _ := json.Marshal(event{Action: action, Package: "p", Test: test, Output: output})
	return string(b) + "\n"
}

func TestEvents(t *testing.T) {
	pass := func(name string) string {
		return line("run", name, "") + line("output", name,
			"=== RUN   "+name+"\n") + line("output", name, "--- PASS: "+name+" (0.00s)\n") + line(
			"pass",
			name,
			"",
		)
	}
	for _, tt := range []struct {
		name, text           string
		passes, fails, parts int
		strange              string
	}{
		{"passes", pass("TestA") + line("pass", "", ""), 1, 0, 0, ""},
		{"subtests", line("run", "TestA", "") + pass("TestA/x") + line("output", "TestA",
			"    --- PASS: TestA (1.00s)\n") + line("pass", "TestA", ""), 1, 0, 1, ""},
		{"the worst stands", pass("TestA") + line("run", "TestA", "") + line("fail", "TestA", "") + pass("TestA"), 0, 1, 0,
			""},
		{"never started", line("output", "TestA", "--- PASS: TestA (0.00s)\n") + line("pass", "TestA", ""), 0, 0, 0,
			"it reports a result for a test that was not started"},
		{"never said", line("run", "TestA", "") + line("pass", "TestA", ""), 0, 0, 0, "TestA was started and never ended"},
		{"said by another", line("run", "TestA", "") + line("output", "TestA", "--- PASS: TestAB (0.00s)\n") + line("pass",
			"TestA", ""), 0, 0, 0, "TestA was started and never ended"},
		{"a failure needs no words", line("fail", "TestA", ""), 0, 1, 0, ""},
		{"noise", "# p\nnot json {\n{\"Action\":\"pass\"\n{}\nnull\n[]\n\"pass\"\n" + pass("TestA"), 1, 0, 0, ""},
		{"CRLF", strings.ReplaceAll(pass("TestA"), "}\n", "}\r\n"), 1, 0, 0, ""},
		{"a line without end", strings.Repeat("x", 3<<20) + "\n" + pass("TestA"), 1, 0, 0, ""},
		{"an event without end", `{"Action":"pass","Package":"p","Test":"` + strings.Repeat("x", 3<<20) +
			"\"}\n" + pass("TestA"), 1, 0, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := read(tt.text, 4096)
			p := e.packages["p"]
			require.NotNil(t, p)
			var r verify.Run
			p.count(&r, false)
			assert.Equal(t, [3]int{tt.passes, tt.fails, tt.parts}, [3]int{r.Passed, r.Failed, r.Parts})
			assert.Equal(t, tt.strange, p.strange)
		})
	}
}

// What is remembered is bounded, and a run that passes a bound is not taken for a good one.
func TestEventsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	e := &events{packages: map[string]*goPackage{}}
	for i := range maxNames + 10 {
		fmt.Fprintf(e, `{"Action":"run","Package":"p","Test":"Test%d"}`+"\n", i)
	}
	assert.Len(t, e.packages["p"].tests, maxNames-1)
	assert.Equal(t, maxNames, e.names)

	e = &events{packages: map[string]*goPackage{}}
	for range 3_000 {
		_, _ = e.Write([]byte(line("output", "TestA", strings.Repeat("y", 100)) +
			`{"Action":"build-output","Output":"error\n"}` + "\nnoise\n"))
	}
	assert.LessOrEqual(t, len(e.packages["p"].tests["TestA"].output), 2*keepTest)
	assert.LessOrEqual(t, len(e.build), keepBuild)
	assert.LessOrEqual(t, len(e.noise), 2*keepBuild)
}

// However the output is cut into writes, it says the same; and a test has passed only where a well-formed line says
// so of a test that another started and a third printed, in this order.
func FuzzEvents(f *testing.F) {
	f.Add(line("run", "TestA", "")+line("output", "TestA", "--- PASS: TestA (0.00s)\n")+line("pass", "TestA", ""), 7)
	f.Add("FAIL\tp [build failed]\n"+line("fail", "", "")+line("skip", "TestB/x", ""), 1)
	f.Fuzz(func(t *testing.T, text string, step int) {
		if step < 1 || len(text) > maxEvent {
			t.Skip("nothing would be written, or lines longer than are read")
		}
		e, whole := read(text, step), read(text, max(1, len(text)))
		require.Equal(t, len(whole.packages), len(e.packages))
		var lines []event
		for l := range strings.SplitSeq(text, "\n") {
			var ev event
			if l = strings.TrimSuffix(l, "\r"); strings.HasPrefix(l, "{") && json.Unmarshal([]byte(l), &ev) == nil {
				lines = append(lines, ev)
			}
		}
		for name, p := range e.packages {
			other := whole.packages[name]
			require.NotNil(t, other)
			require.Len(t, p.tests, len(other.tests))
			require.Equal(t, other.strange, p.strange)
			require.Equal(t, other.result, p.result)
			for test, state := range p.tests {
				if state.result != passed {
					continue
				}
				want := []func(event) bool{
					func(ev event) bool { return ev.Action == "run" },
					func(ev event) bool { return ev.Action == "output" && strings.Contains(ev.Output, test+" (") },
					func(ev event) bool { return ev.Action == "pass" },
				}
				for _, ev := range lines {
					if len(want) > 0 && ev.Package == name && ev.Test == test && want[0](ev) {
						want = want[1:]
					}
				}
				require.Empty(t, want, "%s passed", test)
			}
		}
	})
}
