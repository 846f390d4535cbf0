package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// rule is one rule of a policy. README.md describes its fields.
type rule struct {
	verdict
	raw    json.RawMessage // as written, without white space
	tool   string
	gate   Kind
	thread string
	when   []condition
}

const maxRuleText = 300 // characters of a rule beside every item that it is about

// brief shows at most limit characters of a text on one line.
func brief(s string, limit int) string {
	return plaintext.Visible(plaintext.Cut(s, limit))
}

func (r *rule) describe() {
	what := "gate " + string(r.gate)
	if r.tool != "" {
		what = "tool " + r.tool
	}
	if r.thread != "" {
		what += " in thread " + r.thread
	}
	for i, c := range r.when {
		what += []string{" when ", " and "}[min(i, 1)] + c.String()
	}
	r.rule = brief(what, maxRuleText) + ": " + string(r.then)
	if r.within > 0 {
		r.rule += " within " + r.within.String()
	}
	if r.escalate != "" {
		r.rule += ", then " + brief(r.escalate, 60)
	}
}

// allows reports whether the rule lets something pass. What is unclear must then not match.
func (r rule) allows() bool { return r.then == allow || r.then == always }

func (r rule) names(kind Kind, thread, tool string) bool {
	switch {
	case r.thread != "" && r.thread != thread:
		return false
	case r.tool == "":
		return kind == r.gate
	case r.allows():
		return kind == Tool && matchWildcard(r.tool, tool)
	}
	return kind == Tool && matchWildcard(fold(r.tool), fold(tool))
}

func (r rule) isConditional() bool { return len(r.when) > 0 || r.thread != "" }

// isVague reports whether a tool's pattern names no tool in particular, such as "*" or "*_*".
func isVague(pattern string) bool { return strings.Trim(pattern, "*_-.:/") == "" }

func (r rule) matches(root *root, body any) outcome {
	result := yes
	for _, c := range r.when {
		if o := c.holds(root, r.allows(), body); o == no {
			return no
		} else if o == refused {
			result = refused
		}
	}
	return result
}

// parseRule returns what it has read, also with an error.
func parseRule(raw json.RawMessage, v any) (r rule, err error) {
	object, ok := v.(map[string]any)
	if !ok {
		return r, errors.New(`a rule is an object, such as {"tool": "profile_get", "then": "allow"}`)
	}
	r.raw = compact(raw)
	r.tool, _ = object["tool"].(string) // names the rule in an error about another field
	within, examples := "", make(map[string][]string)
	texts := map[string]*string{
		"tool": &r.tool, "gate": (*string)(&r.gate), "thread": &r.thread, "then": (*string)(&r.then), "within": &within,
		"escalate": &r.escalate,
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch text := texts[key]; {
		case text != nil:
			if *text, _ = object[key].(string); *text == "" {
				err = errors.New("write a string that is not empty")
			}
		case key == "when":
			r.when, err = parseConditions(object[key])
		case key == "match" || key == "not_match":
			if examples[key] = stringsIn(object[key]); examples[key] == nil {
				err = errors.New(`write names of tools, such as ["weight_delete"]`)
			}
		default:
			err = errors.New("a rule has only tool, gate, thread, when, then, within, escalate, match, not_match")
		}
		if err != nil {
			return r, fmt.Errorf("%s: %w", brief(key, 60), err)
		}
	}
	if within != "" {
		if r.within, _ = time.ParseDuration(within); r.within <= 0 || r.within > maxTTL {
			return r, errors.New(`within: write a time such as "30s", "10m" or "2h"`)
		}
	}
	if err := r.check(); err != nil {
		return r, err
	}
	r.describe()
	for field, list := range examples {
		for _, tool := range list {
			if r.names(Tool, r.thread, tool) != (field == "match") {
				return r, fmt.Errorf("%s: this does not hold for %q", field, brief(tool, 100))
			}
		}
	}
	return r, nil
}

