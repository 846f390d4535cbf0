#!/usr/bin/env python3
"""A scripted model for real agents, on 127.0.0.1 only.

    model.py PORT LOGFILE

It speaks the agents' four APIs: Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini. The base
URL is http://127.0.0.1:PORT/s/SCENARIO/RUN; the rest of the path is the API's. It keeps no state: what it answers
depends on the conversation that it gets. Each request is a line of LOGFILE. Requests without tools (titles, routers,
summaries) are side requests and get a neutral answer. MODEL_PROJECT is the agent's project, MODEL_DELAY the seconds
that an answer takes.
"""
import json, os, re, sys, threading, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import script

COACH = "[System Coach]"
QUOTES = "Why were you told: "  # how the human quotes a coaching
COMPACT = re.compile(r"detailed summary of|CONTEXT CHECKPOINT COMPACTION|<state_snapshot>|summar(y|ize) .{0,40}conversation", re.I)
SIDE = json.dumps({"reasoning": "done", "next_speaker": "user", "title": "Login redirect", "isNewTopic": False,
                   "model_choice": "flash"})
NOTICE = re.compile(r"\s*<(system-reminder|environment_context|session_context|mode_changed_notice)|Tool loaded\.$")


# --- The conversation in each API: a list of (kind, text) with the kinds user, assistant and tool, and the tools.

def flat(c):
    if isinstance(c, list):
        return "\n".join(flat(x) for x in c)
    if isinstance(c, dict):
        return flat(c.get("text") or c.get("content") or c.get("output") or "")
    return c if isinstance(c, str) else ""


