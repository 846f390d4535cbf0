package classifytest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// secretsOf returns the values of a request that may be in no file, each in the forms in which a body could repeat it.
func secretsOf(req *http.Request) []string {
	var all []string
	add := func(s string) {
		if len(s) < 6 { // too short to be a key, and found everywhere
			return
		}
		quoted, _ := json.Marshal(s)
		all = append(all, s, strings.Trim(string(quoted), `"`), url.QueryEscape(s), url.PathEscape(s))
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
	for name, values := range req.URL.Query() {
		if name = strings.ToLower(name); strings.Contains(name, "key") || strings.Contains(name, "token") || strings.Contains(name, "secret") {
			for _, v := range values {
				add(v)
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	return slices.Compact(all)
}

// scrub replaces secrets in a text.
func scrub(text []byte, secrets []string) []byte {
	s := string(text)
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return []byte(s)
}
