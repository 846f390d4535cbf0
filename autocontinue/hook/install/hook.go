package install

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tailscale/hujson"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// Hook is the stop hook as a host's settings name it.
type Hook struct {
	Host    hook.Host
	Program string   // absolute path of sidecoach
	Flags   []string // of the command line
	Timeout int      // seconds that the host waits for the hook
}

// host is what a host's settings are, see hosts.json.
type host struct {
	// Events are the pauses and the human's prompts, and of Cursor also what the agent printed: its pauses do not say it.
	Events   []string
	Element  json.RawMessage // what stands in the list of an event: cursor.com/docs/hooks and others
	Project  []string        // the files of a project; the first is for Merge, and not shared with others if it can be
	User     string          // the user's file; Copilot CLI reads all files of that folder
	Variable string          // of the environment: names the folder of the user's settings
}

//go:embed hosts.json
var hostsText []byte

var hosts = sync.OnceValue(func() (all map[hook.Host]host) {
	if err := json.Unmarshal(hostsText, &all); err != nil {
		panic(err) // the tests read it
	}
	return all
})

// Writable reports whether Merge may change the host's settings. For the others the human saves what Snippet returns.
func (h Hook) Writable() bool { return h.Host == hook.Claude || h.Host == hook.Gemini }

// element returns what stands in the list of one event.
func (h Hook) element(event string) json.RawMessage {
	element := string(hosts()[h.Host].Element)
	switch {
	case h.Host == hook.Cursor && event == "stop": // the loop has its own cap; Cursor's default is five a session
		element = strings.Replace(element, "}", `,"loop_limit":null}`, 1)
	case h.Host == hook.Copilot && runtime.GOOS == "windows":
		element = strings.Replace(element, "bash", "powershell", 1)
	}
	seconds, milliseconds := strconv.Itoa(h.Timeout), strconv.Itoa(h.Timeout*1000)
	return json.RawMessage(strings.NewReplacer(`"LINE"`, string(encode(h.line(), "", "")),
		`"SECONDS"`, seconds, `"MILLISECONDS"`, milliseconds).Replace(element))
}

// Snippet returns the settings of a host that has no others.
func (h Hook) Snippet() []byte {
	text := "{}\n"
	if h.Host == hook.Cursor || h.Host == hook.Copilot {
		text = "{\n  \"version\": 1\n}\n"
	}
	settings, err := h.Merge([]byte(text))
	if err != nil {
		panic(err) // there is nothing that could conflict
	}
	return settings
}

