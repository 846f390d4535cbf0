package install

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

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
