package transcript

import (
	"cmp"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// readGemini reads a line of Gemini CLI. A later line with the same ID stands in place of an earlier one. {"$rewindTo":
// id} takes back that message and what came after it, {"$set": {"messages": …}} sets all of them.
func readGemini(v value, seen []string) (l line) {
	kind := v.text("type")
	l.known = true
	switch {
	case v.has("$rewindTo"):
		l.add(entry{kind: forget})
	case v.has("$set"):
		l.geminiAll(v.list("$set", "messages"), seen)
	case kind == "" && v.text("sessionId") != "" && !v.has("messages"): // with them it is of a version before 2026
		l.session = v.text("sessionId")
	case v.text("id") != "" && isPhrase("gemini-line", kind):
		l.geminiMessage(v, kind)
	default:
		l.known = false
	}
	return l
}

// geminiAll reads an array of messages that stand in place of all before. A session that is resumed begins with what
// was said in it. After a compaction the work is still known. In any other case the history was made shorter.
func (l *line) geminiAll(list []value, seen []string) {
	from, prompt, compacted := 0, -1, false
	for i, m := range list {
		said, _ := geminiContent(m.at("content"))
		compacted = compacted || m.text("type") == "gemini" && isPhrase("gemini-summary", said)
		switch {
		case len(seen) > 0 && m.text("id") == seen[len(seen)-1]:
			from = i + 1
		case m.text("type") == "user" && !gemini.IsNotice(said):
			prompt = i
		}
	}
	switch {
	case len(seen) == 0 || from > 0:
	case prompt < 0: // what the host says at the beginning of each session
		return
	case compacted:
		l.add(entry{kind: notice, summary: true})
		return
	default:
		l.add(entry{kind: forget})
		from = prompt
	}
	for _, m := range list[from:] {
		l.geminiMessage(m, m.text("type"))
	}
}

// geminiContent reads a text, a part, or an array of either, without what the model thought and what a hook added.
func geminiContent(content value) (said string, parts []value) {
	if parts = content.list(); content.isObject() || content.text() != "" {
		parts = []value{content}
	}
	var texts []string
	for _, p := range parts {
		text := cmp.Or(p.text(), p.text("text"))
		if text != "" && !p.isTrue("thought") && !strings.HasPrefix(strings.TrimSpace(text), "<hook_context>") {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n"), parts
}

func (l *line) geminiMessage(m value, kind string) {
	said, parts := geminiContent(m.at("content"))
	id := m.text("id")
	switch {
	case kind == "info" && said == "Request cancelled.":
		l.add(entry{kind: abort})
	case kind == "gemini" && !blank(said):
		l.add(entry{kind: message, id: id, group: id, text: said})
	}
	if kind != "gemini" && kind != "user" {
		return
	}
	calls := m.list("toolCalls")
	for _, c := range calls {
		l.geminiCall(c, id)
	}
	for _, p := range parts { // calls in the content itself, and the results of calls
		c, r := p.at("functionCall"), p.at("functionResponse")
		if m.has("toolCalls") || !c.isObject() && !r.isObject() {
			continue
		}
		calls = append(calls, p)
		l.geminiCall(c, id)
		if r.isObject() {
			told := r.at("response")
			done := result{id: r.text("id"), output: told.text("output")}
			if told.text("error") != "" {
				done.failed, done.output = true, cmp.Or(done.output, told.text("error"))
			}
			done.geminiShell()
			l.add(entry{kind: outcome, result: done})
		}
	}
	if kind == "user" && (len(calls) == 0 || !blank(said)) {
		shown, _ := geminiContent(m.at("displayContent"))
		l.geminiPrompt(id, said, shown)
	}
}

// geminiPrompt reads a user message. The first one says where the agent works. Shown is what the human saw of it: a
// prompt without the files that it names, or of coaching the human's last prompt.
func (l *line) geminiPrompt(id, said, shown string) {
	e := entry{kind: human, id: id, text: said}
	switch {
	case gemini.IsNotice(said):
		e = entry{kind: notice}
		l.dir = cmp.Or(find("gemini-dir", said), l.dir)
	case plaintext.IsOurs(said),
		isPlain(said) && !blank(shown) && !isPlain(shown):
		e.kind = feedback
	case !blank(shown):
		e.text = shown
	}
	l.add(e)
}

// geminiCall reads a call, with its result. A call without a name is a later part of one that was read.
func (l *line) geminiCall(c value, group string) {
	t := tool{id: c.text("id"), name: c.text("name"), input: c.at("args")}
	if t.name != "" {
		l.add(entry{kind: call, group: group, tool: t})
	}
	status := c.text("status")
	if !among(" success error cancelled ", status) {
		return
	}
	r := result{id: t.id, failed: status == "error", stopped: status == "cancelled"}
	for _, part := range c.list("result") {
		told := part.at("functionResponse", "response")
		r.output += cmp.Or(told.text("output"), told.text("error"))
	}
	if t.input.isTrue("is_background") {
		r.running = r.id
	}
	if t.name == "run_shell_command" || t.name == "" {
		r.geminiShell()
	}
	l.add(entry{kind: outcome, result: r})
}

// geminiShell reads how a command ended out of its output. An exit status of 0 may be left out.
func (r *result) geminiShell() {
	s := "\n" + strings.ReplaceAll(strings.ReplaceAll(r.output, "<untrusted_context>\n", ""), "\n</untrusted_context>", "")
	i := strings.LastIndex(s, "\nExit Code: ")
	switch {
	case r.running != "", strings.Contains(s, "\nCommand moved to background"):
		r.running = r.id
	case pattern("gemini-stopped").MatchString(s):
		r.stopped = true
	case i >= 0:
		r.readStatus(s[i+len("\nExit Code: "):])
	case !r.failed && !r.stopped:
		r.status(0)
	}
	s = strings.Replace(s, "\nStdout: ", "\nOutput: ", 1)
	if _, out, ok := strings.Cut(s, "\nOutput: "); ok {
		r.output = pattern("gemini-end").ReplaceAllString(out, "")
	}
}
