package llm

import (
	"encoding/json"
	"strings"
)

const (
	maxContent = 64 << 10 // bytes of an answer that are looked at: its end
	maxTries   = 256      // places where an object could begin and does not
)

// lastObject returns the last complete JSON object in content, whatever stands around it: fences, prose, thoughts, another
// object, half an object. An object inside a complete one is part of that. Its cost is bounded.
func lastObject(content string) (json.RawMessage, bool) {
	if len(content) > maxContent {
		content = content[len(content)-maxContent:]
	}
	var last string
	for tries := 0; tries < maxTries; {
		i := strings.IndexByte(content, '{')
		if i < 0 {
			break
		}
		content = content[i:]
		if rest := strings.TrimLeft(content[1:], " \t\r\n"); rest == "" || rest[0] != '"' && rest[0] != '}' {
			content = content[1:]
			continue
		}
		var object json.RawMessage
		dec := json.NewDecoder(strings.NewReader(content))
		if dec.Decode(&object) != nil {
			content = content[1:]
			tries++
			continue
		}
		end := int(dec.InputOffset())
		last, content = content[:end], content[end:]
	}
	return json.RawMessage(last), last != ""
}
