package plaintext

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// Redact returns s with each secret masked by asterisks. A mask has as many bytes as its secret, so a byte span of s
// points at the same words of the result. These are secrets:
//
//   - each of the given ones with at least 8 bytes;
//   - keys with the prefix of their issuer: sk-…, ghp_…, glpat-…, AKIA…, AIza…, xoxb-…, npm_…, hf_… and so on;
//   - JSON web tokens, web hooks, and what follows "Bearer", "Basic", "Authorization:" or "Cookie:" in a header;
//   - the password, the token, the key or the signature in a URL;
//   - private keys in PEM, and age's;
//   - the value of a variable, a field or an option that is named after a password, a token, a secret or a key.
//
// The file secrets.txt has all rules. The prefix of the issuer stays, so that a person sees what was there. Redact
// misses a secret of another kind. Redacting a redacted text changes nothing.
func Redact(s string, secrets ...string) string {
	var masked []byte // nil until something was found
	mask := func(start, end int) {
		if masked == nil {
			masked = []byte(s)
		}
		for i := start; i < end; i++ {
			if masked[i] != '\n' && masked[i] != '\r' {
				masked[i] = '*'
			}
		}
	}
	for _, secret := range secrets {
		if len(secret) < minSecret {
			continue
		}
		for from := 0; ; {
			i := strings.Index(s[from:], secret)
			if i < 0 {
				break
			}
			mask(from+i, from+i+len(secret))
			from += i + len(secret)
		}
	}
	rules := secretRules()
	for i := 0; i < len(s); {
		next := i + 1
		for _, rule := range rules[s[i]] {
			after := i + len(rule.word)
			if after > len(s) || !rule.at(s, i) {
				continue
			}
			m := rule.pattern().FindStringSubmatchIndex(s[after:])
			if m == nil {
				continue
			}
			start, end := after+m[2], after+m[3]
			if rule.looksSecret(s[start:end]) {
				mask(start, end)
			}
			if start-after < 40 { // what is skipped holds no secret; without this the time is not linear
				next = max(next, end)
			}
		}
		i = next
	}
	if masked == nil {
		return s
	}
	return string(masked)
}

// Secrets returns what Redact masks in s. So a secret that s shows by what stands beside it can be masked elsewhere.
func Secrets(s string) (secrets []string) {
	masked := Redact(s)
	for i := 0; i < len(s); i++ {
		start := i
		for i < len(s) && s[i] != masked[i] {
			i++
		}
		if i > start {
			secrets = append(secrets, s[start:i])
		}
	}
	return secrets
}

// MaskedLine returns [Line] of s with each secret masked. It masks before it cuts, because a part of a secret does not
// look like one, and again without the invisible characters.
func MaskedLine(s string, max int, secrets ...string) string {
	if n := 32*max + 8<<10; 0 < n && n < len(s) {
		s = s[:n]
	}
	s = Redact(s, secrets...)
	return Line(Redact(Line(s, len(s)), secrets...), max)
}

const minSecret = 8 // bytes

//go:embed secrets.txt
var secretsText string

// secretRule is one word of secrets.txt.
type secretRule struct {
	word    string
	fold    bool // the case of the word does not matter, nor what stands before it
	pattern func() *regexp.Regexp
}

// secretRules has the rules by the first byte of their word.
var secretRules = sync.OnceValue(func() *[256][]secretRule {
	var rules [256][]secretRule
	for line := range strings.Lines(secretsText) {
		expr, words, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || expr[0] == '#' {
			continue
		}
		pattern := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
		for word := range strings.FieldsSeq(words) {
			rule := secretRule{word, strings.HasPrefix(expr, "(?i)"), pattern}
			first := word[0]
			rules[first] = append(rules[first], rule)
			if other := first ^ ' '; rule.fold && isLetter(first) {
				rules[other] = append(rules[other], rule)
			}
		}
	}
	return &rules
})

// at reports whether the rule's word stands at s[i:].
func (r secretRule) at(s string, i int) bool {
	word := s[i : i+len(r.word)]
	if r.fold {
		return strings.EqualFold(word, r.word)
	}
	return word == r.word && (i == 0 || r.word[0] == '_' || !inWord(s[i-1]) || isDiffLine(s, i))
}

// looksSecret reports whether value has what the group of the rule's pattern asks for.
func (r secretRule) looksSecret(value string) bool {
	upper := strings.ContainsAny(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	lower := strings.ContainsAny(value, "abcdefghijklmnopqrstuvwxyz")
	digit := strings.ContainsAny(value, "0123456789")
	switch r.pattern().SubexpNames()[1] {
	case "mixed":
		return digit || upper && lower
	case "digit":
		return digit && (upper || lower)
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|' ' && c|' ' <= 'z' }

// inWord counts a hyphen, so that a pattern begins once in a chain of words.
func inWord(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '_' || c == '-' }

// isDiffLine reports whether s[i] follows the hyphen that begins a line of a diff.
func isDiffLine(s string, i int) bool { return s[i-1] == '-' && (i == 1 || s[i-2] == '\n') }
