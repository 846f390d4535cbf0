#!/usr/bin/env python3
"""record.py EVIDENCE HOST SCENARIO… >autocontinue/hook/testdata/recorded/HOST.txtar

Makes test data of what a run of the kit has recorded: for each scenario the agent's transcript, and its events in order.
Paths, IDs and times become neutral, and long texts are cut: they are the agent's own prompts. The file "events" of a
scenario has a line for each event: its file, how many lines of the transcript there were, and the answer.
"""
import glob, json, os, re, sys

evidence, host, scenarios = sys.argv[1], sys.argv[2], sys.argv[3:]
LONG = 90  # characters of a text that is not cut
SAID = ("prompt", "prompt_response", "last_assistant_message", "content", "text", "output", "stdout", "aggregated_output")
LEFT_OUT = ("base_instructions", "state", "commands", "tools", "accountingSnapshot", "usage", "rate_limits")
names = {}


def neutral(text):
    root = os.path.join(os.path.dirname(os.path.abspath(evidence)), "run", host)
    text = text.replace(root, "/home/ada").replace(re.sub(r"[^A-Za-z0-9]", "-", root), "-home-ada")
    text = text.replace("/home/ada/home", "/home/ada")
    text = re.sub(r"(?i)(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", lambda m: name(m[0], "0199aaaa-0000-7000-8000-%012x"), text)
    text = re.sub(r"(?<=[-_\"'>/ ])[0-9a-f]{16,64}\b", lambda m: name(m[0], "%%0%dx" % len(m[0])), text)
    return re.sub(r"\b20\d\d-\d\d-\d\dT\d\d(?=[:-])", "2026-11-02T10", text)


def name(old, form):
    return names.setdefault(old, form % (len(names) + 1))


def cut(value, key="", role=""):
    if isinstance(value, dict):
        role = value.get("role") or role
        return {k: cut(v, k, role) for k, v in value.items() if k not in LEFT_OUT}
    if isinstance(value, list):
        return [cut(v, key, role) for v in value[:5]]
    if not isinstance(value, str) or len(value) <= LONG or value.startswith("/"):
        return value
    own = role in ("developer", "system") or value.startswith(("<environment", "<session", "<skills", "<user_inst"))
    return value if key in SAID and not own else value[:40] + "…"


def lines(file):
    with open(file) as f:
        return [json.dumps(cut(json.loads(neutral(line))), ensure_ascii=False, separators=(",", ":")) for line in f if line.strip()]


def answer(text):
    reply = json.loads(text) if text.strip() else None
    if reply is None:
        return "none"
    return "continue" if reply.get("decision") in ("block", "deny") or "followup_message" in reply else "stop"


sections = []
for scenario in scenarios:
    calls = sorted(glob.glob(os.path.join(evidence, host, "hook", scenario, "*")))
    events, table, whole = [], [], {}
    for i, call in enumerate(calls, 1):
        event = json.load(open(os.path.join(call, "stdin.json")))
        kind = event.get("hook_event_name") or "event"
        path = event.get("agent_transcript_path") or event.get("transcript_path") or ""
        now = os.path.join(call, "transcript-then.jsonl")
        count = len(lines(now)) if os.path.exists(now) else 0
        last = path and glob.glob(os.path.join(evidence, host, "transcripts", "**", os.path.basename(path)), recursive=True)
        last = [f for f in last or () if os.path.basename(os.path.dirname(f)) == os.path.basename(os.path.dirname(path))]
        if last:
            whole[neutral(path)] = rows = lines(last[0])
            said = json.dumps(event.get("last_assistant_message"), ensure_ascii=False)
            if host == "copilot" and kind == "Stop":
                said = '"hookType":"agentStop"'
            if not any(said in row for row in rows[max(0, count - 4):count]):  # a transcript may lag behind the event
                count = next((n + 1 for n in range(count, len(rows)) if said in rows[n]), count)
        events.append((f"{i}-{kind}.json", neutral(json.dumps(event, ensure_ascii=False))))
        table.append(f"{i}-{kind}.json {count} {answer(open(os.path.join(call, 'stdout.json')).read())}")
    sections.append((scenario + "/events", "\n".join(table)))
    sections += [(scenario + "/" + n, t) for n, t in events]
    sections += [(scenario + "/transcript " + p, "\n".join(rows)) for p, rows in whole.items()]
print("Recorded in", host, "by .ci/hosts. Paths, IDs and times were made neutral, and long texts cut.")
for n, text in sections:
    print(f"-- {n} --\n{text}")
