package classifytest

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// secretsOf returns the values of a request that may be in no file, as [plain] has them, and the cores of their base64.
func secretsOf(req *http.Request) []string {
	var all []string
	add := func(s string) {
		if len(s) < 6 { // too short to be a key, and found everywhere
			return
		}
		p, _ := plain([]byte(s))
		all = append(all, string(p))
		all = append(all, base64Of(s)...)
	}
	for _, name := range secretHeaders {
		for _, v := range req.Header.Values(name) {
			if scheme, rest, found := strings.Cut(v, " "); found && !strings.Contains(scheme, "=") {
				v = rest
			}
			add(strings.TrimSpace(v))
		}
	}
	for _, c := range req.Cookies() {
		add(c.Value)
	}
	if _, password, ok := req.BasicAuth(); ok {
		add(password)
	}
	if password, ok := req.URL.User.Password(); ok {
		add(password)
	}
	base, _ := splitPath(req.URL.Path)
	for segment := range strings.SplitSeq(base, "/") {
		if len(segment) >= 16 && strings.ContainsAny(segment, "0123456789") { // a name is shorter, or has no figure in it
			add(segment)
		}
	}
	for name, values := range req.URL.Query() {
		if name = strings.ToLower(name); strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "secret") {
			for _, v := range values {
				add(v)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// base64Of returns what must stand in a base64 text that s is a part of, for each of the three places at which s can begin in
// it, in both alphabets.
func base64Of(s string) []string {
	var cores []string
	for shift := range 3 {
		bits := 8 * (shift + len(s))
		whole := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), s...))
		core := whole[(8*shift+5)/6 : bits/6]
		cores = append(cores, core, strings.NewReplacer("+", "-", "/", "_").Replace(core))
	}
	return cores
}

var chatPath = regexp.MustCompile(`(?:/openai(?:/v1|/deployments/[^/]+)?)?/chat/completions$`)

// splitPath splits a URL's path into that of the base URL, which is the user's and may hold a secret, and that of the
// call: from /chat/completions on, or from the /openai before it. The call of another path is "/".
func splitPath(path string) (base, call string) {
	at := chatPath.FindStringIndex(path)
	if at == nil {
		return path, "/"
	}
	return path[:at[0]], path[at[0]:]
}

// scrub replaces secrets in a text, however it spells them.
func scrub(text []byte, secrets []string) []byte {
	if len(secrets) == 0 {
		return text
	}
	p, at := plain(text)
	type span struct{ start, end int }
	var found []span
	for _, secret := range secrets {
		for i := 0; ; {
			n := bytes.Index(p[i:], []byte(secret))
			if n < 0 {
				break
			}
			found = append(found, span{at[i+n], at[i+n+len(secret)]})
			i += n + 1
		}
	}
	slices.SortFunc(found, func(a, b span) int { return a.start - b.start })
	var b bytes.Buffer
	end := 0
	for _, f := range found {
		if f.start >= end {
			b.Write(text[end:f.start])
			b.WriteString(redacted)
		}
		end = max(end, f.end)
	}
	b.Write(text[end:])
	return b.Bytes()
}

// plain returns a text without the ways in which characters can be spelled: JSON's escapes, to any depth (\u0073, \\u0073,
// \/), and percent-encoding (%73, %2573). The byte i of it was spelled by text[at[i]:at[i+1]].
func plain(text []byte) (p []byte, at []int) {
	p, at = make([]byte, 0, len(text)), make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		c, n := spelled(text[i:])
		if c == nil {
			c, n = text[i:i+1], 1
		}
		p = append(p, c...)
		for range c {
			at = append(at, i)
		}
		i += n
	}
	return p, append(at, len(text))
}

// spelled returns what the beginning of a text spells and how many bytes it takes to; nil when it spells nothing.
func spelled(text []byte) ([]byte, int) {
	switch text[0] {
	case '%':
		n := 1
		for bytes.HasPrefix(text[n:], []byte("25")) {
			n += 2
		}
		if x, ok := hexadecimal(text[n:], 2); ok {
			return []byte{byte(x)}, n + 2
		}
		if n > 1 { // %25 by itself
			return []byte{'%'}, n
		}
	case '\\':
		n := len(text) - len(bytes.TrimLeft(text, `\`))
		switch {
		case n == len(text):
		case text[n] == '"' || text[n] == '/':
			return text[n : n+1], n + 1
		case text[n] == 'u':
			if x, ok := hexadecimal(text[n+1:], 4); ok {
				r, n := rune(x), n+5
				if m := n + len(text[n:]) - len(bytes.TrimLeft(text[n:], `\`)); utf16.IsSurrogate(r) && m < len(text) && text[m] == 'u' {
					if y, ok := hexadecimal(text[m+1:], 4); ok && utf16.DecodeRune(r, rune(y)) != utf8.RuneError {
						return utf8.AppendRune(nil, utf16.DecodeRune(r, rune(y))), m + 5
					}
				}
				return utf8.AppendRune(nil, r), n
			}
		}
		return []byte{'\\'}, n
	}
	return nil, 0
}

func hexadecimal(text []byte, digits int) (uint64, bool) {
	if len(text) < digits {
		return 0, false
	}
	x, err := strconv.ParseUint(string(text[:digits]), 16, 32)
	return x, err == nil
}
