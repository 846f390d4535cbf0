package install

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// shell is how a host runs a command line on a system.
type shell struct {
	quote         func(word string) string
	before, after string // the program and its arguments
}

// What stands around a command keeps its failure from the agent: a missing program exits with 127 and a crashed Go
// program with 2, and hosts read one of them, or both, as "block".
//
// Gemini CLI ends the shell when the time limit is over. Then it waits for everything that the shell has started. So
// the shell must end the program. A command in the background gets no standard input, hence the detour by descriptor 3.
const (
	guard        = " || exit 0"
	geminiBefore = "trap 'kill $!; sleep 1; kill -9 $!' TERM; { "
	geminiAfter  = " <&3 & } 3<&0; wait $! || exit 0"
)

// shellOf returns the shell that a host uses on a system. On Windows that is Git Bash for Claude Code, the command
// interpreter for Codex, and PowerShell for the others. Cursor takes a success without an answer for a fault and goes
// on after an exit status of 1.
func shellOf(h hook.Host, system string) shell {
	windows := system == "windows"
	switch {
	case windows && h == hook.Cursor:
		return shell{quotePowerShell, "& ", "; if (-not $?) { exit 1 }"}
	case windows && (h == hook.Gemini || h == hook.Copilot):
		return shell{quotePowerShell, "& ", "; exit 0"}
	case windows && h == hook.Codex:
		return shell{quoteCmd, "", " || exit /b 0"}
	case windows:
		return shell{func(w string) string { return quotePOSIX(strings.ReplaceAll(w, `\`, "/")) }, "", guard}
	case h == hook.Cursor:
		return shell{quotePOSIX, "", " || exit 1"}
	case h == hook.Gemini:
		return shell{quotePOSIX, geminiBefore, geminiAfter}
	}
	return shell{quotePOSIX, "", guard}
}

// line returns the command line that runs the hook, in the words of the shell that the host uses on this system.
func (h Hook) line() string { return h.lineOn(runtime.GOOS) }

func (h Hook) lineOn(system string) string {
	s := shellOf(h.Host, system)
	words := []string{s.quote(h.Program), "hook", string(h.Host)}
	for _, f := range h.Flags {
		words = append(words, s.quote(f))
	}
	return s.before + strings.Join(words, " ") + s.after
}

// Quote returns a word as the shell of the host on this system wants it.
func (h Hook) Quote(word string) string { return shellOf(h.Host, runtime.GOOS).quote(word) }

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quotePOSIX(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func quotePowerShell(w string) string { return "'" + strings.ReplaceAll(w, "'", "''") + "'" }

func quoteCmd(w string) string {
	if plainWord.MatchString(strings.ReplaceAll(w, `\`, "/")) {
		return w
	}
	return `"` + w + `"`
}

// runs reports whether a command line runs this hook, by the name of the program, whatever its path, and whether it is
// mixed: a person made it do more than that.
func (h Hook) runs(line string) (runs, mixed bool) {
	base := filepath.Base(h.Program)
	name := `(?:[\w.-]*sidecoach[\w.-]*|` + regexp.QuoteMeta(strings.TrimSuffix(base, filepath.Ext(base))) + `(?:\.exe)?)`
	call := `[ \t]+hook[ \t]+` + string(h.Host)
	if !regexp.MustCompile(`(?i)(?:^|[\s/\\'"])` + name + `['"]?` + call + `(?:[\s;]|$)`).MatchString(line) {
		return false, false
	}
	if inner, ok := strings.CutPrefix(line, geminiBefore); ok {
		line = strings.Replace(inner, geminiAfter, guard, 1)
	}
	const word = `(?:'(?:[^']|'\\''|'')*'|"[^"]*"|[^\s;&|<>()` + "`" + `$'"]+)+`
	const guards = `\s*(?:(?:\|\||;)[ \t]*(?:exit(?: /b)? [01]|true)|; if \(-not \$\?\) \{ exit 1 \})?\s*`
	whole := `(?i)^[ \t]*(?:& )?` + word + call + `(?:[ \t]+` + word + `)*` + guards + `$`
	return true, !regexp.MustCompile(whole).MatchString(line)
}
