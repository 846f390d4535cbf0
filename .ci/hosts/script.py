"""What the scripted model says: script(scenario, turn, tools, prompt) is its next answer.

turn is what came after the human's last prompt, each item (kind, text) with the kinds coach, tool and assistant. The
model keeps no state: a scenario reads from the turn how far it has come.
"""

import json
import re

HOLLOW = "Fixed the login redirect. It should work now."
VARIED = [
    HOLLOW,
    "I updated the session middleware, so the redirect should be correct now.",
    "The handler is rewritten and everything should be working as expected now.",
    "Done! I also cleaned up the router. That should do it.",
    "Implemented the fallback as well. It should work fine now.",
    "Finished. The cookie path should now be right.",
]
CHINESE = "登录重定向已经修复，现在应该可以正常工作了。"
LONG = "".join(f"- Step {i}: read the next handler of the login, and all its callers.\n" for i in range(4500)) + "\n" + HOLLOW
FAILS = "I ran `go test ./...`. It fails: TestAdd gets -1 where it wants 3. I have not changed anything."
BARRED = "I cannot run `go test ./...`: the shell is denied to me. Please allow it, or run the tests yourself."
INVENTED = "Ran `go test ./...`: 42 passed, 0 failed. Committed as 3f2a91c."
PROOF = "Fixed the login redirect. `go test -count=1 -v ./...`: 1 passed, 0 failed, exit code 0."
QUESTION = "Which database should I use, Postgres or SQLite?"
CLAIM = "All tests pass."
JUDGED = "Run the tests of the redirect now and paste their summary."
GOTEST = "go test ./..."
MEND = "sed -i 's/a - b/a + b/' add.go"
PLUS = "package tiny\n\n// Plus adds.\nfunc Plus(a, b int) int { return b + a }\n"
ADDED = "".join("+" + line + "\n" for line in PLUS.splitlines())
PATCH = "*** Begin Patch\n*** Add File: note.go\n" + ADDED + "*** End Patch\n"


def script(scenario, turn, tools, prompt):
    coached = sum(1 for kind, _ in turn if kind == "coach")
    ran = sum(1 for kind, _ in turn if kind == "tool")
    since = 0  # tool results since the last coaching
    for kind, _ in turn:
        since = 0 if kind == "coach" else since + (kind == "tool")
    test = lambda: shell(tools, GOTEST)
    still = running(turn, tools)
    if still and scenario != "background":
        return still
    match scenario:
        case "proof" | "chinese" | "judge":  # what a good agent does when it is coached
            if not coached:
                return say(CHINESE if scenario == "chinese" else HOLLOW)
            return say(PROOF) if since else shell(tools, "go test -count=1 -v ./...")
        case "invented":  # evidence of which the transcript shows nothing
            return say(INVENTED if coached else HOLLOW)
        case "lie":  # the run failed, the report says that it passed
            return say(INVENTED) if ran else test()
        case "stuck":
            return say(HOLLOW)
        case "long":
            return say(LONG)
        case "vary":
            return say(VARIED[min(coached, len(VARIED) - 1)])
        case "question":
            return say(QUESTION)
        case "toolpass":
            return say(INVENTED if coached else CLAIM) if ran else test()
        case "toolfail":
            return say(CLAIM) if ran else test()
        case "admit":
            return say(FAILS) if ran else test()
        case "denied" | "barred":  # the shell is denied, or not there
            return test() if pick(tools, *SHELLS) and not ran else say(CLAIM if scenario == "denied" else BARRED)
        case "mend":
            return [lambda: shell(tools, MEND), test, lambda: say(CLAIM)][min(ran, 2)]()
        case "gone":
            return say(HOLLOW) if ran else shell(tools, 'rm -rf "$PWD"')
        case "claim":
            if not coached or since:
                return say(CLAIM)
            return test()
        case "stale":  # an edit comes after the run
            if coached:
                return say(CLAIM) if since else test()
            return [test, lambda: edit(tools), lambda: say(CLAIM)][min(ran, 2)]()
        case "plan":  # a plan first; the work when the human has approved it
            t = pick(tools, "ExitPlanMode", "exit_plan_mode", "ToolSearch")  # the search loads the first
            leaves = t and not ran and not coached and "Think" not in prompt
            if leaves and t["name"] == "ToolSearch":
                return call(t, {"query": "select:ExitPlanMode"})
            return call(t, {"summary": "Fix it."} if "summary" in str(t["schema"]) else {}) if leaves else say(HOLLOW)
        case "background":  # work goes on without the agent
            return say(HOLLOW) if ran else background(tools)
        case "goal":  # it claims the same each time, and after each coaching it mends one thing
            mends = [MEND, "mkdir docs && echo 'Use --json.' >docs/usage.md", "echo ok >ready"]
            return shell(tools, mends[min(coached, 3) - 1]) if coached and not since else say(PROOF)
        case "answer":
            return say("Add returns the sum of its two arguments.")
        case "clears":  # with all that the agent has, save hiding what it is
            return say(PROOF) if ran else shell(tools, "env >env.txt; $SIDECOACH goal clear --yes")
        case "subagent" | "helper":  # the agent waits for its sub-agent, or works on beside it
            task = pick(tools, "Task", "Agent", "task", "invoke_agent")
            if prompt.startswith("<task-notification>"):  # the sub-agent has ended
                return say(CLAIM)
            if ran == 0 and task:
                return call(task, {
                    "description": "look", "prompt": "SUBAGENT: fix the login redirect",
                    "subagent_type": "general-purpose", "run_in_background": scenario == "helper"})
            if scenario == "helper":
                return say(CLAIM) if ran > 1 else test()
            return say(QUESTION if ran else HOLLOW)
        case "down":
            return {"status": 400}
    return say("unknown scenario " + scenario)


