package hook

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// masked says what becomes of a command's exit status on its way to the tool's result.
type masked uint8

const (
	kept   masked = iota // it is the result's
	lost                 // something else took its place; only the output can tell
	thrown               // it was thrown away, or turned round
)

// parsedCommand is a command of a script that matters here.
type parsedCommand struct {
	tests bool     // it runs tests
	edits bool     // it changes files
	words []string // of a test run: what chooses which tests run
	name  string   // for people
	mask  masked
	why   string // why the status is thrown away
}

const maxName = 60 // bytes of a command's name for people

// parseScript returns the commands of a script that run tests or change files of the project, in their order.
func (p project) parseScript(script string) []parsedCommand { return p.parseNested(script, 0) }

func (p project) parseNested(script string, depth int) []parsedCommand {
	sh := parseShell(script)
	var list []parsedCommand
	for i, c := range sh.commands {
		words, inverted := bare(c.words)
		found := len(list)
		switch nested := nestedScript(words); {
		case nested != "" && depth < 3:
			list = append(list, p.parseNested(nested, depth+1)...)
		case contained(words):
			list = append(list, parsedCommand{tests: true, words: scope(words), name: clip(strings.Join(words, " "), maxName)})
		case p.changesFiles(words, c):
			list = append(list, parsedCommand{edits: true})
		}
		if found == len(list) {
			continue
		}
		mask, why := sh.mask(i)
		if inverted {
			mask, why = thrown, "the status of the test run was turned round"
		}
		for j := range list[found:] {
			if c := &list[found+j]; c.tests && mask > c.mask {
				c.mask, c.why = mask, why
			}
		}
	}
	return list
}

// mask says what becomes of the status of the i-th command when the script itself succeeds or fails.
func (sh shellScript) mask(i int) (masked, string) {
	const away = "the status of the test run was thrown away"
	m := kept
	if sh.control {
		m = lost
	}
	for {
		for sh.commands[i].op == "|" {
			if !sh.pipefail {
				m = lost
			}
			i++
			if i == len(sh.commands) {
				return m, ""
			}
		}
		op, last := sh.commands[i].op, i+1 == len(sh.commands)
		switch {
		case op == "&":
			return thrown, "the test run was left in the background"
		case last || op == "":
			return m, ""
		case op == "&&":
		case op == "||" && !fails(sh.commands[i+1].words):
			return thrown, away
		case op == "||":
		case sh.errexit:
		case ignores(sh.commands[i+1].words):
			return thrown, away
		default:
			m = lost
		}
		i++
	}
}

// fails reports whether a command after "||" keeps the failure.
func fails(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "false":
		return true
	case "exit", "return":
		return len(words) == 1 || words[1] != "0"
	}
	return false
}

// ignores reports whether a command after ";" is there to succeed.
func ignores(words []string) bool {
	if len(words) == 0 {
		return false
	}
	return words[0] == "true" || words[0] == ":" || (words[0] == "exit" || words[0] == "return") && len(words) > 1 && words[1] == "0"
}

// wrappers are programs that run the command after their flags; the number is how many words of their own they take.
var wrappers = map[string]int{
	"env": 0, "time": 0, "command": 0, "exec": 0, "builtin": 0, "nohup": 0, "stdbuf": 0, "setsid": 0, "sudo": 0, "doas": 0, "nice": 0, "ionice": 0,
	"unbuffer": 0, "timeout": 1, "gtimeout": 1, "xvfb-run": 0, "cross-env": 0, "dotenv": 0, "npx": 0, "bunx": 0, "pnpx": 0, "uvx": 0, "pipx": 0,
	"arch": 0, "caffeinate": 0, "script": 0, "strace": 0, "noglob": 0, "rtk": 0,
}

