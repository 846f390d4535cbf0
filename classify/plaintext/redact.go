package plaintext

import (
	"regexp"
	"strings"
	"sync"
)

// Redact returns s with each secret masked by asterisks. A mask has as many bytes as its secret, so a byte span of s
// points at the same words of the result. These are secrets:
//
//   - each of the given ones with at least 8 bytes;
//   - keys with the prefix of their issuer: sk-…, ghp_…, glpat-…, AKIA…, AIza…, xoxb-…, npm_…, hf_… and so on;
//   - JSON web tokens, and what follows "Bearer" or "Basic" in a header;
//   - the password in a URL, and a Slack web hook;
//   - private keys in PEM, and age's;
//   - the value of an environment variable whose name ends in KEY, SECRET, TOKEN, PASSWORD or CREDENTIALS, and what
//     follows "password=".
//
// The prefix of the issuer stays, so that a person sees what was there. Redact misses a secret of another kind.
// Redacting a redacted text changes nothing.
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
	for _, rule := range secretRules {
		if !containsAny(s, rule.words) {
			continue // spares the slower search
		}
		for _, m := range rule.pattern().FindAllStringSubmatchIndex(s, -1) {
			mask(m[2], m[3])
		}
	}
	if masked == nil {
		return s
	}
	return string(masked)
}

const minSecret = 8 // bytes

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// secretRule finds one kind of secret. A text with such a secret contains one of the words. The first group of the
// pattern is what must not be shown.
type secretRule struct {
	words   []string
	pattern func() *regexp.Regexp
}

func newSecretRule(pattern string, words ...string) secretRule {
	return secretRule{words, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
}

// secretRules has the formats that issuers document.
var secretRules = []secretRule{
	newSecretRule(`\bsk-(?:ant-|proj-|or-|svcacct-|admin-)?([\w-]{16,})`, "sk-"), // OpenAI, Anthropic, …
	newSecretRule(`\b(?:gsk|xai|pplx|r8|hf|nvapi|fw|jina|lin_api|ntn|secret)[_-]([A-Za-z0-9]{20,})`,
		"gsk_", "xai-", "pplx-", "r8_", "hf_", "nvapi-", "fw_", "jina_", "lin_api_", "ntn_", "secret_"),
	newSecretRule(`\bgh[pousr]_([A-Za-z0-9]{20,})`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	newSecretRule(`\bgithub_pat_(\w{20,})`, "github_pat_"),
	newSecretRule(`\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt|oas|ffct)-([\w.-]{20,})`, "gl"),
	newSecretRule(`\b(?:AKIA|ASIA|ABIA|ACCA)([A-Z0-9]{16})\b`, "AKIA", "ASIA", "ABIA", "ACCA"),
	newSecretRule(`(?i)aws_?secret_?(?:access_?)?key["']?\s{0,8}[:=]\s{0,8}["']?([A-Za-z0-9/+]{40})`,
		"secret", "SECRET", "Secret"),
	newSecretRule(`\bAIza([\w-]{30,})`, "AIza"),
	newSecretRule(`\b(?:ya29\.|GOCSPX-)([\w-]{20,})`, "ya29.", "GOCSPX-"),
	newSecretRule(`\bx(?:ox[a-z]|app)-([A-Za-z0-9-]{10,})`, "xox", "xapp-"),
	newSecretRule(`hooks\.slack\.com/(?:services|workflows)/([\w/+]{20,})`, "hooks.slack.com"),
	newSecretRule(`\b(?:[sr]k_(?:live|test)|whsec)_([A-Za-z0-9+/]{16,})`, "k_live_", "k_test_", "whsec_"),
	newSecretRule(`\b(?:npm_|dckr_pat_|rubygems_|pypi-|cio|shp[a-z]{2}_|do[opr]_v1_|dapi|tskey-|hvs\.|ATATT3)([\w-]{30,})`,
		"npm_", "dckr_pat_", "rubygems_", "pypi-", "cio", "shp", "_v1_", "dapi", "tskey-", "hvs.", "ATATT3"),
	newSecretRule(`\bSG\.([\w-]{16,}\.[\w-]{16,})`, "SG."),
	newSecretRule(`\b\d{8,10}:(AA[\w-]{32,})`, ":AA"),
	newSecretRule(`\beyJ([\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?)`, ".eyJ"),
	newSecretRule(`(?i)\b(?:bearer|basic)\s{1,4}((?:[a-z._~+/-]*[0-9=]){2}[a-z0-9._~+/=-]{8,})`,
		"earer", "asic", "EARER", "ASIC"),
	newSecretRule(`://[^\s/:@"'<>]*:([^\s/@"'<>]+)@`, "://"),
	newSecretRule(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----([^-]+)(?:-----END|$)`, "PRIVATE KEY"),
	newSecretRule(`\bAGE-SECRET-KEY-1([A-Z0-9]{20,})`, "AGE-SECRET-KEY-1"),
	newSecretRule(`\b[A-Z0-9_]*(?:KEY|SECRET|TOKEN|PASSWORD|PASSWD|CREDENTIALS?)=["']?([^\s"'$<>(){}*]{8,})`,
		"KEY=", "SECRET=", "TOKEN=", "PASSWORD=", "PASSWD=", "CREDENTIAL"),
	newSecretRule(`\b(?:password|passwd|pwd)=["']?([^\s"'$<>(){}*&;]{8,})(?:[\s"'&;]|$)`, "password=", "passwd=", "pwd="),
}
