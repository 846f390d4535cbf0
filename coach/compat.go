package coach

import "github.com/sidecoach/sidecoach/classify/plaintext"

// Prefix begins every message but the plain "continue".
//
// Deprecated: use [plaintext.Prefix].
const Prefix = plaintext.Prefix + " "

// Clean is [plaintext.Line] that disarms forged prefixes.
//
// Deprecated: use [plaintext.Line] and [plaintext.Disarm].
func Clean(s string, max int) string { return plaintext.Disarm(plaintext.Line(s, max)) }

// IsOurs is [plaintext.IsOurs].
//
// Deprecated: use [plaintext.IsOurs].
func IsOurs(text string) bool { return plaintext.IsOurs(text) }

// Phrases returns nothing.
//
// Deprecated: states are not packed any more.
func Phrases() []string { return nil }
