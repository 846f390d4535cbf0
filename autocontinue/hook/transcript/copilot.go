package transcript

import (
	"cmp"
	"strings"
)

// readCopilot reads an event of a session of Copilot CLI. A call stands there twice, in the answer that asked for it
// and when it began; "agentId" marks what a sub-agent did. A hook's reason is a user message like the human's.
func readCopilot(v value, id string) (l line) {
	kind, d := v.text("type"), v.at("data")
	if group, _, _ := strings.Cut(kind, "."); !d.isObject() || !isPhrase("copilot-line", group) {
		return l
	}
	l.known = true
	id = cmp.Or(v.text("id"), id)
	if v.text("agentId") != "" || d.text("parentToolCallId") != "" {
		return l
	}
	say := func(text string) {
		if !blank(text) {
			l.add(entry{kind: message, id: id, group: id, text: text})
		}
	}
	switch kind {
	case "session.start":
		l.session, l.dir = d.text("sessionId"), d.text("context", "cwd")
	case "user.message":
		e := entry{kind: human, id: v.text("id"), text: d.text("content")}
		typed := among(" user cli ", cmp.Or(d.text("source"), "user")) && !d.isTrue("isAutopilotContinuation")
		if !typed || strings.HasPrefix(strings.TrimSpace(e.text), "<skill-context") {
			e.kind = notice
			if isOurFeedback(e.text) {
				e.kind = feedback
			}
		}
		l.add(e)
		if name := d.text("agentMode"); name != "" {
			l.add(entry{kind: mode, text: name})
		}
	case "assistant.message":
		say(d.text("content"))
		for _, r := range d.list("toolRequests") { // an answer with calls is not the last
			l.copilotCall(r, r.text("name"))
		}
	case "tool.execution_start":
		l.copilotCall(d, d.text("toolName"))
	case "tool.execution_complete":
		l.add(entry{kind: outcome, result: copilotResult(d)})
	case "session.task_complete": // its last words, in autopilot
		say(d.text("summary"))
	case "system.notification": // that something in the background ended
		r := result{ended: d.text("kind", "shellId")}
		r.stopped = !r.readStatus(d.text("kind", "exitCode"))
		l.add(entry{kind: notice, result: r})
	case "session.mode_changed":
		l.add(entry{kind: mode, text: d.text("newMode")})
	case "abort":
		l.add(entry{kind: abort})
	}
	return l
}

// copilotCall reads a call. Its arguments are an object, a text that holds one, or a patch.
func (l *line) copilotCall(c value, name string) {
	t := tool{id: c.text("toolCallId"), name: name, input: c.at("arguments"), patch: c.text("arguments")}
	if in, ok := parse([]byte(t.patch)); ok {
		t.input = in
	}
	l.add(entry{kind: call, tool: t})
}

// copilotResult reads what became of a call. A shell's exit status stands in a field of its own or, before that, in the
// last line of what the model was told.
func copilotResult(d value) result {
	r := result{id: d.text("toolCallId"), output: cmp.Or(d.text("result"), d.text("result", "content"))}
	if d.isFalse("success") {
		code := d.text("error", "code")
		r.failed = true
		r.denied = among(" denied rejected ", code)
		r.stopped = among(" aborted cancelled timeout ", code)
	}
	trimmed := strings.TrimRight(r.output, " \n")
	last := trimmed[strings.LastIndexByte(trimmed, '\n')+1:]
	_, status, ended := strings.Cut(last, "with exit code ")
	switch {
	case !strings.HasPrefix(last, "<"):
	case ended:
		if r.readStatus(status) {
			r.output = strings.TrimSuffix(trimmed, last)
		}
	case pattern("copilot-running").MatchString(last):
		r.running = cmp.Or(find("copilot-shell", last), "shell")
		r.task = strings.Contains(last, "started in background") // the host tells the agent of its end
	}
	r.readStatus(d.text("shellExecution", "exitCode"))
	return r
}