def from_anthropic(body):
    items, loaded = [], set()  # the deferred tools that a search has loaded: a model does not see the others
    for m in body.get("messages", []):
        blocks = [{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"]
        for b in blocks:
            match b.get("type"):
                case "tool_result":
                    found = {x["tool_name"] for x in b.get("content") or [] if type(x) is dict and "tool_name" in x}
                    loaded |= found
                    if not found:
                        items.append(("tool", flat(b.get("content"))))
                case "tool_use": items.append(("assistant", "<call>"))
                case "text": items.append((m["role"], b["text"]))
    tools = [t for t in body.get("tools", []) if not t.get("defer_loading") or t["name"] in loaded]
    return items, [{"name": t["name"], "schema": t.get("input_schema", {})} for t in tools]


def from_responses(body):
    items, tools, given = [], [], body.get("input", [])
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    for m in given:
        kind = m.get("type", "message")
        if kind == "message":
            items.append((m.get("role"), flat(m.get("content"))))
        elif kind.endswith("_call_output"):
            items.append(("tool", flat(m.get("output"))))
        elif kind.endswith("_call"):
            items.append(("assistant", "<call>"))
    for t in body.get("tools", []):
        match t.get("type"):
            case "function": tools.append({"name": t["name"], "schema": t.get("parameters", {})})
            case "custom": tools.append({"name": t["name"], "schema": {}, "custom": True})
            case "local_shell": tools.append({"name": "local_shell", "schema": {}})
    return items, tools


def from_chat(body):
    items = []
    for m in body.get("messages", []):
        kind, text = m["role"], flat(m.get("content"))
        items.append((kind, text or "<call>" if kind == "assistant" else text))
    functions = [t["function"] for t in body.get("tools") or [] if t.get("function")]
    return items, [{"name": f["name"], "schema": f.get("parameters", {})} for f in functions]


def from_gemini(body):
    items, tools = [], []
    for m in body.get("contents", []):
        for p in m.get("parts", []):
            if "functionResponse" in p:
                items.append(("tool", json.dumps(p["functionResponse"].get("response"))))
            elif "functionCall" in p:
                items.append(("assistant", "<call>"))
            elif "text" in p:
                items.append(("assistant" if m.get("role") == "model" else "user", p["text"]))
    for t in body.get("tools") or []:
        for f in t.get("functionDeclarations", []):
            tools.append({"name": f["name"], "schema": f.get("parametersJsonSchema") or f.get("parameters") or {}})
    return items, tools


def last_turn(items):
    """The items after the human's last prompt, ours as coach; the text that the model reacts to; and that prompt."""
    turn, last, prompt = [], "", ""
    for kind, text in items:
        if kind == "user" and COACH in text and QUOTES not in text:
            turn.append(("coach", text))
            last = text
        elif kind == "user" and text.strip() and not NOTICE.match(text):
            turn, last, prompt = [], text, text
        elif kind in ("tool", "assistant"):
            turn.append((kind, text))
            last = "<tool> " + text if kind == "tool" else last
    return turn, last, prompt


def compacted(items):
    """Whether a summary stands in for what was said before."""
    return any("The agent works on it." in text for _, text in items)


def new_id(prefix):
    return prefix + uuid.uuid4().hex[:20]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.reply({})

    def do_GET(self):
        models = {"object": "list", "data": [{"id": "stub-model", "object": "model"}], "models": []}
        self.reply(models if "/models" in self.path else {})

    def send(self, kind, data, status=200):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def reply(self, value, status=200):
        self.send("application/json", json.dumps(value).encode(), status)

    def events(self, events, named=True):
        out = ""
        for name, value in events:
            out += f"event: {name}\n" if named else ""
            out += f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n"
        self.send("text/event-stream", out.encode())

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "zstd":
            return self.reply({"error": "no zstd"}, 415)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            return self.reply({})
        m = re.match(r"/s/([a-z-]+)/([a-z0-9-]+)(/[^?]*)", self.path)
        scenario, run, path = m.groups() if m else ("none", "none", self.path)
        if "count_tokens" in path or ":countTokens" in path:
            return self.reply({"input_tokens": 10, "totalTokens": 10})
        for end, api in (("/messages", "anthropic"), ("/responses", "responses"), ("/chat/completions", "chat")):
            if path.endswith(end):
                break
        else:
            if "enerateContent" not in path:
                return self.reply({})
            api = "gemini"
        items, tools = globals()["from_" + api](body)
        turn, last, prompt = last_turn(items)
        fast = scenario.endswith("-fast")  # a model that answers at once
        self.full = scenario.endswith("-full") and not compacted(items)  # its context is full
        summarizes = bool(items) and items[-1][0] == "user" and COMPACT.search(items[-1][1]) and COACH not in items[-1][1]
        judging = b"You judge why a coding agent paused" in raw
        if judging:
            answer = script.judge(raw.decode(), tools)
        elif summarizes:
            answer = script.say("The human asked for a fix. The agent works on it.")
        elif not tools:
            answer = script.say(SIDE)
        elif any("SUBAGENT:" in text for kind, text in items if kind == "user"):
            answer = script.subagent(turn)
        else:
            answer = script.script(scenario.removesuffix("-fast").removesuffix("-full"), turn, tools, prompt)
        if ("tool" in answer or "custom" in answer) and not judging:
            answer["text"] = "Let me do that now."  # agents talk while they work
        row = {"t": time.time(), "scenario": scenario, "run": run, "api": api, "side": judging or not tools or bool(summarizes),
               "judge": judging, "summarizes": bool(summarizes),
               "coached": sum(1 for kind, _ in turn if kind == "coach"), "told": last[-3000:], "answer": answer,
               "tools": [t["name"] for t in tools]}
        with LOCK, open(LOG, "a") as f:
            f.write(json.dumps(row) + "\n")
        if "status" in answer:
            error = {"type": "invalid_request_error", "code": 400, "status": "INVALID_ARGUMENT", "message": "down"}
            return self.reply({"type": "error", "error": error}, answer["status"])
        if tools and not fast:
            time.sleep(DELAY)
        try:
            getattr(self, "as_" + api)(body, answer, path)
        except BrokenPipeError:
            pass  # the agent was interrupted

    def as_anthropic(self, body, answer, _):
        message = {"id": new_id("msg_"), "type": "message", "role": "assistant", "model": body.get("model", "stub"),
                   "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {"input_tokens": 170_000 if self.full else 10, "output_tokens": 1}}
        blocks, stop = [], "tool_use" if "tool" in answer else "end_turn"
        if answer.get("text"):
            delta = {"type": "text_delta", "text": answer["text"]}
            blocks.append(({"type": "text", "text": answer["text"]}, {"type": "text", "text": ""}, delta))
        if "tool" in answer:
            block = {"type": "tool_use", "id": new_id("toolu_"), "name": answer["tool"], "input": answer["args"]}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(answer["args"])}
            blocks.append((block, dict(block, input={}), delta))
        if not body.get("stream"):
            return self.reply(dict(message, content=[b for b, _, _ in blocks], stop_reason=stop))
        events = [{"type": "message_start", "message": message}]
        for i, (_, start, delta) in enumerate(blocks):
            events += [{"type": "content_block_start", "index": i, "content_block": start},
                       {"type": "content_block_delta", "index": i, "delta": delta},
                       {"type": "content_block_stop", "index": i}]
        events += [{"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
                    "usage": {"output_tokens": 12}},
                   {"type": "message_stop"}]
        self.events([(e["type"], e) for e in events])

    def as_responses(self, body, answer, _):
        response = {"id": new_id("resp_"), "object": "response", "model": body.get("model")}
        items = []
        if answer.get("text"):
            items.append({"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed",
                          "content": [{"type": "output_text", "text": answer["text"], "annotations": []}]})
        if "custom" in answer:
            items.append({"type": "custom_tool_call", "id": new_id("ctc_"), "status": "completed",
                          "call_id": new_id("call_"), "name": answer["custom"], "input": answer["input"]})
        elif "tool" in answer:
            items.append({"type": "function_call", "id": new_id("fc_"), "call_id": new_id("call_"),
                          "name": answer["tool"], "arguments": json.dumps(answer["args"]), "status": "completed"})
        tokens = 250_000 if self.full else 10
        usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 5}
        done = dict(response, status="completed", output=items, usage=usage)
        if not body.get("stream"):
            return self.reply(done)
        events = [{"type": "response.created", "response": dict(response, status="in_progress", output=[])}]
        for i, item in enumerate(items):
            text = item["type"] == "message"
            events.append({"type": "response.output_item.added", "output_index": i,
                           "item": dict(item, content=[]) if text else item})
            if text:
                events.append({"type": "response.output_text.delta", "item_id": item["id"], "output_index": i,
                               "content_index": 0, "delta": answer["text"]})
            events.append({"type": "response.output_item.done", "output_index": i, "item": item})
        events.append({"type": "response.completed", "response": done})
        self.events([(e["type"], dict(e, sequence_number=i)) for i, e in enumerate(events)])

    def as_chat(self, body, answer, _):
        base = {"id": new_id("chatcmpl-"), "created": int(time.time()), "model": body.get("model")}
        message, finish = {"role": "assistant", "content": answer.get("text")}, "stop"
        if "tool" in answer:
            function = {"name": answer["tool"], "arguments": json.dumps(answer["args"])}
            message["tool_calls"] = [{"index": 0, "id": new_id("call_"), "type": "function", "function": function}]
            finish = "tool_calls"
        tokens = 120_000 if self.full else 10
        usage = {"prompt_tokens": tokens, "completion_tokens": 5, "total_tokens": tokens + 5}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self.reply(dict(base, object="chat.completion", choices=[choice], usage=usage))

        def chunk(choices, **more):
            return None, dict(base, object="chat.completion.chunk", choices=choices, **more)
        chunks = [chunk([{"index": 0, "delta": message, "finish_reason": None}]),
                  chunk([{"index": 0, "delta": {}, "finish_reason": finish}]), chunk([], usage=usage)]
        self.events([*chunks, (None, "[DONE]")], named=False)

    def as_gemini(self, _, answer, path):
        parts = [{"text": answer["text"]}] if answer.get("text") else []
        if "tool" in answer:
            parts.append({"functionCall": {"name": answer["tool"], "args": answer["args"]}})
        content = {"role": "model", "parts": parts}
        tokens = 900_000 if self.full else 10
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 5, "totalTokenCount": tokens + 5}
        value = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage,
                 "modelVersion": "stub"}
        if "streamGenerateContent" in path:
            return self.events([(None, value)], named=False)
        self.reply(value)


if __name__ == "__main__":
    PORT, LOG = int(sys.argv[1]), sys.argv[2]
    script.PROJECT = os.environ.get("MODEL_PROJECT", os.getcwd())
    DELAY = float(os.environ.get("MODEL_DELAY") or 0.8)  # a real model takes longer
    LOCK = threading.Lock()
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