func (r *rule) check() error {
	switch {
	case strictness[r.then] == 0:
		return fmt.Errorf(`"then" must be allow, ask, deny or always, not %q`, brief(string(r.then), 60))
	case r.tool == "" && r.gate != Context && r.gate != Response:
		return errors.New(`name a "tool", or a "gate": context or response`)
	case r.tool != "" && r.gate != "" && r.gate != Tool:
		return fmt.Errorf("a rule about a tool cannot be about the %s gate: write two rules", brief(string(r.gate), 60))
	case r.then != ask && (r.within > 0 || r.escalate != ""):
		return errors.New("within and escalate are for a rule that asks")
	case r.tool == "":
		return nil
	case !toolName.MatchString(strings.ReplaceAll(r.tool, "*", "_")):
		return errors.New("tool: a pattern has up to 128 letters a-z, A-Z, digits and _ - . : / and *, which matches any " +
			"text; nothing else is a wildcard")
	case r.then == always && strings.Contains(r.tool, "*"):
		return errors.New("a rule that always allows names one tool, without *")
	case isVague(r.tool) && r.then != forbid:
		return fmt.Errorf("tool %q matches tools that nobody has thought of: it may only deny, not %s",
			brief(r.tool, maxTool), r.then)
	}
	return nil
}

// outcome says whether a condition holds.
type outcome int

const (
	no outcome = iota
	yes
	refused // nothing of this kind passes, whatever the rule says
)

func is(holds bool) outcome { return map[bool]outcome{true: yes, false: no}[holds] }

// condition is one test of a body, at one place. README.md describes the tests.
type condition struct {
	at      string   // a JSON pointer (RFC 6901)
	pointer []string // at, split and unescaped
	test    string   // its name in JSON
	arg     any
	forms   []form     // command
	paths   []string   // path
	element *condition // any, all
}

// String words the condition, as in "/rows count_over 50".
func (c condition) String() string {
	at := c.at
	if at == "" {
		at = "the body"
	}
	if c.element != nil {
		return at + " " + c.test + " (" + c.element.String() + ")"
	}
	return at + " " + c.test + " " + strings.TrimSpace(string(marshal(c.arg)))
}

func (c condition) tests(test string) bool {
	return c.test == test || c.element != nil && c.element.tests(test)
}

func parseConditions(v any) (when []condition, err error) {
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, errors.New("write a list of conditions")
	}
	for _, m := range list {
		c, err := parseCondition(m, true)
		if err != nil {
			return nil, err
		}
		when = append(when, c)
	}
	return when, nil
}

func parseCondition(v any, top bool) (c condition, err error) {
	object, ok := v.(map[string]any)
	if !ok {
		return c, errors.New(`a condition is an object, such as {"at": "/rows", "count_over": 50}`)
	}
	at, isText := object["at"].(string)
	tests := slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(key string) bool { return key == "at" })
	if len(tests) != 1 || !isText && (top || len(object) > 1) {
		return c, fmt.Errorf(`the condition at %q must have "at", a JSON pointer such as "/rows", and one test: it has %d; `+
			"several conditions of one rule must all hold", brief(at, 60), len(tests))
	}
	c.at, c.test, c.arg = at, tests[0], object[tests[0]]
	if c.pointer, err = parsePointer(at); err != nil {
		return c, fmt.Errorf("at: %w", err)
	} else if err = c.parseTest(); err != nil {
		return c, fmt.Errorf("%s: %w", brief(c.test, 60), err)
	}
	return c, nil
}

func (c *condition) parseTest() (err error) {
	_, isText := c.arg.(string)
	number, isNumber := c.arg.(json.Number)
	list, _ := c.arg.([]any)
	texts := stringsIn(c.arg)
	fits, want := true, ""
	switch c.test {
	case "equals":
	case "exists":
		fits, want = c.arg == true || c.arg == false, "true or false"
	case "one_of":
		fits, want = len(list) > 0, "a list of at least one value"
	case "over", "under":
		fits, want = isNumber, "a number"
	case "count_over", "count_under":
		count, err := strconv.Atoi(string(number))
		fits, want = err == nil && count >= 0, "a whole number from 0 up"
	case "like":
		fits, want = isText, "a string"
	case "command":
		fits, want = texts != nil, "a string, or a list of strings"
		c.forms, err = parseForms(texts)
	case "path":
		fits, want = texts != nil, "a string, or a list of strings"
		c.paths, err = parsePaths(texts)
	case "any", "all":
		c.element = new(condition)
		*c.element, err = parseCondition(c.arg, false)
	default:
		return errors.New("there is no such test: write exists, equals, one_of, over, under, count_over, count_under, " +
			"like, command, path, any or all")
	}
	if !fits {
		return errors.New("write " + want)
	}
	return err
}

