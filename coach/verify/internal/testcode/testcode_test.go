package testcode

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	goSub = "package p\n\nimport \"testing\"\n\nfunc TestSub(t *testing.T) {\n\tif Sub(5, 3) != 2 {\n" +
		"\t\tt.Error(\"Sub\")\n\t}\n}\n"
	goAdd = "package p\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n\tif Add(5, 3) != 8 {\n" +
		"\t\tt.Error(\"Add\")\n\t}\n}\n"
	pySub = "import unittest\n\nclass CalcTest(unittest.TestCase):\n    def test_sub(self):\n        " +
		"self.assertEqual(sub(5, 3), 2)\n\n    def test_add(self):\n        self.assertEqual(add(5, 3), 8)\n"
	jsSub = "describe('calc', () => {\n  it('subtracts', () => {\n    expect(sub(5, 3)).toBe(2);\n  });\n  " +
		"it('adds', () => {\n    expect(add(5, 3)).toBe(8);\n  });\n});\n"
	rustSub = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn subtracts() {\n        assert_eq!(sub(5, 3), 2);\n    " +
		"}\n}\n"
	javaSub  = "class ATest {\n  @Test\n  void subtracts() {\n    assertEquals(2, sub(5, 3));\n  }\n}\n"
	goHelper = "package p\n\nfunc want(t *testing.T, ok bool) {\n\tif !ok {\n\t\tt.Error(\"wrong\")\n\t}\n}\n\n" +
		"func TestSub(t *testing.T) {\n\twant(t, Sub(5, 3) == 2)\n}\n"
	rubySub  = "describe Calc do\n  it 'subtracts' do\n    expect(sub(5, 3)).to eq 2\n  end\nend\n"
	shellSub = "[ $(sub 5 3) = 2 ]\n[ $(sub 5 5) = 0 ]\n[ $(sub 1 5) = -4 ]\n"
)

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name          string
		file, old     string
		now, nowFile  string
		want, because string
	}{
		{"nothing", "a_test.go", goSub, goSub, "", "", ""},
		{"a comment", "a_test.go", goSub, "// Now with words.\n" + goSub, "", "", ""},
		{"moved", "a_test.go", goSub, goSub, "b_test.go", "", ""},
		{"renamed", "a_test.go", goSub, replace(goSub, "TestSub", "TestSubtract"), "", "", ""},
		{"added beside", "a_test.go", goSub, goSub + goAdd[len("package p\n\nimport \"testing\"\n"):], "", "", ""},
		{"removed", "a_test.go", goSub, "package p\n", "", "removed TestSub", ""},
		{"file removed", "a_test.go", goSub, "", "", "removed TestSub", ""},
		{"replaced by another", "a_test.go", goSub, goAdd, "", "removed TestSub, perhaps TestAdd", ""},
		{"renamed so that it does not " +
			"run", "a_test.go", goSub, replace(goSub, "TestSub", "testSub"), "", "removed TestSub",
			""},
		{"Testsub does not run", "a_test.go", goSub, replace(goSub, "TestSub", "Testsub"), "", "removed TestSub", ""},
		{"build tag", "a_test.go", goSub, "//go:build integration\n\n" + goSub, "", "disabled TestSub",
			"left out by a build constraint"},
		{"file suffix", "a_test.go", goSub, goSub, "a_plan9_test.go", "disabled TestSub", "left out by a build " +
			"constraint"},
		{"not a test file any more", "a_test.go", goSub, goSub, "a_tests.go", "removed TestSub", ""},
		{"in a folder that go ignores", "p/a_test.go", goSub, goSub, "p/testdata/a_test.go", "removed TestSub", ""},
		{"skipped", "a_test.go", goSub, replace(goSub, "\tif Sub", "\tt.Skip()\n\tif Sub"), "", "disabled TestSub",
			"skipped"},
		{"left at once", "a_test.go", goSub, replace(goSub, "\tif Sub", "\treturn\n\tif Sub"), "", "disabled TestSub",
			"skipped"},
		{"skipped in short mode", "a_test.go", goSub, replace(goSub, "\tif Sub",
			"\tif testing.Short() {\n\t\tt.Skip()\n\t}\n\tif Sub"), "", "edited TestSub", ""},
		{"emptied", "a_test.go", goSub, replace(goSub, "t.Error(\"Sub\")", "_ = t"), "", "emptied TestSub", ""},
		{"never", "a_test.go", goSub, replace(goSub, "\tif Sub", "\tif false {\n\t\treturn\n\t}\n\tif Sub"), "",
			"disabled TestSub", "skipped"},
		{"a helper is emptied", "a_test.go", goHelper, replace(goHelper, "t.Error(", "t.Log("), "", "emptied want", ""},
		{"other value", "a_test.go", goSub, replace(goSub, "!= 2", "!= 3"), "", "edited TestSub", ""},
		{"was skipped before", "a_test.go", replace(goSub, "\tif Sub", "\tt.Skip()\n\tif "+
			"Sub"), "package p\n", "", "", ""},

		{"python, removed", "test_a.py", pySub, replace(pySub, "def test_sub", "def check_sub"), "",
			"removed CalcTest.test_sub", ""},
		{"python, skipped", "test_a.py", pySub, replace(pySub, "    def test_sub",
			"    @unittest.skip('later')\n    def test_sub"), "", "disabled CalcTest.test_sub", "skipped"},
		{"python, expected failure", "test_a.py", pySub, replace(pySub, "    def test_sub",
			"    @unittest.expectedFailure\n    def test_sub"), "", "disabled CalcTest.test_sub",
			"marked as an expected failure"},
		{"python, xfail", "test_a.py", "def test_a():\n    assert f() == 1\n",
			"@pytest.mark.xfail(reason='x')\ndef test_a():\n    assert f() == 1\n", "", "disabled test_a",
			"marked as an expected failure"},
		{"python, skipped inside", "test_a.py", pySub, replace(pySub, "        self.assertEqual(sub",
			"        self.skipTest('x')\n        self.assertEqual(sub"), "", "disabled CalcTest.test_sub", "skipped"},
		{"python, emptied", "test_a.py", pySub, replace(pySub, "self.assertEqual(sub(5, 3), 2)", "pass"), "",
			"emptied CalcTest.test_sub", ""},
		{"python, class is not a test case", "test_a.py", pySub, replace(pySub, "(unittest.TestCase)", ""), "",
			"removed CalcTest.test_sub, removed CalcTest.test_add", ""},
		{"python, whole class " +
			"skipped", "test_a.py", pySub, replace(pySub, "class Calc", "@unittest.skip\nclass Calc"), "",
			"disabled CalcTest.test_sub, disabled CalcTest.test_add", "skipped"},
		{"python, replaced by a second one", "test_a.py", pySub, pySub + "\n    def test_sub(self):\n        self." +
			"assertTrue(1)\n",
			"", "disabled CalcTest.test_sub", "replaced by a later test of the same name"},
		{"python, the failure is caught", "test_a.py", pySub, replace(pySub, "self.assertEqual(sub(5, 3), 2)",
			"try:\n            self.assertEqual(sub(5, 3), 2)\n        except AssertionError:\n            pass"), "",
			"emptied CalcTest.test_sub", ""},
		{"python, behind a condition that never holds", "test_a.py", "def test_a():\n    assert f() == 1\n",
			"def test_a():\n    # later\n    if False:\n        assert f() == 1\n", "", "disabled test_a", "skipped"},
		{"python, fewer " +
			"rows", "test_a.py", "@pytest.mark.parametrize('a', [\n    1,\n    2,\n])\ndef test_a(a):\n    " +
			"assert a\n",
			"@pytest.mark.parametrize('a', [\n    1,\n])\ndef test_a(a):\n    assert a\n", "", "edited test_a", ""},
		{"python, skipped over several lines", "test_a.py", "def test_a():\n    assert f()\n",
			"@pytest.mark.skip(\n    reason='x',\n)\ndef test_a():\n    assert " +
				"f()\n", "", "disabled test_a", "skipped"},
		{"python, a helper is emptied", "test_a.py", "def check(a):\n    assert a\n\ndef test_a():\n    check(f())\n",
			"def check(a):\n    print(a)\n\ndef test_a():\n    check(f())\n", "", "emptied check", ""},
		{"python, a helper checks something " +
			"else", "test_a.py", "def check(a):\n    assert a == 1\n", "def check(a):\n    assert a\n", "",
			"edited check", ""},
		{"data in words", "testdata/want.txt", "a\nb\n", "a\nc\n", "", "edited want.txt", ""},
		{"python, function into class", "test_a.py", "def test_sub():\n    assert sub(5, 3) == 2\n",
			"class TestCalc:\n    def test_sub(self):\n        assert sub(5, 3) == 2\n", "", "", ""},

		{"script, skipped", "a.test.js", jsSub, replace(jsSub, "it('subtracts'", "it.skip('subtracts'"), "",
			"disabled subtracts", "skipped"},
		{"script, xit", "a.test.ts", jsSub, replace(jsSub, "it('subtracts'", "xit('subtracts'"), "", "disabled subtracts",
			"skipped"},
		{"script, option", "a.test.js", jsSub, replace(jsSub, "it('subtracts', "+
			"(", "it('subtracts', { todo: true }, ("), "",
			"disabled subtracts", "skipped"},
		{"script, only", "a.test.js", jsSub, replace(jsSub, "it('adds'", "it.only('adds'"), "", "disabled subtracts",
			"left out, because another test is marked as the only one"},
		{"script, group " +
			"skipped", "a.test.js", jsSub, replace(jsSub, "describe(", "describe.skip("), "", "disabled calc",
			"skipped"},
		{"script, emptied", "a.test.js", jsSub, replace(jsSub, "expect(sub(5, 3)).toBe(2);", "sub(5, 3);"), "",
			"emptied subtracts", ""},
		{"script, removed", "a.test.js", jsSub, replace(jsSub, "it('subtracts'", "const later = ('subtracts'"), "",
			"removed subtracts", ""},
		{"script, in a file where nobody looks", "a.test.js", jsSub, jsSub, "src/old/a.js",
			"removed calc, removed subtracts, removed adds", ""},
		{"python, in a file where nobody looks", "test_a.py", pySub, pySub, "checks/a.py",
			"removed CalcTest.test_sub, removed CalcTest.test_add", ""},

		{"script, the failure is caught", "a.test.js", jsSub, replace(jsSub, "expect(sub(5, 3)).toBe(2);",
			"try { expect(sub(5, 3)).toBe(2); } catch {}"), "", "emptied subtracts", ""},
		{"script, a helper is " +
			"emptied", "a.test.js", "const check = (a) => assert.equal(a, 1);\nit('a', () => check(f()));\n",
			"const check = (a) => a;\nit('a', () => check(f()));\n", "", "emptied check", ""},
		{"script, fewer rows", "a.test.js", "it.each([1, 2])('a', (a) => { expect(a).toBe(1); });\n",
			"it.each([1])('a', (a) => { expect(a).toBe(1); });\n", "", "edited a", ""},
		{"script, another test behind it", "a.test.js", jsSub, replace(jsSub, "    expect(add(5, 3)).toBe(8);\n  });\n",
			"    expect(add(5, 3)).toBe(8);\n  });\n  it('more', () => expect(1).toBe(1));\n"), "", "", ""},

		{"java, disabled", "ATest.java", javaSub, replace(javaSub, "@Test", "@Disabled @Test"), "", "disabled subtracts",
			"ignored"},
		{"java, removed", "ATest.java", javaSub, replace(javaSub, "@Test", ""), "", "removed subtracts", ""},
		{"java, class disabled", "ATest.java", javaSub, "@Disabled\n" + javaSub, "", "disabled subtracts", "ignored"},
		{"java, left at once", "ATest.java", javaSub, replace(javaSub, "assertEquals(2", "if (true) return;\n    "+
			"assertEquals(2"),
			"", "disabled subtracts", "skipped"},
		{"java, emptied", "ATest.java", javaSub, replace(javaSub, "assertEquals(2, sub(5, 3));", "sub(5, 3);"), "",
			"emptied subtracts", ""},

		{"rust, ignored", "src/a.rs", rustSub, replace(rustSub, "    fn sub", "    #[ignore]\n    fn sub"), "",
			"disabled subtracts", "ignored"},
		{"rust, expected to " +
			"panic", "src/a.rs", rustSub, replace(rustSub, "    fn sub", "    #[should_panic]\n    fn sub"),
			"", "disabled subtracts", "marked as an expected failure"},
		{"rust, expected to panic as " +
			"before", "src/a.rs", replace(rustSub, "    fn sub", "    #[should_panic]\n    fn sub"),
			replace(rustSub, "    fn sub", "    #[should_panic]\n    fn sub"), "", "", ""},
		{"rust, no attribute", "src/a.rs", rustSub, replace(rustSub, "#[test]\n", "\n"), "", "removed subtracts", ""},
		{"rust, condition", "src/a.rs", rustSub, replace(rustSub, "    fn sub", "    #[cfg(feature = \"slow\")]\n "+
			"   fn sub"),
			"", "disabled subtracts", "left out by a condition (cfg)"},
		{"rust, condition of the module", "src/a.rs", rustSub, replace(rustSub, "#[cfg(test)]",
			"#[cfg(all(test, feature = \"slow\"))]"), "", "disabled subtracts", "left out by a condition (cfg)"},
		{"rust, renamed with a new check", "src/a.rs", rustSub, replace(rustSub, "subtracts() {",
			"subtracts_more() {\n        assert_eq!(sub(1, 1), "+
				"0);"), "", "removed subtracts, perhaps subtracts_more", ""},

		{"ruby, skipped", "calc_spec.rb", rubySub, replace(rubySub, "  it ", "  xit "), "", "edited calc_spec.rb", ""},
		{"shell, gone", "test/test_sub.sh", shellSub, "", "", "removed test_sub.sh", ""},
		{"shell, emptied", "test/test_sub.sh", shellSub, "true\n", "", "emptied test_sub.sh", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.nowFile == "" {
				tt.nowFile = tt.file
			}
			got, why := "", ""
			changes := []Change{{tt.file, tt.old, tt.now}}
			if tt.nowFile != tt.file {
				changes = []Change{{tt.file, tt.old, ""}, {tt.nowFile, "", tt.now}}
			}
			for _, f := range Compare(changes).Findings {
				if got != "" {
					got += ", "
				}
				got += fmt.Sprintf("%s %s", f.Change, f.Name)
				if f.Now != "" {
					got += ", perhaps " + f.Now
				}
				why = f.Why
			}
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.because, why)
		})
	}
}

