package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

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
	hooks := root.Find("/hooks")
	if hooks == nil {
		return insert(settings, root, 0, "hooks", map[string]any{event: []any{h.element(event)}}), nil
	}
	if _, ok := hooks.Value.(*hujson.Object); !ok {
		return nil, errors.New(`"hooks" is not an object`)
	}
	list := root.Find("/hooks/" + event)
	if list == nil {
		return insert(settings, hooks, 1, event, []any{h.element(event)}), nil
	}
	if _, ok := list.Value.(*hujson.Array); !ok {
		return nil, fmt.Errorf("%q is not an array", event)
	}
	return insert(settings, list, 2, "", h.element(event)), nil
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
