package transcript

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// geminiLine is a line of Gemini CLI's session files: JSON Lines. They are what is known of the session, then a
// message a line, a later line with the same ID in place of an earlier one, and changes: {"$rewindTo": id} takes back
// that message and what came after it, {"$set": {"messages": …}} sets all of them, {"$patch": …} changes some. Before
// 2026 a session was one JSON object with all messages, written anew each time; see [document]. A hook's reason is a
// user message, with the reason in "content" and the human's last prompt in "displayContent".
type geminiLine struct {
	geminiMessage
	SessionID   string          `json:"sessionId"`
	ProjectHash string          `json:"projectHash"`
	Messages    []geminiMessage `json:"messages"`
	Set         *struct {
		Messages []geminiMessage `json:"messages"`
	} `json:"$set"`
	Patch *struct {
		Remove  []string        `json:"removeIds"`
		Updates []geminiMessage `json:"updates"`
	} `json:"$patch"`
	RewindTo *string `json:"$rewindTo"`
}

type geminiMessage struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Content *geminiParts `json:"content"`
	Display *geminiParts `json:"displayContent"`
	Calls   []geminiCall `json:"toolCalls"`
}

type geminiCall struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Status string `json:"status"`
	Args   input  `json:"args"`
	Result []struct {
		Response geminiResponse `json:"functionResponse"`
	} `json:"result"`
}

type geminiResponse struct {
	ID       string `json:"id"`
	Response struct {
		Output string `json:"output"`
		Error  string `json:"error"`
	} `json:"response"`
}

// geminiParts is what Gemini calls a list of parts: a text, a part, or an array of either. What the model thought is
// left out, and what a hook added.
type geminiParts struct {
	Text  string
	Calls []geminiCall // in the content itself, and the results of calls
}

func (g *geminiParts) UnmarshalJSON(data []byte) error {
	type part struct {
		Text     *string         `json:"text"`
		Thought  truth           `json:"thought"`
		Call     *geminiCall     `json:"functionCall"`
		Response *geminiResponse `json:"functionResponse"`
	}
	var list []json.RawMessage
	if data[0] != '[' || json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	var said []string
	for _, raw := range list {
		var p part
		var s string
		if json.Unmarshal(raw, &s) == nil {
			p.Text = &s
		} else {
			_ = json.Unmarshal(raw, &p)
		}
		if p.Text != nil && !bool(p.Thought) && !strings.HasPrefix(strings.TrimSpace(*p.Text), "<hook_context>") {
			said = append(said, *p.Text)
		}
		if p.Call != nil {
			g.Calls = append(g.Calls, *p.Call)
		}
		if p.Response != nil {
			c := geminiCall{ID: p.Response.ID, Status: "success"}
			if p.Response.Response.Error != "" {
				c.Status = "error"
			}
			c.Result = append(c.Result, struct {
				Response geminiResponse `json:"functionResponse"`
			}{*p.Response})
			g.Calls = append(g.Calls, c)
		}
	}
	g.Text = strings.Join(said, "\n")
	return nil
}

// geminiTypes are types of messages.
const geminiTypes = " user gemini info error warning "

// readGemini reads a line. Seen are the IDs of the last messages that were read, the last one last.
func readGemini(data []byte, seen []string) (l line) {
	var g geminiLine
	if !decode(data, &g) {
		return l
	}
	message := g.ID != "" && strings.Contains(geminiTypes, " "+g.Type+" ") && g.Type != ""
	l.known = message || g.Set != nil || g.Patch != nil || g.RewindTo != nil || g.SessionID != "" && g.Type == ""
	switch {
	case g.RewindTo != nil:
		l.add(entry{kind: forget})
	case g.Set != nil:
		l.geminiAll(g.Set.Messages, seen)
	case g.Patch != nil:
		l.geminiPatch(g.Patch.Updates, g.Patch.Remove, seen)
	case g.SessionID != "" && g.Type == "":
		l.session = g.SessionID
		l.begins = len(g.Messages) == 0
		l.geminiAll(g.Messages, seen)
	case message:
		l.geminiMessage(g.geminiMessage)
	}
	return l
}

// readGeminiMessage reads a message of a [document].
func readGeminiMessage(data []byte) (l line) {
	var m geminiMessage
	if decode(data, &m) && m.ID != "" && m.Type != "" {
		l.known = true
		l.geminiMessage(m)
	}
	return l
}

