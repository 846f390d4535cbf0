package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/hook"
)

// hookEvents are the events of a host that its settings name: the pauses, and the prompts, without which a turn that was
// handed over would never end; of Cursor also what the agent printed, which its pauses do not say.
func hookEvents(h hook.Host) []string {
	switch h {
	case hook.Claude:
		return []string{"Stop", "SubagentStop", "StopFailure", "UserPromptSubmit"}
	case hook.Codex:
		return []string{"Stop", "SubagentStop", "UserPromptSubmit"}
	case hook.Gemini:
		return []string{"AfterAgent", "BeforeAgent"}
	case hook.Cursor:
		return []string{"stop", "afterAgentResponse", "beforeSubmitPrompt"}
	case hook.Copilot:
		return []string{"Stop", "UserPromptSubmit"}
	}
	return nil
}

// settingsGroup is an element of an event's list in the settings of Claude Code, Codex and Gemini CLI.
type settingsGroup struct {
	Hooks []settingsHook `json:"hooks"`
}

type settingsHook struct {
	Name    string `json:"name,omitempty"` // Gemini CLI shows it
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout"`
}

// hookSeconds is what a host waits for the hook. An LLM is given 10 seconds, or what --timeout says, and a lock 5.
const (
	hookSeconds  = 60
	hookPatience = patience((hookSeconds - 15) * time.Second)
)

// installation is a hook in the settings of a host.
type installation struct {
	host    hook.Host
	binary  string // absolute path
	command string // the command line that runs it
	more    int    // seconds that the host is to wait beyond hookSeconds
}

func (n installation) group() settingsGroup {
	one := settingsHook{Type: "command", Command: n.command, Timeout: hookSeconds + n.more}
	if n.host == hook.Gemini {
		one.Name, one.Timeout = "sidecoach", one.Timeout*1000 // milliseconds
	}
	return settingsGroup{[]settingsHook{one}}
}

// snippet is the settings of a host that has no others.
func (n installation) snippet() string {
	if n.host == hook.Cursor || n.host == hook.Copilot {
		return n.flatSnippet()
	}
	text, err := n.merge([]byte("{}\n"))
	if err != nil {
		panic(err) // it is merged into nothing
	}
	return string(text)
}

// place is where a hook of ours stands in settings.
type place struct {
	event, group, hook int // indexes
	command            jsonValue
	timeout            *jsonValue // nil when there is none
	line               string
	written            bool
}

// hookSettings is the text of a host's settings.
type hookSettings struct {
	installation
	text  []byte
	root  jsonValue
	hooks *jsonValue // nil when there are none
}

func (n installation) parse(text []byte) (s hookSettings, err error) {
	s = hookSettings{installation: n, text: text}
	if s.root, err = parseJSON(text); err != nil {
		return s, err
	}
	if s.root.kind != '{' {
		return s, errors.New("it is not a JSON object")
	}
	if s.hooks, err = s.root.member("hooks"); err == nil && s.hooks != nil && s.hooks.kind != '{' {
		err = errors.New(`"hooks" is not an object`)
	}
	return s, err
}

// ours returns the places of our hooks, in all events, the first one first.
func (s hookSettings) ours() (list []place, err error) {
	if s.hooks == nil {
		return nil, nil
	}
	for i, event := range s.hooks.children {
		for j, group := range event.value.children {
			hooks, err := group.value.member("hooks")
			if err != nil {
				return nil, fmt.Errorf("%q: %w", event.key, err)
			}
			if event.value.kind != '[' || hooks == nil || hooks.kind != '[' {
				continue
			}
			for n, one := range hooks.children {
				command, err := one.value.member("command")
				if err != nil {
					return nil, fmt.Errorf("%q: %w", event.key, err)
				}
				if command == nil {
					continue
				}
				timeout, err := one.value.member("timeout")
				if err != nil {
					return nil, fmt.Errorf("%q: %w", event.key, err)
				}
				line, _ := command.text(s.text)
				if ours, written := s.owns(line); ours {
					list = append(list, place{i, j, n, *command, timeout, line, written})
				}
			}
		}
	}
	return list, nil
}

// merge returns settings in which the host runs command on its events; if it does already, they are the same. Everything else
// stays as it is. What is not plain JSON, or not as the host has it, is an error.
func (n installation) merge(text []byte) ([]byte, error) {
	for _, event := range hookEvents(n.host) {
		var err error
		if text, err = n.mergeEvent(text, event); err != nil {
			return nil, err
		}
	}
	if !json.Valid(text) {
		return nil, errors.New("it would not be JSON any more")
	}
	return text, nil
}

