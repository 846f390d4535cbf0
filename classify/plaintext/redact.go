package plaintext

import (
	"context"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Redact returns s with each secret masked by asterisks. A mask has as many bytes as its secret, so a byte span of s
// points at the same words of the result. These are secrets:
//
//   - each of the given ones with at least 8 bytes;
//   - keys with the prefix of their issuer: sk-…, ghp_…, glpat-…, AKIA…, AIza…, xoxb-…, npm_…, hf_… and so on;
//     inside a word, such as the name of a file, if they look random;
//   - JSON web tokens, web hooks, and what follows "Bearer", "Basic", "Authorization:" or "Cookie:" in a header;
//   - the password, the token, the key or the signature in a URL;
//   - what a command pipes into sudo -S or another program that reads a password;
//   - private keys in PEM, and age's;
//   - the value of a variable, a field or an option that is named after a password, a token, a secret or a key. A value
//     of letters only may be an ordinary word: it counts if nothing else can be meant.
//
// The file secrets.txt has all rules. The prefix of the issuer stays, so that a person sees what was there. Invisible
// characters and terminal escape sequences in a secret do not hide it, and stay. Redact misses a secret of another
// kind. Redacting a redacted text changes nothing.
func Redact(s string, secrets ...string) string {
	s, _ = RedactContext(context.Background(), s, secrets...) // which does not end
	return s
}

// RedactContext is [Redact] that gives up at the end of ctx. The error is then that of ctx, and the text is empty.
func RedactContext(ctx context.Context, s string, secrets ...string) (string, error) {
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
	findSecrets(ctx, s, secrets, mask)
	if seen, at := withoutHidden(ctx, s); seen != "" {
		findSecrets(ctx, seen, secrets, func(start, end int) {
			for _, i := range at[start:end] {
				mask(i, i+1)
			}
		})
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case masked == nil:
		return s, nil
	}
	return string(masked), nil
}

// withoutHidden returns s without invisible characters and terminal escape sequences, and where its bytes stand in s.
// It returns nothing if s has none, or ctx ends.
func withoutHidden(ctx context.Context, s string) (seen string, at []int) {
	if ctx.Err() != nil || !strings.ContainsFunc(s, IsInvisible) {
		return "", nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if len(at)%pace == 0 && ctx.Err() != nil {
			return "", nil
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if escape := EscapeSequence(s[i:]); escape > 0 || IsInvisible(r) {
			i += max(escape, n)
			continue
		}
		for ; n > 0; n-- {
			b.WriteByte(s[i])
			at = append(at, i)
			i++
		}
	}
	return b.String(), at
}

// findSecrets calls mask for each secret of s, until ctx ends.
func findSecrets(ctx context.Context, s string, secrets []string, mask func(start, end int)) {
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
	rules := &secretRules().rules
	for i, checked, tried := 0, 0, 0; i+1 < len(s); {
		if i-checked >= pace || tried >= pace/1024 {
			if checked, tried = i, 0; ctx.Err() != nil {
				return
			}
		}
		next, begun := i+1, rules[s[i]]
		if begun == nil {
			i++
			continue
		}
		for _, rule := range begun[min(s[i+1], utf8.RuneSelf)] {
			after := i + len(rule.word)
			if after > len(s) || !rule.at(s, i) {
				continue
			}
			tried++
			inside := !rule.fold && !begins(s, i)
			start, end := rule.find(ctx, s, after, inside)
			secret := start < end && rule.looksSecret(s[start:end])
			switch {
			case secret && inside && rule.isRandom(s[start:end]):
				start, end = rule.find(ctx, s, after, false)
				mask(start, end)
			case secret && !inside:
				mask(start, end)
			case inside || end-start < 256:
				continue // it may belong to a longer word: AWS_SECRET_ACCESS_KEY
			}
			if start-after < 40 { // what is skipped holds no secret; without this the time is not linear
				next = max(next, end-longestWord)
			}
		}
		i = next
	}
}

// Secrets returns what Redact masks in s, line by line. So a secret that s shows by what stands beside it can be masked elsewhere.
func Secrets(s string) (secrets []string) {
	ctx := context.Background()
	seen, _ := withoutHidden(ctx, s)
	for _, text := range []string{s, seen} {
		findSecrets(ctx, text, nil, func(start, end int) {
			secrets = append(secrets, strings.Split(text[start:end], "\n")...)
		})
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

const (
	hexDigits   = "0123456789abcdef"
	minSecret   = 8        // bytes
	longestWord = 11       // bytes of a word that may end what another rule masks, and begin a secret: KEY=-----BEGIN
	pace        = 64 << 10 // bytes that are read before the context is looked at again
)

//go:embed secrets.txt
var secretsText string

// secretRule is one word of secrets.txt.
type secretRule struct {
	word    string
	fold    bool // the case of the word does not matter, nor what stands before it
	pattern func() *regexp.Regexp
}

// ruleIndex has the rules by the two bytes that may begin their word, or stand there where the word is one byte. All
// second bytes beyond ASCII are one.
type ruleIndex [256]*[utf8.RuneSelf + 1][]secretRule

func (x *ruleIndex) add(first byte, rule secretRule) {
	if x[first] == nil {
		x[first] = new([utf8.RuneSelf + 1][]secretRule)
	}
	for second := range byte(utf8.RuneSelf + 1) {
		if len(rule.word) == 1 || second == min(rule.word[1], utf8.RuneSelf) ||
			rule.fold && isLetter(second) && second|' ' == rule.word[1]|' ' {
			x[first][second] = append(x[first][second], rule)
		}
	}
}

// secretTable is secrets.txt: the rules, and the shapes of values that it names.
type secretTable struct {
	rules  ruleIndex
	shapes map[string]func() *regexp.Regexp
}

var secretRules = sync.OnceValue(func() *secretTable {
	table := secretTable{shapes: map[string]func() *regexp.Regexp{}}
	for line := range strings.Lines(secretsText) {
		expr, words, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || expr[0] == '#' {
			continue
		}
		if shape, ok := strings.CutPrefix(expr, "shape "); ok {
			table.shapes[shape] = compiled(words)
			continue
		}
		pattern := compiled(expr)
		for word := range strings.FieldsSeq(words) {
			rule := secretRule{word, strings.HasPrefix(expr, "(?i)"), pattern}
			table.rules.add(word[0], rule)
			if rule.fold && isLetter(word[0]) {
				table.rules.add(word[0]^' ', rule)
			}
		}
	}
	return &table
})

// matches reports whether value has a shape of secrets.txt.
func matches(shape, value string) bool { return secretRules().shapes[shape]().MatchString(value) }

// find returns where the group of the rule's pattern stands that matches at s[after:], if any. It reads a little at
// first, and more only while the match goes to the end of that, so that the time stays linear; inside of a word, and of
// what is never as long, no more than a little.
func (r secretRule) find(ctx context.Context, s string, after int, inside bool) (start, end int) {
	read := 1024
	if inside {
		read = 512
	}
	for {
		rest := s[after:min(len(s), after+read)]
		m := r.pattern().FindStringSubmatchIndex(rest)
		if m == nil || ctx.Err() != nil {
			return 0, 0
		}
		if inside || m[1] < len(rest) || after+len(rest) == len(s) {
			for len(m) > 4 && m[2] < 0 { // the first group that matched
				m = m[2:]
			}
			return after + m[2], after + m[3]
		}
		if strings.HasSuffix(r.pattern().String(), "|$)") {
			return 0, 0 // what is named so is not as long
		}
		read *= 16
	}
}

// at reports whether the rule's word stands at s[i:]. The name of a variable must begin a word. One letter or digit
// must do so, or begin a number.
func (r secretRule) at(s string, i int) bool {
	word := s[i : i+len(r.word)]
	if r.fold {
		return strings.EqualFold(word, r.word)
	}
	if word != r.word {
		return false
	}
	named := (r.word[len(r.word)-1] == '=' || r.word == "pass") && r.word[0] != '_'
	if begins(s, i) {
		return true
	}
	if len(word) == 1 && (isLetter(s[i-1]) || isDigit(s[i-1])) {
		return !strings.Contains(hexDigits, s[i-1:i]) && strings.Trim(s[i:min(len(s), i+8)], hexDigits) == ""
	}
	return !named && !inBlob(s[:i])
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
	case "phrase":
		return !matches("sentence", value)
	case "mixedphrase":
		words := strings.Fields(value)
		return len(words) > 2 && matches("phrase", value) && !matches("sentence", value) ||
			len(words) > 1 && slices.ContainsFunc(words, isField) && !matches("instruction", value)
	case "field":
		return isField(value)
	case "credential":
		return (digit || upper && lower || len(value) >= 16) && !matches("named", value)
	case "strong":
		return digit && pieces(value)*5 >= 2*len(value) || scrambled(value)
	case "password":
		return (digit && (upper || lower) || scrambled(value)) && !matches("snakes", value)
	case "random":
		return (digit && (upper || lower) || scrambled(value)) && !matches("names", value)
	}
	return true
}

// isField reports whether value is a mix of letters and digits that does not look like a name in code or a version.
func isField(value string) bool {
	digits := 0
	for i := range len(value) {
		if isDigit(value[i]) {
			digits++
		}
	}
	return (digits > 0 && pieces(value) > 1 || scrambled(value)) && (digits > 2 || !matches("named", value)) &&
		(digits > 2 || !strings.Contains(value, "/")) && !matches("names", value) && !matches("numbered", value)
}

// scrambled reports whether value consists of letters that are not words: pairs of them stand in no word, or the case
// changes all the time.
func scrambled(value string) bool {
	rare, humps := 0, 0
	for i := 1; i < len(value); i++ {
		a, b := value[i-1], value[i]
		switch {
		case !isLetter(a) || !isLetter(b):
			return false
		case a&' ' != 0 && b&' ' == 0: // a new word begins
			humps++
		case isRare(a|' ', b|' '):
			rare++
		}
	}
	return rare >= 3 || rare == 2 && humps == 0 || humps >= 4 && 3*humps >= len(value)
}

// isRare reports whether hardly a word of a European language has this pair of letters.
func isRare(a, b byte) bool {
	const vowels, seldom = "aeiouy", "jqvxz"
	if strings.IndexByte(vowels, a) >= 0 || strings.IndexByte(vowels, b) >= 0 {
		return a == 'q' && b != 'u'
	}
	pair := string([]byte{a, b})
	if strings.IndexByte(seldom, a) >= 0 || strings.IndexByte(seldom, b) >= 0 {
		return !strings.Contains(" dj nj bj lj rj sj tj nq cq sq rq rv lv nv dv sv vr vl vs vn vd nx lx rx xc xp xt xx "+
			"nz tz rz lz dz sz cz zz zl zn zd zb zk zm zw zs zt xf xm xl zc ", pair)
	}
	return strings.Contains(" bk bg bh bw cb cg cf cw cp dk fb fc fd fg fh fk fm fn fp fw gb gc gf gk gp gw hb hc hd hf "+
		"hg hh hk hp hs kc kd kf kg kh kp lh mk mg mh mw pb pd pf pg pk pm pw tb tg tk td wc wf wg wk wm wp ww cd ", pair)
}

func isLetter(c byte) bool { return 'a' <= c|' ' && c|' ' <= 'z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// begins reports whether a word begins at s[i:]. A hyphen does not end a word, so that a pattern begins once in a chain
// of words, but that at the beginning of a line of a diff does; and so does an escape, such as \n, %3D and \u003d.
func begins(s string, i int) bool {
	if i == 0 {
		return true
	}
	c, before := s[i-1], s[:i-1]
	if !isLetter(c) && !isDigit(c) && c != '_' && c != '-' {
		return true
	}
	n := len(before)
	return c == '-' && (n == 0 || before[n-1] == '\n') || isLetter(c) && strings.HasSuffix(before, `\`) ||
		n > 1 && before[n-2] == '%' || n > 4 && before[n-5:n-3] == `\u` || n > 2 && before[n-3:n-1] == `\x`
}

// inBlob reports whether s ends in the middle of a long word that looks like encoded bytes.
func inBlob(s string) bool {
	start := len(s)
	for start > max(0, len(s)-32) && (isLetter(s[start-1]) || isDigit(s[start-1])) {
		start--
	}
	return len(s)-start >= 8 && mixes(s[start:], 4)
}

// isRandom reports whether what follows the rule's word looks random enough to be a key inside of a word.
func (r secretRule) isRandom(value string) bool {
	switch {
	case r.word[0] == '_', strings.HasPrefix(r.pattern().String(), "^(["): // it has a strict form
		return true
	case len(r.word) < 4:
		return mixes(value, 3) || scrambled(value)
	case len(value) >= 36 && r.word[len(r.word)-1] == '_' && strings.ContainsAny(value, "0123456789") &&
		!strings.ContainsAny(value, "_-"):
		return true // no word is as long
	}
	return (strings.ContainsAny(value, "0123456789") && pieces(value)*4 >= len(value) || scrambled(value)) &&
		!matches("names", value)
}

// mixes reports whether value has digits and letters of both cases, in pieces of at most most bytes on average.
func mixes(value string, most int) bool {
	return strings.ContainsAny(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && strings.ContainsAny(value, "0123456789") &&
		strings.ContainsAny(value, "abcdefghijklmnopqrstuvwxyz") && pieces(value)*most >= len(value)
}

// pieces returns how many words and numbers value consists of: fooBar12 of three.
func pieces(value string) (n int) {
	kind := func(c byte) int {
		switch {
		case isDigit(c):
			return 1
		case !isLetter(c):
			return 2
		case c&' ' != 0:
			return 3
		}
		return 4
	}
	last := 2
	for i := range len(value) {
		k := kind(value[i])
		if k != last && k != 2 && (k != 3 || last != 4) {
			n++
		}
		last = k
	}
	return n
}
