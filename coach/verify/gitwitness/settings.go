package gitwitness

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// buildFiles are the files by which a program runs tests, by its name in lower case.
var buildFiles = map[string][]string{
	"make": {"makefile", "gnumakefile"}, "gmake": {"makefile", "gnumakefile"}, "just": {"justfile", ".justfile"},
	"task": {"taskfile.yml", "taskfile.yaml"}, "rake": {"rakefile"}, "cmake": {"cmakelists.txt"}, "ctest": {"cmakelists.txt"},
	"mvn": {"pom.xml"}, "mvnw": {"pom.xml"}, "gradle": {"build.gradle", "build.gradle.kts"}, "gradlew": {"build.gradle", "build.gradle.kts"},
	"sbt": {"build.sbt"}, "bazel": {"build", "build.bazel"}, "composer": {"composer.json"},
}

// interpreters are programs that run the script which is their first argument.
var interpreters = []string{"sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "php", "pwsh"}

// runsBy reports whether one of the commands runs by a file of that name.
func runsBy(name string, commands [][]string) bool {
	for _, c := range commands {
		if len(c) == 0 {
			continue
		}
		program := strings.ToLower(path.Base(filepath.ToSlash(c[0])))
		program = strings.TrimSuffix(strings.TrimSuffix(program, ".exe"), ".cmd")
		if slices.Contains(buildFiles[program], strings.ToLower(name)) {
			return true
		}
		script := c[0]
		if slices.Contains(interpreters, program) {
			if i := slices.IndexFunc(c[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }); i >= 0 {
				script = c[1+i]
			}
		}
		if script = filepath.ToSlash(script); path.Base(script) == name && (strings.Contains(script, "/") || path.Ext(script) != "") {
			return true
		}
	}
	return false
}

// mixed reports whether a file of that name holds settings of tests among others.
func mixed(name string) bool {
	switch strings.ToLower(name) {
	case "package.json", "pyproject.toml", "setup.cfg":
		return true
	}
	return false
}

var testSection = compiled(`(?i)pytest|tox|nox|unittest|hatch\.envs|poe\.tasks|pdm\.scripts|aliases`)

// settingsIn returns that part of a mixed file which is for tests, in a form that is the same for the same settings.
func settingsIn(name string, text []byte) string {
	if strings.EqualFold(name, "package.json") {
		var all map[string]any
		if len(text) == 0 {
			return "{}"
		}
		if json.Unmarshal(text, &all) != nil {
			return string(text)
		}
		mine := make(map[string]any)
		for _, key := range []string{"scripts", "jest", "mocha", "vitest", "ava", "nyc", "tap"} {
			if v, ok := all[key]; ok {
				mine[key] = v
			}
		}
		b, _ := json.Marshal(mine) // keys in order
		return string(b)
	}
	var b strings.Builder
	in := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			in = testSection().MatchString(line)
		}
		if in && line != "" && !strings.HasPrefix(line, "#") {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