// What is new beside the tests that were there.
func TestCompareFindsWhatIsNew(t *testing.T) {
	for _, tt := range []struct{ name, file, old, now, want string }{
		{"a test", "a_test.go", "package p\n", goSub, "TestSub"},
		{"without a check", "a_test.go", "package p\n", "package p\n\nfunc TestA(t *testing.T) {\n\t_ = " +
			"f()\n}\n", "TestA hollow"},
		{"a table without rows", "a_test.go", "package p\n", "package p\n\nfunc TestA(t *testing.T) {\n" +
			"\tfor _, c := range []int{} {\n\t\tt.Error(c)\n\t}\n}\n", "TestA hollow rows"},
		{"rust, empty", "src/a.rs", "\n", "#[test]\nfn a() {}\n", "a hollow"},
		{"script, empty", "a.test.js", "\n", "it('a', () => {});\n", "a hollow"},
		{"script, by a helper", "a.test.js", "\n", "it('a', () => checkAll(1));\n", "a"},
		{"skipped", "a.test.js", "\n", "it.skip('a', () => expect(1));\n", ""},
		{"python, rows", "test_a.py", "\n", "@pytest.mark.parametrize('a', [1])\ndef test_a(a):\n    assert " +
			"a\n", "test_a rows"},
		{"an assert of their own", "a.test.js", jsSub, "const assert = { equal() {} };\n" + jsSub, "override"},
		{"the assert of a library", "a.test.js", jsSub, "const assert = require('assert');\n" + jsSub, ""},
		{"python, the checks of all tests", "tests/__init__.py", "", "unittest.TestCase.assertEqual = f\n", "override"},
		{"python, what is tested", "tests/__init__.py", "", "shop.total = lambda a: 3\n", "override"},
		{"python, a field", "test_a.py", pySub, pySub + "\n    def setUp(self):\n        self.total = lambda a: " +
			"3\n", ""},
		{"python, a test", "test_a.py", pySub, pySub + "\nCalcTest.test_sub = f\n", "override"},
		{"rust, a macro", "src/a.rs", rustSub, replace(rustSub, "mod tests {", "mod tests {\n    macro_rules! "+
			"assert_eq {"),
			"override"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Compare([]Change{{tt.file, tt.old, tt.now}})
			got := ""
			for _, n := range c.New {
				got += n.Name
				if n.Hollow {
					got += " hollow"
				}
				if n.Rows {
					got += " rows"
				}
			}
			for range c.Overrides {
				got += "override"
			}
			require.Equal(t, tt.want, got)
		})
	}
	moved := Compare([]Change{{"a_test.go", goSub, ""}, {"b/a_test.go", "", goSub}}).Moved
	require.Equal(t, []Finding{{File: "a_test.go", Name: "TestSub", Change: Moved, Now: "b/a_test.go"}}, moved)
}

