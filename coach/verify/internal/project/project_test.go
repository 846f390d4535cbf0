package project

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
)

func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestFind(t *testing.T) {
	const scripts = `{"scripts":{"test":"vitest run"}}`
	const unit = "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.fail()\n"
	for name, tt := range map[string]struct {
		files    map[string]string
		want, by string
	}{
		"nothing": {map[string]string{"a.txt": ""}, "", ""},
		"npm":     {map[string]string{"package.json": scripts}, "npm test", "package.json"},
		"pnpm": {map[string]string{"package.json": scripts, "pnpm-lock.yaml": ""}, "pnpm run test",
			"package.json"},
		"yarn": {map[string]string{"package.json": scripts, "yarn.lock": ""}, "yarn run test",
			"package.json"},
		"bun": {map[string]string{"package.json": scripts, "bun.lock": ""}, "bun run test",
			"package.json"},
		"npm's own default": {map[string]string{"package.json": `{"scripts":{"test":"echo \"Error: no test ` +
			`specified\" && exit 1"}}`}, "", ""},
		"a broken package.json": {map[string]string{"package.json": `{`, "go.mod": "module a\n"}, "go test ./...",
			"go.mod"},
		"make comes before go": {map[string]string{"go.mod": "", "Makefile": "all:\n\ntest: all\n\tgo test ./...\n"},
			"make test", "Makefile"},
		"make check": {map[string]string{"makefile": "check:\n\ttrue\n"}, "make check", "makefile"},
		"make without such " +
			"targets": {map[string]string{"Makefile": "build:\n\tgo build\n", "go.mod": ""}, "go test ./...",
			"go.mod"},
		"a workspace of go":      {map[string]string{"go.work": ""}, "go test ./...", "go.work"},
		"cargo":                  {map[string]string{"Cargo.toml": ""}, "cargo test", "Cargo.toml"},
		"pytest by its settings": {map[string]string{"pytest.ini": ""}, "python3 -m pytest", "pytest.ini"},
		"pytest by a dependency": {map[string]string{"setup.py": "",
			"pyproject.toml": "[project.optional-dependencies]\ntest = " +
				"['pytest']\n"}, "python3 -m pytest", "pyproject.toml"},
		"unittest": {map[string]string{"pyproject.toml": "[project]\n"}, "python3 -m unittest",
			"pyproject.toml"},
		"plain unittest": {map[string]string{"tests/__init__.py": "", "tests/test_a.py": unit}, "python3 -m unittest", "tests/test_a.py"},
		"unittest in a " +
			"folder": {map[string]string{"tests/test_a.py": unit}, "python3 -m unittest discover -s " +
			"tests", "tests/test_a.py"},
		"plain pytest": {map[string]string{"test_a.py": "def test_a():\n    assert " +
			"1\n"}, "python3 -m pytest", "test_a.py"},
		"gradle's wrapper": {map[string]string{"gradlew": "", "build.gradle": ""}, "./gradlew test", "gradlew"},
		"maven":            {map[string]string{"pom.xml": ""}, "mvn -B test", "pom.xml"},
		"mix":              {map[string]string{"mix.exs": ""}, "mix test", "mix.exs"},
		"rspec":            {map[string]string{"Gemfile": "gem 'rspec'\n"}, "bundle exec rspec", "Gemfile"},
	} {
		t.Run(name, func(t *testing.T) {
			command, by := Find(tree(tt.files))
			assert.Equal(t, tt.want, strings.Join(command, " "))
			assert.Equal(t, tt.by, by)
		})
	}
}

func TestLacks(t *testing.T) {
	fsys := tree(map[string]string{
		"package.json": `{"scripts":{"build":"tsc","test":"vitest"}}`,
		"Makefile":     ".PHONY: test\nX := 1\ntest lint: build\n\tgo test\nbuild:\n\tgo build\n",
		"here":         "",
	})
	open := tree(map[string]string{"Makefile": "include rules.mk\ntest:\n\ttrue\n"})
	patterns := tree(map[string]string{"Makefile": "%.o: %.c\n\tcc $<\n"})
	for _, tt := range []struct {
		fsys    fstest.MapFS
		command string
		want    string
	}{
		{fsys, "npm run build", ""},
		{fsys, "npm test", ""},
		{fsys, "npm run e2e", "package.json has no script e2e"},
		{fsys, "pnpm run e2e --watch", "package.json has no script e2e"},
		{fsys, "yarn run e2e", "package.json has no script e2e"},
		{fsys, "npm run e2e --prefix web", ""},
		{fsys, "npm install", ""},
		{fsys, "npm start", ""},
		{fsys, "make", ""},
		{fsys, "make test lint", ""},
		{fsys, "make -j4 e2e", "Makefile has no target e2e"},
		{fsys, "make here", ""},
		{fsys, "make CC=x build", ""},
		{fsys, "make -C web e2e", ""},
		{open, "make e2e", ""},
		{patterns, "make a.o", ""},
		{fstest.MapFS{}, "make e2e", ""},
		{fstest.MapFS{}, "npm run e2e", ""},
		{fsys, "go test ./...", ""},
		{fsys, "", ""},
	} {
		assert.Equal(t, tt.want, Lacks(tt.fsys, strings.Fields(tt.command)), tt.command)
	}
}