// encode writes a value as indented JSON; with an empty indent on one line.
func encode(v any, prefix, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // people read it
	enc.SetIndent(prefix, indent)
	if err := enc.Encode(v); err != nil {
		panic(err) // texts and numbers
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Files returns where the host looks for its settings, the file that Merge is for first. Those of a project are below
// its folder. The user's are below home or the folder that the host's variable names; none if both are empty.
func (h Hook) Files(project bool, home string, getenv func(string) string) []string {
	of := hosts()[h.Host]
	if project {
		return slices.Clone(of.Project)
	}
	if h.Host == hook.Gemini {
		home = cmp.Or(getenv("GEMINI_CLI_HOME"), home)
	}
	if own := getenv(of.Variable); own != "" && of.Variable != "" {
		return []string{filepath.Join(own, of.User)}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, "."+string(h.Host), of.User)}
}

// What stands around a command keeps its failure from the agent: a missing program exits with 127 and a crashed Go
// program with 2, and hosts read one of them, or both, as "block".
//
// Gemini CLI ends the shell when the time limit is over. Then it waits for everything that the shell has started. So
// the shell must end the program. A command in the background gets no standard input, hence the detour by descriptor 3.
const (
	guard        = " || exit 0"
	geminiBefore = "trap 'kill $!; sleep 1; kill -9 $!' TERM; { "
	geminiAfter  = " <&3 & } 3<&0; wait $! || exit 0"
)

// shell returns how the shell that the host uses on a system quotes a word, and what stands before and after a command.
// On Windows that is Git Bash for Claude Code, the command interpreter for Codex, and PowerShell for the others. Cursor
// takes a success without an answer for a fault and goes on after an exit status of 1.
func (h Hook) shell(system string) (quote func(word string) string, before, after string) {
	windows := system == "windows"
	switch {
	case windows && h.Host == hook.Cursor:
		return quotePowerShell, "& ", "; if (-not $?) { exit 1 }"
	case windows && (h.Host == hook.Gemini || h.Host == hook.Copilot):
		return quotePowerShell, "& ", "; exit 0"
	case windows && h.Host == hook.Codex:
		return quoteCmd, "", " || exit /b 0"
	case windows:
		return func(w string) string { return quotePOSIX(strings.ReplaceAll(w, `\`, "/")) }, "", guard
	case h.Host == hook.Cursor:
		return quotePOSIX, "", " || exit 1"
	case h.Host == hook.Gemini:
		return quotePOSIX, geminiBefore, geminiAfter
	}
	return quotePOSIX, "", guard
}

// line returns the command line that runs the hook, in the words of the shell that the host uses on this system.
func (h Hook) line() string { return h.lineOn(runtime.GOOS) }

func (h Hook) lineOn(system string) string {
	quote, before, after := h.shell(system)
	words := []string{quote(h.Program), "hook", string(h.Host)}
	for _, f := range h.Flags {
		words = append(words, quote(f))
	}
	return before + strings.Join(words, " ") + after
}

// Quote returns a word as the shell of the host on this system wants it.
func (h Hook) Quote(word string) string {
	quote, _, _ := h.shell(runtime.GOOS)
	return quote(word)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

func quotePOSIX(w string) string {
	if plainWord.MatchString(w) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

func quotePowerShell(w string) string { return "'" + strings.ReplaceAll(w, "'", "''") + "'" }

func quoteCmd(w string) string {
	if plainWord.MatchString(strings.ReplaceAll(w, `\`, "/")) {
		return w
	}
	return `"` + w + `"`
}

// runs reports whether a command line runs this hook, by the name of the program, whatever its path, and whether it is
// mixed: a person made it do more than that.
func (h Hook) runs(line string) (runs, mixed bool) {
	base := filepath.Base(h.Program)
	name := `(?:[\w.-]*sidecoach[\w.-]*|` + regexp.QuoteMeta(strings.TrimSuffix(base, filepath.Ext(base))) + `(?:\.exe)?)`
	call := `[ \t]+hook[ \t]+` + string(h.Host)
	if !regexp.MustCompile(`(?i)(?:^|[\s/\\'"])` + name + `['"]?` + call + `(?:[\s;]|$)`).MatchString(line) {
		return false, false
	}
	if inner, ok := strings.CutPrefix(line, geminiBefore); ok {
		line = strings.Replace(inner, geminiAfter, guard, 1)
	}
	const word = `(?:'(?:[^']|'\\''|'')*'|"[^"]*"|[^\s;&|<>()` + "`" + `$'"]+)+`
	const guards = `\s*(?:(?:\|\||;)[ \t]*(?:exit(?: /b)? [01]|true)|; if \(-not \$\?\) \{ exit 1 \})?\s*`
	whole := `(?i)^[ \t]*(?:& )?` + word + call + `(?:[ \t]+` + word + `)*` + guards + `$`
	return true, !regexp.MustCompile(whole).MatchString(line)
}

const maxBrackets = 100_000 // in settings: the parser calls itself for each one that is open

// parse reads settings, which may have comments and trailing commas. A key that is there twice is an error: hosts
// differ in which one counts.
func parse(text []byte) (*hujson.Value, error) {
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > maxBrackets {
		return nil, errors.New("it has too many brackets")
	}
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON: %.200s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, errors.New("it is not a JSON object")
	}
	for v := range root.All() {
		if o, ok := v.Value.(*hujson.Object); ok {
			keys := make(map[string]bool, len(o.Members))
			for i := range o.Members {
				key := textOf(&o.Members[i].Name)
				if keys[key] {
					return nil, fmt.Errorf("%.200q is there twice", key)
				}
				keys[key] = true
			}
		}
	}
	return &root, nil
}

func textOf(v *hujson.Value) string { return v.Value.(hujson.Literal).String() }

// lineIn returns the command line of this hook in one object, "" if there is none.
func (h Hook) lineIn(o *hujson.Value) string {
	for _, key := range []string{"command", "bash", "powershell"} {
		if v := o.Find("/" + key); v != nil && v.Value.Kind() == '"' {
			if runs, _ := h.runs(textOf(v)); runs {
				return textOf(v)
			}
		}
	}
	return ""
}

// Merge returns settings in which the host runs the hook on its events. If it does already, they are the same. The
// lines that another version wrote are replaced.
func (h Hook) Merge(settings []byte) (merged []byte, err error) {
	events := hosts()[h.Host].Events
	merged, times, err := h.Remove(settings)
	if err != nil || times == len(events) && times == bytes.Count(settings, encode(h.line(), "", "")) {
		return settings, err
	}
	if merged == nil {
		merged = []byte("{}\n")
	}
	for _, event := range slices.Backward(events) { // the last one that is added comes first
		if merged, err = h.add(merged, event); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// add returns settings in which the host runs the hook on one more event.
func (h Hook) add(settings []byte, event string) ([]byte, error) {
	root, err := parse(settings)
	if err != nil {
		return nil, err
	}
	hooks, list := root.Find("/hooks"), root.Find("/hooks/"+event)
	switch element := h.element(event); {
	case hooks == nil:
		return insert(settings, root, 0, "hooks", map[string]any{event: []any{element}}), nil
	case hooks.Value.Kind() != '{':
		return nil, errors.New(`"hooks" is not an object`)
	case list == nil:
		return insert(settings, hooks, 1, event, []any{element}), nil
	case list.Value.Kind() != '[':
		return nil, fmt.Errorf("%q is not an array", event)
	default:
		return insert(settings, list, 2, "", element), nil
	}
}

// insert returns the text with one more value, the first of an object or an array that is depth levels below the
// root. An element of an array has no key.
func insert(text []byte, into *hujson.Value, depth int, key string, value any) []byte {
	const unit = "  "
	outer := "\n" + strings.Repeat(unit, depth)
	added := outer + unit
	if key != "" {
		added += string(encode(key, "", "")) + ": "
	}
	added += string(encode(value, outer[1:]+unit, unit))
	begin, values := into.StartOffset+1, 0
	for range into.All() { // with itself
		values++
	}
	switch {
	case values > 1:
		added += ","
	case begin == into.EndOffset-1:
		added += outer
	}
	return slices.Concat(text[:begin], []byte(added), text[begin:])
}

// Remove returns settings in which the host does not run the hook any more, and how often it did. What becomes empty is
// removed, too; if nothing is left, the rest is nil. A command line that does something else, too, is an error.
func (h Hook) Remove(settings []byte) (rest []byte, times int, err error) {
	root, err := parse(settings)
	if err != nil {
		return nil, 0, err
	}
	hooks := root.Find("/hooks")
	if hooks == nil {
		return settings, 0, nil
	}
	paths, lines := h.find(hooks, "/hooks")
	for _, line := range lines {
		if _, mixed := h.runs(line); mixed {
			return settings, len(lines), fmt.Errorf("a line does more than run sidecoach: %.200q", line)
		}
	}
	isMore := func(m hujson.ObjectMember) bool { return textOf(&m.Name) != "version" && textOf(&m.Name) != "hooks" }
	switch {
	case len(lines) == 0:
		return settings, 0, nil
	case paths[0] == "/hooks" && !slices.ContainsFunc(root.Value.(*hujson.Object).Members, isMore):
		return nil, len(lines), nil
	}
	var patch []map[string]string
	for _, path := range slices.Backward(paths) { // the others keep their paths
		patch = append(patch, map[string]string{"op": "remove", "path": path})
	}
	if err := root.Patch(encode(patch, "", "")); err != nil {
		return nil, 0, err
	}
	return root.Pack(), len(lines), nil
}

// find returns the command lines of this hook in the value at a path (RFC 6901), and the paths of what goes with them:
// the path itself if the value is this hook, or if nothing is left in it.
func (h Hook) find(v *hujson.Value, path string) (paths, lines []string) {
	empty, gone := 0, false
	in := func(key string, v *hujson.Value) {
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
		p, l := h.find(v, at)
		paths, lines = append(paths, p...), append(lines, l...)
		if slices.Contains(p, at) {
			empty, gone = empty+1, gone || key == "hooks" // without its list the rest means nothing
		}
	}
	switch c := v.Value.(type) {
	case *hujson.Array:
		for i := range c.Elements {
			in(strconv.Itoa(i), &c.Elements[i])
		}
		gone = empty > 0 && empty == len(c.Elements)
	case *hujson.Object:
		if line := h.lineIn(v); line != "" {
			return []string{path}, []string{line}
		}
		for i := range c.Members {
			in(textOf(&c.Members[i].Name), &c.Members[i].Value)
		}
		gone = gone || empty > 0 && empty == len(c.Members)
	}
	if gone {
		paths = []string{path}
	}
	return paths, lines
}