func TestCode(t *testing.T) {
	require.Equal(t, Code("a.py", "def f():\n    return 1\n"), Code("a.py", "# x\ndef f():\n    \"\"\"Say."+
		"\"\"\"\n\n    return 1\n"))
	require.NotEqual(t, Code("a.py", "if a:\n    b()\nc()\n"), Code("a.py", "if a:\n    b()\n    c()\n"))
	require.Equal(t, Code("a.c", "int a;\n"), Code("a.c", "/* x\n * y\n */\nint  a;\n"))
	require.NotEqual(t, Code("a.c", "int a;\n"), Code("a.c", "#define A\nint a;\n"))
	require.Equal(t, "if testing.Testing() {", KnowsTests("", "\tif testing.Testing() {\n"))
	require.NotEmpty(t, KnowsTests("", "unittest.TestCase.assertEqual = lambda *a: None\n"))
	require.NotEmpty(t, KnowsTests("", "require('assert').equal = () => {};\n"))
	require.Empty(t, KnowsTests("", "const equal = require('assert').equal;\nassert.equal(a, b);\n"))
	require.Empty(t, KnowsTests("", "#[cfg(test)]\nmod tests {\n"))
	require.Empty(t, KnowsTests("\tif testing.Testing() {\n", "\tif testing.Testing() {\n"))
}

func replace(s, old, with string) string {
	for i := range s {
		if i+len(old) <= len(s) && s[i:i+len(old)] == old {
			return s[:i] + with + s[i+len(old):]
		}
	}
	panic("the test's text has no " + old)
}

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "src/a.test.ts": true, "spec/a_spec.rb": true, "tests/data.json": true, "test_a.py": true,
		"CalcTest.java":      true,
		"test/test_usage.sh": true, "a.go": false, "testing.go": false, "tests/README.md": false, "Contest.java": false,
		"src/latest.js": false,
	} {
		require.Equal(t, want, IsTest(name), name)
	}
}

// Whatever a file holds, it is compared with itself without a finding.
func FuzzCompare(f *testing.F) {
	for _, s := range []string{goSub, pySub, jsSub, rustSub, rubySub, shellSub} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a_test.go", "test_a.py", "a.test.js", "a.rs", "a_spec.rb",
			"tests/a.sh"} {
			require.Empty(t, Compare([]Change{{name, text, text}}).Findings, name)
		}
	})
}