func TestFiles(t *testing.T) {
	fsys := tree(map[string]string{
		"package.json": `{"scripts":{"pretest":"./scripts/prepare.sh","test":"npm run unit && node ` +
			`tools/check.js","unit":"node --test","lint":"eslint ."}}`,
		"scripts/prepare.sh": "#!/bin/sh\nexec sh ./scripts/deep.sh\n",
		"scripts/deep.sh":    "true\n",
		"scripts/other.sh":   "true\n",
		"tools/check.js":     "x\n",
		"Makefile": "all: test\ntest: lint\n\t@./scripts/other.sh && python3 run_tests.py\nlint:\n\tbash -e " +
			"scripts/deep.sh\n",
		"run_tests.py": "x\n",
		"pom.xml":      "<a/>",
	})
	for command, want := range map[string][]string{
		"npm test":                 {"scripts/prepare.sh", "scripts/deep.sh", "tools/check.js"},
		"npm run lint":             nil,
		"make":                     {"scripts/other.sh", "run_tests.py", "scripts/deep.sh"},
		"make lint":                {"scripts/deep.sh"},
		"/usr/bin/make lint":       {"scripts/deep.sh"},
		"sh scripts/prepare.sh -v": {"scripts/prepare.sh", "scripts/deep.sh"},
		"./scripts/other.sh":       {"scripts/other.sh"},
		"./scripts/none.sh":        nil,
		"mvn -q test":              {"pom.xml"},
		"go test ./...":            nil,
		"sh ../outside.sh":         nil,
		"":                         nil,
	} {
		assert.Equal(t, want, Files(fsys, strings.Fields(command)), command)
	}
	loop := tree(
		map[string]string{
			"a.sh":         "sh b.sh\n",
			"b.sh":         "sh a.sh\n",
			"package.json": `{"scripts":{"a":"npm run b","b":"npm run a && ./a.sh"}}`,
		},
	)
	assert.Equal(t, []string{"a.sh", "b.sh"}, Files(loop, []string{"sh", "a.sh"}))
	assert.Equal(t, []string{"a.sh", "b.sh"}, Files(loop, []string{"npm", "run", "a"}))
	many := strings.Repeat("npm run b && npm run a && ", 1000) + "./a.sh"
	wide := tree(map[string]string{"a.sh": "", "package.json": `{"scripts":{"a":"` + many + `","b":"` + many + `"}}`})
	assert.Equal(t, []string{"a.sh"}, Files(wide, []string{"npm", "run", "a"}))
}

func TestSettings(t *testing.T) {
	const (
		pkg    = `{"name":"a","scripts":{"test":"jest"},"dependencies":{"x":"1"}}`
		toml   = "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n"
		legacy = "[metadata]\nname = a\n[tool:pytest]\naddopts = -q\n"
		cargo  = "[package]\nname = \"a\"\n\n[dependencies]\nx = \"1\"\n"
	)
	npm := []string{"npm", "test"}
	for _, tt := range []struct {
		file, old, now string
		command        []string
		differs        bool
	}{
		{"package.json", pkg, `{"dependencies":{"x":"2","y":"1"},"name":"b", "scripts": {"test": "jest"}}`, npm, false},
		{"package.json", pkg, `{"name":"a","scripts":{"test":"exit 0"}}`, npm, true},
		{"package.json", pkg, `{"name":"a","scripts":{"test":"exit 0"}}`, []string{"npm", "run", "lint"}, false},
		{"package.json", `{"scripts":{"test":"npm run unit","unit":"jest"}}`,
			`{"scripts":{"test":"npm run unit","unit":"true"}}`, npm, true},
		{"package.json", pkg, `{"name":"a","scripts":{"test":"jest"},"jest":{"testPathIgnorePatterns":["."]}}`, nil, true},
		{"package.json", pkg, `{`, nil, true},
		{"package.json", pkg, `null`, npm, true},
		{"pyproject.toml", toml,
			"[project]\nname = \"b\"\n\n[tool.pytest.ini_options]\naddopts = \"-q\"\n[tool.black]\nx = " +
				"1\n", nil, false},
		{"pyproject.toml", toml, "[project]\nname = \"a\"\n\n[tool.pytest.ini_options]\naddopts = \"-k " +
			"nothing\"\n", nil,
			true},
		{"pyproject.toml", toml, "[project]\nname = \"a\"\n", nil, true},
		{"setup.cfg", legacy, "[metadata]\nname = b\n[tool:pytest]\naddopts = -q\n", nil, false},
		{"setup.cfg", legacy, "[metadata]\nname = a\n[tool:pytest]\naddopts = --co\n", nil, true},
		{"Makefile", "test:\n\tgo test\n", "all: test\ntest:\n\tgo " +
			"test\ninstall:\n\tcp\n", []string{"make", "test"}, false},
		{"Makefile", "test:\n\tgo test\n", "test:\n\t-go test\n", []string{"make", "test"}, true},
		{"Makefile", "test: a\na:\n\tgo test\n", "test: a\na:\n\ttrue\n", []string{"make", "test"}, true},
		{"Makefile", "test:\n\tgo test\n", "SHELL := /bin/true\ntest:\n\tgo test\n", []string{"make", "test"}, true},
		{"Makefile", "test:\n\tgo test\n", "test:\n\t-go test\n", []string{"go", "test"}, false},
		{"Cargo.toml", cargo, cargo + "y = \"2\"\n", nil, false},
		{"Cargo.toml", cargo, cargo + "\n[lib]\ntest = false\n", nil, true},
		{"Cargo.toml", cargo, strings.Replace(cargo, "name", "autotests = false\nname", 1), nil, true},
	} {
		before, ok := Settings(tt.file, tt.old, tt.command)
		after, _ := Settings(tt.file, tt.now, tt.command)
		assert.True(t, ok)
		assert.Equal(t, tt.differs, before != after, "%s: %s", tt.file, tt.now)
	}
	_, ok := Settings("main.go", "x", nil)
	assert.False(t, ok)
}