// stringsIn returns a string, or a list of strings; nil for any other value.
func stringsIn(v any) (texts []string) {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	list, _ := v.([]any)
	for _, one := range list {
		text, ok := one.(string)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	return texts
}

func parsePointer(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	parts := strings.Split(text, "/")
	if parts[0] != "" {
		return nil, errors.New(`a JSON pointer begins with a slash, such as "/rows"; an empty one is the whole body`)
	}
	if i := slices.Index(parts, "*"); i >= 0 {
		before, after := strings.Join(parts[:i], "/"), strings.TrimPrefix(text, strings.Join(parts[:i+1], "/"))
		return nil, fmt.Errorf(`"*" is not a wildcard here: write {"at": "%s", "any": {"at": "%s", …}}, or "all"`,
			brief(before, 60), brief(after, 60))
	}
	for i, part := range parts {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(part), "~") {
			return nil, errors.New(`in a JSON pointer "~" is written "~0" and "/" is written "~1"`)
		}
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
	}
	return parts[1:], nil
}

// find follows a pointer. found is false if an object or array has nothing there. clear is false if the pointer leads
// through something else, or past a key that some readers treat as the named one.
func find(v any, pointer []string) (value any, found, clear bool) {
	for _, part := range pointer {
		switch in := v.(type) {
		case map[string]any:
			if v, found = in[part]; !found {
				isLike := func(key string) bool { return fold(key) == fold(part) }
				return nil, false, !slices.ContainsFunc(slices.Collect(maps.Keys(in)), isLike)
			}
		case []any:
			i, err := strconv.Atoi(part)
			clear = err == nil && i >= 0 && strconv.Itoa(i) == part
			if !clear || i >= len(in) {
				return nil, false, clear
			}
			v = in[i]
		default:
			return nil, false, false
		}
	}
	return v, true, true
}

// holds tests a body. If the test cannot be made, it holds for a rule that asks or denies, and not for one that allows.
func (c condition) holds(root *root, allow bool, body any) outcome {
	unclear := is(!allow)
	v, found, clear := find(body, c.pointer)
	if c.test == "exists" && clear {
		return is(c.arg == found)
	} else if !found {
		return unclear
	}
	text, isText := v.(string)
	list, isList := v.([]any)
	if object, ok := v.(map[string]any); ok {
		list, isList = slices.Collect(maps.Values(object)), true
	}
	n, isNumber := v.(json.Number)
	test, ofCount := strings.CutPrefix(c.test, "count_")
	if ofCount {
		n, isNumber = json.Number(strconv.Itoa(len(list))), isList
	}
	switch {
	case test == "equals":
		return isOneOf(v, []any{c.arg}, unclear)
	case test == "one_of":
		return isOneOf(v, c.arg.([]any), unclear)
	case test == "over" && isNumber:
		return is(compare(n, c.arg.(json.Number)) > 0)
	case test == "under" && isNumber:
		return is(compare(n, c.arg.(json.Number)) < 0)
	case test == "like" && isText:
		return is(matchWildcard(c.arg.(string), text))
	case test == "command" && isText:
		return commandHolds(c.forms, text, allow)
	case test == "path" && isText:
		return root.holds(c.paths, text, allow)
	case test == "any" && isList:
		return c.some(root, allow, list, yes)
	case test == "all" && len(list) > 0:
		return c.some(root, allow, list, no)
	}
	return unclear
}

// some tests each element. One element whose outcome is decides (yes for any, no for all) settles it. Without such an
// element, the outcome is the opposite.
func (c condition) some(root *root, allow bool, list []any, decides outcome) outcome {
	result := is(decides == no)
	for _, element := range list {
		switch c.element.holds(root, allow, element) {
		case refused:
			return refused
		case decides:
			result = decides
		}
	}
	return result
}

// isOneOf compares a value with a list. It is unclear if no value of the list has its type: some readers treat "5" as
// 5. A list of null alone fits every type. It is also unclear if the keys differ in case only.
func isOneOf(v any, list []any, unclear outcome) outcome {
	result, similar := unclear, false
	exact, loose := sum(v, asIs), sum(v, fold)
	for _, one := range list {
		if sum(one, asIs) == exact {
			return yes
		}
		similar = similar || sum(one, fold) == loose
		if reflect.TypeOf(one) == reflect.TypeOf(v) || len(list) == 1 && one == nil {
			result = no
		}
	}
	if similar {
		return unclear
	}
	return result
}