// runs are programs that run a command after a word of theirs.
var runs = map[string][]string{
	"uv": {"run"}, "poetry": {"run"}, "pipenv": {"run"}, "hatch": {"run"}, "pdm": {"run"}, "rye": {"run"}, "pixi": {"run"}, "conda": {"run"}, "micromamba": {"run"},
	"bundle": {"exec"}, "pnpm": {"exec", "dlx"}, "yarn": {"exec", "dlx"}, "npm": {"exec", "x"}, "bun": {"x"}, "mise": {"exec", "x"}, "asdf": {"exec"},
	"devbox": {"run"}, "direnv": {"exec"}, "opam": {"exec"}, "dart": {"pub"}, "fvm": {"flutter", "dart"}, "volta": {"run"},
}

// bare returns a command without assignments and what only runs it, and whether its status is turned round.
func bare(words []string) (_ []string, inverted bool) {
	for len(words) > 0 {
		w := words[0]
		name := programName(w)
		own, wraps := wrappers[name]
		switch {
		case w == "!":
			inverted = !inverted
			words = words[1:]
		case isAssignment(w):
			words = words[1:]
		case wraps:
			words = afterFlags(words[1:], own)
		case len(words) > 2 && slices.Contains(runs[name], words[1]):
			words = afterFlags(words[2:], 0)
			if name == "direnv" && len(words) > 0 {
				words = words[1:] // the folder
			}
		default:
			return words, inverted
		}
	}
	return words, inverted
}

// afterFlags drops leading flags, assignments and then n words. A flag whose value stands apart is one that looks like it.
func afterFlags(words []string, n int) []string {
	for len(words) > 0 {
		w := words[0]
		switch {
		case w == "--":
			words = words[1:]
			return words[min(n, len(words)):]
		case strings.HasPrefix(w, "-"):
			words = words[1:]
			if (w == "-u" || w == "-n" || w == "-s" || w == "-k" || w == "-p" || w == "--package" || w == "-e" || w == "--signal") && len(words) > 1 {
				words = words[1:]
			}
		case isAssignment(w):
			words = words[1:]
		default:
			return words[min(n, len(words)):]
		}
	}
	return nil
}

func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	if !ok || name == "" || '0' <= name[0] && name[0] <= '9' {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && !('a' <= c && c <= 'z') && !('A' <= c && c <= 'Z') && !('0' <= c && c <= '9') {
			return false
		}
	}
	return true
}

// nestedScript returns the script of "bash -c 'script'", or "".
func nestedScript(words []string) string {
	if len(words) < 3 {
		return ""
	}
	switch programName(words[0]) {
	case "sh", "bash", "zsh", "dash", "ksh", "fish", "su", "pwsh", "powershell":
	default:
		return ""
	}
	for i, w := range words[1 : len(words)-1] {
		if w == "-c" || w == "-lc" || w == "-ic" || w == "-ec" || w == "-lic" || w == "-euc" || strings.EqualFold(w, "-Command") {
			return words[i+2]
		}
	}
	return ""
}

// contained reports whether a command runs tests, in a container if need be.
func contained(words []string) bool {
	if runsTests(words) {
		return true
	}
	if len(words) < 3 {
		return false
	}
	switch programName(words[0]) {
	case "docker", "podman", "docker-compose", "nerdctl", "kubectl", "nix", "nix-shell", "devcontainer", "distrobox", "toolbox", "ssh", "vagrant":
	default:
		return false
	}
	if !slices.ContainsFunc(words[1:], func(w string) bool { return w == "run" || w == "exec" || w == "develop" || w == "ssh" || w == "shell" }) {
		return false
	}
	for i := 2; i < min(len(words), 64); i++ {
		rest, _ := bare(words[i:])
		if nested := nestedScript(rest); nested != "" {
			return slices.ContainsFunc(project{}.parseNested(nested, 2), func(p parsedCommand) bool { return p.tests })
		}
		if runsTests(rest) && !isTestScript(rest[0]) {
			return true
		}
	}
	return false
}

// scope returns the words of a test run that choose which tests run.
func scope(words []string) []string {
	var kept []string
	for i, w := range words {
		if i == 0 {
			kept = append(kept, programName(w))
			continue
		}
		if w == "." || w == "./..." || w == "..." || isNumber(w) || isNeutral(w) || slices.Contains(kept, w) {
			continue
		}
		kept = append(kept, w)
	}
	return kept
}

