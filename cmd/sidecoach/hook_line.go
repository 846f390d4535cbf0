package main

import (
	"path/filepath"
	"regexp"
	"strings"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// The command line of a hook, in the words of the shell that a host runs it with.
type hookShell struct {
	quote func(word string) string
	call  string // before the first word
	tail  string // after the last
}

// Ends of a command line, so that no failure can block: a program that is not there is 127, a Go runtime that fails is 2. Hosts
// read one of these, or both, as a no. Cursor takes a success without an answer for one, too, and lets go ahead what failed with 1.
const (
	posixTail   = " || exit 0"
	cmdTail     = " || exit /b 0"
	psTail      = "; exit 0"
	failTail    = " || exit 1"
	failPSTail  = "; if (-not $?) { exit 1 }"
	anyTail     = ` \|\| exit (?:/b )?0|; exit 0`
	anyFailTail = ` \|\| exit 1|; if \(-not \$\?\) \{ exit 1 \}`
)

// shellOf returns the shell that a host uses on a system. On Windows that is Git Bash for Claude Code, the command interpreter for
// Codex, and PowerShell for the others (Claude Code's hooks reference, codex-rs/hooks/src/engine/command_runner.rs,
// packages/core/src/utils/shell-utils.ts and Copilot's hooks reference, November 2026; Cursor's names none, but that its
// events begin with a byte order mark there is PowerShell's doing).
func shellOf(h hook.Host, system string) hookShell {
	switch {
	case system == "windows" && h == hook.Cursor:
		return hookShell{powerShellWord, "& ", failPSTail}
	case system == "windows" && (h == hook.Gemini || h == hook.Copilot):
		return hookShell{powerShellWord, "& ", psTail}
	case system == "windows" && h == hook.Codex:
		return hookShell{cmdWord, "", cmdTail}
	case system == "windows":
		return hookShell{func(w string) string { return posixWord(strings.ReplaceAll(w, `\`, "/")) }, "", posixTail}
	case h == hook.Cursor:
		return hookShell{posixWord, "", failTail}
	}
	return hookShell{posixWord, "", posixTail}
}

// line is the command line: the binary, "hook", the host, and flags.
func (s hookShell) line(binary string, h hook.Host, flags []string) string {
	words := []string{s.quote(binary), "hook", string(h)}
	for _, f := range flags {
		words = append(words, s.quote(f))
	}
	return s.call + strings.Join(words, " ") + s.tail
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func posixWord(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func powerShellWord(w string) string { return "'" + strings.ReplaceAll(w, "'", "''") + "'" }

func cmdWord(w string) string {
	if plainWord.MatchString(strings.ReplaceAll(w, `\`, "/")) {
		return w
	}
	return `"` + w + `"`
}

// quotedWord begins a pattern of a word, of which it has the quoted kinds.
const quotedWord = `(?:'(?:[^']|'\\''|'')*'|"[^"]*"`

// alone says whether a line that is ours calls the program and does nothing beside: variables may come before, and what keeps
// a failure from the host after.
func (n installation) alone(line string) bool {
	word := quotedWord + "|[^\\s;&|<>()`$'\"]+)+"
	return regexp.MustCompile(`(?i)^[ \t]*(?:& )?(?:\w+=(?:` + word + `)?[ \t]+)*` + word + `[ \t]+hook[ \t]+` + string(n.host) +
		`(?:[ \t]+` + word + `)*[ \t]*(?:(?:\|\||;)[ \t]*(?:exit(?: /b)? 0|true|:)\s*|` + anyFailTail + `)?$`).MatchString(line)
}

// owns says whether a hook's command line is ours: by its program's name, whatever the path. Written says that install wrote it,
// and nobody changed it by hand.
func (n installation) owns(line string) (ours, written bool) {
	base := filepath.Base(n.binary)
	name := `(?:[\w.-]*sidecoach[\w.-]*|` + regexp.QuoteMeta(strings.TrimSuffix(base, filepath.Ext(base))) + `(?:\.exe)?)`
	call := `['"]?\s+hook\s+` + string(n.host)
	if !regexp.MustCompile(`(?i)(?:^|[\s/\\'"])` + name + call + `(?:[\s;]|$)`).MatchString(line) {
		return false, false
	}
	word, tail := quotedWord+`|[^\s'"=]+)`, anyTail
	if n.host == hook.Cursor {
		tail = anyFailTail
	}
	return true, regexp.MustCompile(`(?i)^(?:& )?`+word+` hook `+string(n.host)+`(?: .*)?(?:`+tail+`)$`).MatchString(line) && n.alone(line)
}
