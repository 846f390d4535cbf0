package cmdwitness

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var junitReports = []struct {
	name, xml string
	want      Counts
}{
	{"one suite", `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="s" tests="4" failures="1" errors="1" skipped="1">
  <properties><property name="a" value="b"/></properties>
  <testcase classname="pkg.T" name="passes" time="0.1"/>
  <testcase classname="pkg.T" name="fails"><failure message="no">line 3</failure></testcase>
  <testcase name="breaks"><error/></testcase>
  <testcase name="waits"><skipped/></testcase>
  <system-out><![CDATA[<testcase name="printed"/>]]></system-out>
</testsuite>`, Counts{Passed: 1, Failed: 2, Skipped: 1, Failures: []string{"pkg.T.fails", "breaks"}}},
	{"nested suites", `<testsuites tests="3"><testsuite tests="3"><testcase name="a"/><testsuite tests="2"><testcase name="b"/>
<testsuite><testcase name="c"/></testsuite></testsuite></testsuite><testsuite tests="0"/></testsuites>`, Counts{Passed: 3}},
	{"no tests", `<testsuites/>`, Counts{}},
	{"flaky", `<testsuite tests="2"><testcase name="a"><flakyFailure/></testcase><testcase name="b"><failure/><rerunFailure/></testcase></testsuite>`,
		Counts{Passed: 1, Failed: 1, Failures: []string{"b"}}},
	{"failed and skipped", `<testsuite><testcase name="a"><skipped/><failure/></testcase><testcase name="b"><error/><skipped/></testcase></testsuite>`,
		Counts{Failed: 2, Failures: []string{"a", "b"}}},
	{"not run", `<testsuite><testcase name="a" status="notrun"/><testcase name="b" status="run"/></testsuite>`, Counts{Passed: 1, Skipped: 1}},
	{"latin name", "\ufeff<?xml version='1.0' encoding='utf-8'?>\n<testsuite><testcase name='grün'><failure/></testcase></testsuite>",
		Counts{Failed: 1, Failures: []string{"grün"}}},
	{"a failure deep inside", `<testsuite><testcase name="a"><properties><failure/></properties></testcase></testsuite>`, Counts{Passed: 1}},

	{"promises more tests", `<testsuite tests="5"><testcase name="a"/></testsuite>`, Counts{Passed: 1, Broken: "a suite says that it has 5 tests, and holds 1"}},
	{"hides a failure", `<testsuites><testsuite failures="2"><testcase name="a"/></testsuite></testsuites>`,
		Counts{Passed: 1, Broken: "a suite says that 2 tests failed, and shows none"}},
	{"hides an error", `<testsuite errors="1"><testcase name="a"/></testsuite>`, Counts{Passed: 1, Broken: "a suite says that 1 tests failed, and shows none"}},
	{"broken suite", `<testsuite><testcase name="a"/><error/></testsuite>`, Counts{Passed: 1, Broken: "a suite has failed outside its test cases"}},
	{"no name", `<testsuite><testcase name="a"/><testcase classname="C" name=" "/><testcase/></testsuite>`, Counts{Passed: 1, Broken: "a test case has no name"}},
	{"a case in a case", `<testsuite><testcase name="a"><testcase name="b"/></testcase></testsuite>`,
		Counts{Passed: 1, Broken: "a test case stands inside a testcase"}},
}

func TestReadJUnit(t *testing.T) {
	for _, tt := range junitReports {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ReadJUnit(strings.NewReader(tt.xml))
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			crlf, err := ReadJUnit(strings.NewReader(strings.ReplaceAll(tt.xml, "\n", "\r\n")))
			require.NoError(t, err)
			assert.Equal(t, got, crlf)
		})
	}
}