// shellHint says what is wrong with a condition that tests a shell line or a path as a text; empty if nothing is.
func (c condition) shellHint(tool string) string {
	if c.element != nil {
		return c.element.shellHint(tool)
	}
	field := tool
	if len(c.pointer) > 0 {
		field = c.pointer[len(c.pointer)-1]
	}
	switch {
	case c.test != "like":
	case hasWord(field+" "+tool, "shell-field"):
		return fmt.Sprintf("%s is probably a shell line, and like does not see ; | $(…) or >: test it with command", c)
	case hasWord(field, "path-field"):
		return fmt.Sprintf("%s is probably a path, and like does not see .. or links: test it with path", c)
	}
	return ""
}

func hasWord(name, list string) bool {
	parts := strings.FieldsFunc(fold(name), func(r rune) bool { return strings.ContainsRune("_-.:/ *", r) })
	return slices.ContainsFunc(parts, func(part string) bool { return listed(list, part) })
}

// root is the folder that a path test knows. Without files, it takes paths as they are written.
type root struct {
	files fs.ReadLinkFS
	dir   string // the absolute name of the folder, for absolute paths
}

const maxLinks = 40

func parsePaths(paths []string) ([]string, error) {
	for i, p := range paths {
		switch {
		case p == "" || path.IsAbs(p) || slices.Contains(strings.Split(p, "/"), ".."):
			return nil, errors.New(`write a file or folder below the root, such as "src"; "." is the root`)
		case oddPath(p):
			return nil, errors.New(`a path has no wildcards, backslashes or unusual characters: "src" is everything below src`)
		}
		paths[i] = path.Clean(p)
	}
	return paths, nil
}

// holds reports whether a path is one of some files or folders, or below one.
func (r *root) holds(paths []string, name string, allow bool) outcome {
	if r == nil {
		return is(!allow)
	}
	if slices.Contains(strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == '\\' }), "..") {
		return refused
	}
	at, clear := r.resolve(name)
	for _, p := range paths {
		folder, ok := r.resolve(p)
		if !clear || !ok {
			return is(!allow)
		}
		if !allow { // some file systems ignore case
			at, folder = fold(at), fold(folder)
		}
		if folder == "." || at == folder || strings.HasPrefix(at, folder+"/") {
			return yes
		}
	}
	return no
}

// oddPath reports whether a tool, or a file system, may read a path as another one than it is written: Windows drops
// dots and spaces at the end of a name and knows short names such as SECRET~1, some programs read wide characters as
// plain ones and unescape %2e, and macOS composes letters and their accents.
func oddPath(name string) bool {
	return name == "" || hides(name) || oddName.MatchString(name)
}

var oddName = regexp.MustCompile(`(?i)^[~$%]|[\\:*?"<>|／＼．：∕⁄⧵]|%(2e|2f|5c|25)|[^/]~[0-9]|(^|/) | (/|$)|[^./]\.+(/|$)` +
	`|(?-i:[\x{300}-\x{36f}\x{1100}-\x{11ff}\x{3099}\x{309a}])`)

// resolve returns a path below the root, without symbolic links, and false for one that leads, or may lead, elsewhere.
func (r *root) resolve(name string) (string, bool) {
	below, inside := r.relative(path.Clean(name))
	switch {
	case !inside || oddPath(name):
		return "", false
	case r.files == nil:
		return below, true
	}
	done, todo := ".", strings.Split(below, "/")
	for links := 0; len(todo) > 0; {
		next := path.Join(done, todo[0])
		todo = todo[1:]
		if next == ".." || strings.HasPrefix(next, "../") {
			return "", false
		}
		info, err := r.files.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && !slices.Contains(todo, ".."): // which only a link has
			return path.Join(append([]string{next}, todo...)...), true
		case err != nil:
			return "", false
		case info.Mode()&fs.ModeSymlink == 0:
			done = next
			continue
		}
		target, err := r.files.ReadLink(next)
		if links++; err != nil || links > maxLinks {
			return "", false
		}
		if path.IsAbs(target) {
			if target, inside = r.relative(path.Clean(target)); !inside {
				return "", false
			}
			done = "."
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	return done, true
}

// relative returns a clean path below the root.
func (r *root) relative(name string) (string, bool) {
	switch {
	case !path.IsAbs(name):
		return name, name != ".." && !strings.HasPrefix(name, "../")
	case r.dir == "" || r.dir == ".": // nobody said where the root is
		return "", false
	case name == r.dir:
		return ".", true
	}
	return strings.CutPrefix(name, strings.TrimSuffix(r.dir, "/")+"/")
}