func (n installation) mergeEvent(text []byte, event string) ([]byte, error) {
	s, err := n.parse(text)
	if err != nil {
		return nil, err
	}
	l := layoutOf(text, s.root)
	groups := []settingsGroup{n.group()}
	if s.hooks == nil {
		return l.insert(text, s.root, 0, "hooks", map[string]any{event: groups})
	}
	list, err := s.hooks.member(event)
	switch {
	case err != nil:
		return nil, err
	case list == nil:
		return l.insert(text, *s.hooks, 1, event, groups)
	case list.kind != '[':
		return nil, fmt.Errorf("%q is not an array", event)
	}
	all, err := s.ours()
	if err != nil {
		return nil, err
	}
	ours := slices.DeleteFunc(all, func(p place) bool { return s.hooks.children[p.event].key != event })
	for _, p := range ours {
		if !p.written {
			return nil, fmt.Errorf("%q runs sidecoach in a line that was not written by install: %.200q", event, p.line)
		}
	}
	switch len(ours) {
	case 0:
		return l.insert(text, *list, 2, "", groups[0])
	case 1:
		if ours[0].line == n.command {
			return text, nil
		}
		line, err := l.marshal("", n.command, "", false)
		return n.replace(text, ours[0], line), err
	}
	return nil, fmt.Errorf("%q runs sidecoach %d times", event, len(ours))
}

// replace returns settings with another command line at p, and with a longer time for it where it has less than it needs.
func (n installation) replace(text []byte, p place, line string) []byte {
	least := n.group().Hooks[0].Timeout
	if t := p.timeout; t != nil {
		if has, err := strconv.Atoi(string(text[t.start:t.end])); err == nil && has < least {
			if t.start > p.command.start { // what comes last first: the other's place stays
				text = splice(text, t.start, t.end, strconv.Itoa(least))
				return splice(text, p.command.start, p.command.end, line)
			}
			text = splice(text, p.command.start, p.command.end, line)
			return splice(text, t.start, t.end, strconv.Itoa(least))
		}
	}
	return splice(text, p.command.start, p.command.end, line)
}

// unmerge returns settings in which the host does not run sidecoach any more, and how often it did. What is left empty by that
// goes, too. A line that does something else beside is an error.
func (n installation) unmerge(text []byte) ([]byte, int, error) {
	for times := 0; ; times++ {
		s, err := n.parse(text)
		if err != nil {
			return nil, 0, err
		}
		list, err := s.ours()
		if err != nil {
			return nil, 0, err
		}
		if len(list) == 0 {
			return text, times, nil
		}
		last := list[len(list)-1]
		if !s.alone(last.line) {
			return nil, 0, fmt.Errorf("%q runs sidecoach in a line that does more than that: %.200q", s.hooks.children[last.event].key, last.line)
		}
		text = s.without(last)
	}
}

// without takes a hook out and, where it was the only one, its group, its event and the hooks.
func (s hookSettings) without(p place) []byte {
	event := s.hooks.children[p.event].value
	group := event.children[p.group].value
	hooks, err := group.member("hooks")
	switch {
	case err == nil && len(hooks.children) > 1:
		return without(s.text, *hooks, p.hook)
	case len(event.children) > 1:
		return without(s.text, event, p.group)
	case len(s.hooks.children) > 1:
		return without(s.text, *s.hooks, p.event)
	}
	i := slices.IndexFunc(s.root.children, func(c jsonChild) bool { return c.key == "hooks" })
	return without(s.text, s.root, i)
}

// off says which setting keeps the host from running the hook, "" if none does. Gemini CLI's /hooks disable writes the hook's
// name, or its command line where it has none (its configuration reference, November 2026).
func (s hookSettings) off() string {
	at := func(keys ...string) *jsonValue {
		v := &s.root
		for _, key := range keys {
			next, err := v.member(key)
			if err != nil || next == nil {
				return nil
			}
			v = next
		}
		return v
	}
	is := func(value string, keys ...string) bool {
		v := at(keys...)
		return v != nil && bytes.Equal(s.text[v.start:v.end], []byte(value))
	}
	switch {
	case s.host == hook.Claude && is("true", "disableAllHooks"):
		return `"disableAllHooks": true`
	case s.host == hook.Gemini && is("false", "hooksConfig", "enabled"):
		return `"hooksConfig": {"enabled": false}`
	}
	if v := at("hooksConfig", "disabled"); s.host == hook.Gemini && v != nil {
		for _, c := range v.children {
			if name, ok := c.value.text(s.text); ok && (name == s.group().Hooks[0].Name || name == s.command) {
				return fmt.Sprintf(`"hooksConfig": {"disabled": [%q]}`, name)
			}
		}
	}
	return ""
}
