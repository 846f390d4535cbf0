package hook

import "strings"

// Elements that a host or an editor puts around the human's words in a prompt: what is open there, what is selected, reminders.
var wrappings = []string{"ide_opened_file", "ide_selection", "ide_diagnostics", "system-reminder"}

const maxWrappings = 50 // of one prompt, that are looked for

// askedBelow is the heading under which Codex's desktop app and editor extensions put the human's words, below the files and
// the selection that these are about.
const askedBelow = "## My request for Codex:\n"

// unwrapped returns the human's words of a prompt, without what a host has put around them. They are empty where there are none.
func unwrapped(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	for range maxWrappings {
		rest, ok := withoutElement(prompt)
		if !ok {
			break
		}
		prompt = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(prompt, "# ") {
		if i := strings.LastIndex(prompt, "\n"+askedBelow); i >= 0 {
			return strings.TrimSpace(prompt[i+1+len(askedBelow):])
		}
	}
	return prompt
}

// withoutElement takes away one of the wrappings that a text begins or ends with.
func withoutElement(s string) (string, bool) {
	for _, name := range wrappings {
		start, end := "<"+name+">", "</"+name+">"
		if strings.HasPrefix(s, start) {
			if _, rest, ok := strings.Cut(s, end); ok {
				return rest, true
			}
		}
		if strings.HasSuffix(s, end) {
			if i := strings.LastIndex(s, start); i >= 0 {
				return s[:i], true
			}
		}
	}
	return s, false
}