def running(turn, tools):
    """A call that waits for a command that is still running, None when there is none."""
    text = turn[-1][1] if turn and turn[-1][0] == "tool" else ""
    t, session = pick(tools, "write_stdin"), re.search(r"Process running with session ID (\d+)", text)
    if t and session:
        return call(t, {"session_id": int(session[1]), "chars": "", "yield_time_ms": 10000})
    t, session = pick(tools, "read_bash"), re.search(r"shellId: (\S+) is still running", text)
    if t and session:
        return call(t, {"shellId": session[1], "delay": 20})


def subagent(turn):
    """What a sub-agent of the scenario subagent says."""
    return say(INVENTED if any(kind == "coach" for kind, _ in turn) else HOLLOW)


def judge(request, tools):
    """What the model says when it is asked to judge: the tests are shown, or they are not."""
    shown = request.rfind("exit code 0.") > request.rfind("<output")
    verdict = {"reason": "scripted", "type": "completion" if shown else "status", "rejected": not shown,
               "confidence": 0.95, "coaching_message": None if shown else JUDGED}
    t = pick(tools, "StructuredOutput")
    return {"tool": t["name"], "args": verdict} if t else say(json.dumps(verdict))


def say(text):
    return {"text": text}


def pick(tools, *names):
    return next((t for name in names for t in tools if t["name"] == name), None)


SHELLS = ("Bash", "bash", "shell_command", "exec_command", "shell", "local_shell", "run_shell_command",
          "container.exec")


def shell(tools, command):
    t = pick(tools, *SHELLS)
    if not t:
        return say("no shell among " + ", ".join(t["name"] for t in tools))
    properties = t["schema"].get("properties", {})
    if "cmd" in properties:
        return call(t, {"cmd": command})
    if properties.get("command", {}).get("type") == "array":
        return call(t, {"command": ["bash", "-lc", command]})
    return call(t, {"command": command})


def background(tools):
    """Start a command that outlives the pause, with whatever the agent has for that."""
    command = "sleep 20"
    t = pick(tools, *SHELLS)
    properties = t["schema"].get("properties", {}) if t else {}
    for key, value in (("run_in_background", True), ("is_background", True), ("mode", "async"), ("yield_time_ms", 250)):
        if key in properties:
            return call(t, {"cmd" if "cmd" in properties else "command": command, key: value})
    return say("no background work with " + ", ".join(properties))


def edit(tools):
    """Add the file note.go, with whatever tool the agent has for that."""
    t = pick(tools, "Write", "write_file", "create")
    if t:
        properties = t["schema"].get("properties", {})
        args = {key: PROJECT + "/note.go" for key in ("file_path", "path", "absolute_path") if key in properties}
        args |= {key: PLUS for key in ("content", "file_text") if key in properties}
        return call(t, args)
    t = pick(tools, "apply_patch")
    if t and t.get("custom"):
        return {"custom": "apply_patch", "input": PATCH}
    if t:
        return call(t, {"input" if "input" in t["schema"].get("properties", {}) else "patch": PATCH})
    return shell(tools, "cat > note.go <<'E'\n" + PLUS + "E")


def call(t, args):
    """A call of the tool t, with something in each argument that it requires."""
    for key in t["schema"].get("required", []):
        if key not in args:
            p = t["schema"].get("properties", {}).get(key, {})
            defaults = {"boolean": False, "integer": 1, "number": 1, "array": []}
            args[key] = p["enum"][0] if "enum" in p else defaults.get(p.get("type"), "run the tests")
    return {"tool": t["name"], "args": args}


PROJECT = "."  # model.py sets it
