package hook

import (
	"strings"
	"unicode"
)

// isOurs reports whether text begins with the prefix of coaching messages, whatever cannot be seen before it. Package coach
// says the same.
func isOurs(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || r == '\u2800' || r&0xfffe == 0xfffe || 0xfdd0 <= r && r <= 0xfdef ||
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
	return strings.HasPrefix(text, "[System Coach]")
}

// plainMessage is the one message of ours without the prefix. As a hook's feedback it is ours; as a prompt it may be the human's.
const plainMessage = "continue"

// fromUs reports whether what a hook said was said by us. A host may put the hook's command before it, and what other hooks
// said beside it.
func fromUs(feedback string) bool {
	if strings.TrimSpace(feedback) == plainMessage {
		return true
	}
	for line := range strings.Lines(feedback) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "- [") {
			if _, rest, ok := strings.Cut(line, "]: "); ok {
				line = rest
			}
		}
		if isOurs(line) || line == plainMessage {
			return true
		}
	}
	return false
}