func TestReadJUnitRefuses(t *testing.T) {
	bomb := `<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>`
	for name, tt := range map[string]struct{ xml, why string }{
		"empty":           {"", "it is empty"},
		"blank":           {" \n", "it is empty"},
		"no XML":          {"1..2\nok 1\nok 2\n", "there is text outside its root"},
		"HTML":            {"<html><body></body></html>", "its root is neither testsuites nor testsuite"},
		"breaks off":      {"<testsuite><testcase name='a'/>", "it breaks off"},
		"cut in a tag":    {"<testsuite><testcase name='a", "it is not well-formed XML"},
		"crossed":         {"<testsuite><testcase name='a'></testsuite></testcase>", "it is not well-formed XML"},
		"only an end":     {"</testsuite>", "it is not well-formed XML"},
		"two roots":       {"<testsuite/><testsuite/>", "it has a second root element"},
		"text behind":     {"<testsuite/>ok", "there is text outside its root"},
		"entity bomb":     {bomb, "it has a document type"},
		"outside entity":  {`<!DOCTYPE t SYSTEM "file:///etc/passwd"><testsuite/>`, "it has a document type"},
		"unknown entity":  {`<testsuite><testcase name="&x;"/></testsuite>`, "it is not well-formed XML"},
		"other encoding":  {`<?xml version="1.0" encoding="UTF-16"?><testsuite/>`, "it is not in UTF-8"},
		"no UTF-8":        {"<testsuite><testcase name='\xff'/></testsuite>", "it is not well-formed XML"},
		"too deep":        {strings.Repeat("<testsuite>", 101), "its elements nest deeper than 100"},
		"too deep inside": {"<testsuite><testcase name='a'>" + strings.Repeat("<x>", 99), "its elements nest deeper than 100"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadJUnit(strings.NewReader(tt.xml))
			e, ok := errors.AsType[*FormatError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, tt.why, e.Reason)
			assert.Equal(t, "JUnit", e.Format)
			assert.Zero(t, got)
		})
	}
}

func TestReadJUnitIsBounded(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"of one element": io.MultiReader(strings.NewReader("<testsuite><testcase name='"), endless("a")),
		"of elements":    io.MultiReader(strings.NewReader("<testsuite>"), endless("<testcase name='a'/>")),
		"of text":        io.MultiReader(strings.NewReader("<testsuite>"), endless("\n")),
	} {
		_, err := readJUnit(r, 1<<20)
		assert.ErrorContains(t, err, "it is larger than 1 MiB", name)
	}
	_, err := ReadJUnit(iotest.ErrReader(io.ErrClosedPipe))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// endless repeats a text for ever.
func endless(s string) io.Reader { return &repeated{text: s} }

type repeated struct{ text, rest string }

func (r *repeated) Read(p []byte) (int, error) {
	if r.rest == "" {
		r.rest = strings.Repeat(r.text, 1+4096/len(r.text))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func TestManyFailuresAreCountedAndSomeNamed(t *testing.T) {
	long := strings.Repeat("é", 300)
	got, err := ReadJUnit(strings.NewReader("<testsuite>" + strings.Repeat("<testcase name='"+long+"'><failure/></testcase>", 70) + "</testsuite>"))
	require.NoError(t, err)
	assert.Equal(t, 70, got.Failed)
	assert.Len(t, got.Failures, MaxFailures)
	assert.LessOrEqual(t, len(got.Failures[0]), 200)
	assert.True(t, strings.HasSuffix(got.Failures[0], "é…"))
}

// What is read is well-formed XML, and every test case that has a name is counted once.
func FuzzReadJUnit(f *testing.F) {
	for _, tt := range junitReports {
		f.Add(tt.xml)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ReadJUnit(strings.NewReader(text))
		if err != nil {
			require.Zero(t, got)
			return
		}
		named := 0
		dec := xml.NewDecoder(strings.NewReader(text))
		dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
		var names []string // of the open test cases
		for {
			token, err := dec.RawToken()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "testcase" {
				for _, a := range start.Attr {
					if a.Name.Local == "name" && a.Name.Space == "" {
						names = append(names, a.Value)
						break
					}
				}
			}
		}
		for _, n := range names {
			if strings.TrimSpace(n) != "" {
				named++
			}
		}
		if got.Broken == "" {
			require.Equal(t, named, got.Total())
		} else {
			require.LessOrEqual(t, got.Total(), strings.Count(text, "testcase"))
		}
		require.Equal(t, min(got.Failed, MaxFailures), len(got.Failures))
	})
}