// geminiAll reads an array of messages that stand in place of all before. A session that is resumed begins with what
// was said in it. When the array does not continue what was read, the history was made shorter: then the work is
// unknown.
func (l *line) geminiAll(list []geminiMessage, seen []string) {
	from := 0
	if len(seen) > 0 {
		prompt := -1
		for i, m := range list {
			switch {
			case m.ID == seen[len(seen)-1]:
				from = i + 1
			case m.Type == "user" && m.Content != nil && !Gemini.IsNotice(m.Content.Text):
				prompt = i
			}
		}
		if from == 0 {
			if prompt < 0 {
				return // what the host says at the beginning of each session
			}
			l.add(entry{kind: forget})
			from = prompt
		}
	}
	for _, m := range list[from:] {
		l.geminiMessage(m)
	}
}

// geminiPatch reads changes of messages.
func (l *line) geminiPatch(updates []geminiMessage, removed, seen []string) {
	for _, m := range updates {
		m.Type = "gemini"
		first := len(l.entries)
		l.geminiMessage(m)
		for i := first; i < len(l.entries); i++ {
			l.entries[i].late = l.entries[i].kind == outcome
		}
	}
	for _, id := range removed {
		if len(seen) > 0 && id == seen[len(seen)-1] {
			l.add(entry{kind: notice}) // the last message is not there any more
		}
	}
}

func (l *line) geminiMessage(m geminiMessage) {
	said, shown := "", ""
	var calls []geminiCall
	if m.Content != nil {
		said, calls = m.Content.Text, m.Content.Calls
	}
	if m.Display != nil {
		shown = m.Display.Text
	}
	if m.Calls != nil {
		calls = m.Calls
	}
	switch m.Type {
	case "user":
		if blank(said) && len(calls) > 0 { // results
			for _, c := range calls {
				l.geminiCall(c, "")
			}
			return
		}
		l.geminiPrompt(m.ID, said, shown)
	case "info":
		if said == "Request cancelled." {
			l.add(entry{kind: abort})
		}
	case "gemini":
		if !blank(said) {
			l.add(entry{kind: message, id: m.ID, group: m.ID, text: said})
		}
		for _, c := range calls {
			l.geminiCall(c, m.ID)
		}
	}
}

// geminiPrompt reads a user message. The first one says where the agent works. Shown is what the human saw of it: a
// prompt without the files that it names, or of coaching the human's last prompt.
func (l *line) geminiPrompt(id, said, shown string) {
	e := entry{kind: human, id: id, text: said}
	switch {
	case Gemini.IsNotice(said):
		e = entry{kind: notice}
		for _, mark := range []string{"Workspace Directories:**\n  - ", "working in the directory: "} {
			if _, rest, ok := strings.Cut(said, mark); ok {
				l.dir, _, _ = strings.Cut(rest, "\n")
			}
		}
	case plaintext.IsOurs(said), strings.TrimSpace(said) == plainMessage && !blank(shown) && strings.TrimSpace(shown) != plainMessage:
		e.kind = feedback
	case !blank(shown):
		e.text = shown
	}
	l.add(e)
}

// geminiCall reads a call, with its result. A call without a name is a later part of one that was read.
func (l *line) geminiCall(c geminiCall, group string) {
	if c.Name != "" {
		l.add(entry{kind: call, group: group, tool: tool{id: c.ID, name: c.Name, input: c.Args}})
	}
	switch c.Status {
	case "success", "error", "cancelled":
	default:
		return
	}
	r := result{id: c.ID, failed: c.Status == "error", stopped: c.Status == "cancelled"}
	for _, part := range c.Result {
		r.output += first(part.Response.Response.Output, part.Response.Response.Error)
	}
	if c.Name == "run_shell_command" || c.Name == "" {
		geminiShell(&r, bool(c.Args.InBackground))
	}
	l.add(entry{kind: outcome, result: r})
}

// geminiShell reads how a command ended out of what the model was told about it. An exit status of 0 may be left out.
func geminiShell(r *result, background bool) {
	s := "\n" + strings.ReplaceAll(strings.ReplaceAll(r.output, "<untrusted_context>\n", ""), "\n</untrusted_context>", "")
	has := func(texts ...string) bool {
		for _, t := range texts {
			if strings.Contains(s, "\n"+t) {
				return true
			}
		}
		return false
	}
	switch i := strings.LastIndex(s, "\nExit Code: "); {
	case background, has("Command moved to background"):
		r.running = r.id
	case has("Command timed out", "Command was cancelled", "Command was automatically cancelled"):
		r.stopped = true
	case i >= 0:
		text, _, _ := strings.Cut(s[i+len("\nExit Code: "):], "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			r.status(n)
		}
	case !r.failed && !r.stopped:
		r.status(0)
	}
	for _, head := range []string{"\nOutput: ", "\nStdout: "} {
		if i := strings.Index(s, head); i >= 0 {
			r.output = s[i+len(head):]
			for _, tail := range []string{"\nProcess Group PGID: ", "\nExit Code: "} {
				if i := strings.LastIndex(r.output, tail); i >= 0 {
					r.output = r.output[:i]
				}
			}
			return
		}
	}
}