// isNeutral reports whether a flag changes how tests run or print, and not which.
func isNeutral(w string) bool {
	if !strings.HasPrefix(w, "-") {
		return w == "run" || w == "exec"
	}
	name, _, _ := strings.Cut(strings.TrimLeft(w, "-"), "=")
	switch name {
	case "", "v", "vv", "vvv", "q", "s", "x", "ci", "race", "count", "cover", "coverage", "coverprofile", "covermode", "cov", "timeout", "shuffle", "json", "p",
		"parallel", "verbose", "quiet", "silent", "color", "colors", "no-color", "nocapture", "no-capture", "show-output", "runInBand", "run-in-band", "bail",
		"maxfail", "tb", "lf", "ff", "failfast", "fail-fast", "no-fail-fast", "failed", "no-cov", "reporter", "reporters", "maxWorkers", "max-workers", "workers", "w",
		"j", "n", "B", "b", "k", "no-daemon", "info", "stacktrace", "rerun-tasks", "release", "all", "workspace", "all-targets", "all-features", "locked", "offline",
		"no-watch", "watch", "watchAll", "watch-all", "forceExit", "detectOpenHandles", "passWithNoTests", "no-header", "format", "f", "trace":
		return name != "k" && name != "f" // those choose
	}
	return false
}

// isNumber reports whether w is a number or a time: the value of a flag such as -timeout.
func isNumber(w string) bool {
	w = strings.TrimRight(w, "smh")
	return w != "" && strings.Trim(w, "0123456789.") == ""
}

// changesFiles reports whether a command is known to change files that tests may depend on.
func (p project) changesFiles(words []string, c shellCommand) bool {
	if slices.ContainsFunc(c.writes, func(f string) bool { return !isScratch(f) && p.touched(f) }) {
		return true
	}
	if len(words) == 0 {
		return false
	}
	args := words[1:]
	has := func(names ...string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return slices.Contains(names, a) })
	}
	switch name := programName(words[0]); name {
	case "sed", "gsed", "perl", "ruby":
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "--in-place") || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "i") && (name == "sed" || name == "gsed" || !strings.HasPrefix(a, "-I"))
		}) && !isScratch(args[len(args)-1]) && p.touched(args[len(args)-1])
	case "apply_patch", "applypatch":
		return p.touched(patchedFiles(c.input + strings.Join(args, "\n"))...)
	case "patch", "ed", "ex", "truncate":
		return true
	case "tee", "mv", "cp":
		return len(args) > 0 && !isScratch(args[len(args)-1]) && p.touched(args[len(args)-1])
	case "git":
		if len(args) == 0 {
			return false
		}
		switch args[0] {
		case "apply", "am", "restore", "merge", "rebase", "cherry-pick", "pull", "revert":
			return !has("--abort", "--staged", "--check", "--stat")
		case "checkout", "switch":
			return !has("-b", "-B", "-c", "-C", "--orphan")
		case "reset":
			return has("--hard", "--merge", "--keep")
		case "stash":
			return !has("list", "show", "drop", "clear")
		}
	}
	return false
}

// isScratch reports whether a file is none of a project's by its name: a device, a log.
func isScratch(name string) bool {
	return strings.HasPrefix(name, "/dev/") || name == "" || name == "-" || strings.HasSuffix(name, ".log") || name == "NUL" || name == "$null" ||
		strings.Trim(name, "0123456789") == "" || strings.HasPrefix(name, "$(") || strings.HasSuffix(name, ".out")
}

// isCode reports whether a change of that file can change what tests say.
func isCode(name string) bool {
	name = strings.ToLower(name)
	for _, ext := range []string{".md", ".markdown", ".rst", ".adoc"} {
		if strings.HasSuffix(name, ext) {
			return false
		}
	}
	return true
}

// patchedFiles returns the files that a patch in Codex's form changes.
func patchedFiles(patch string) []string {
	var files []string
	for line := range strings.Lines(patch) {
		for _, p := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "} {
			if name, ok := strings.CutPrefix(line, p); ok {
				files = append(files, strings.TrimSpace(name))
			}
		}
	}
	return files
}

// clip returns at most n bytes of s, whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
