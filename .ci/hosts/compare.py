#!/usr/bin/env python3
"""compare.py SIDECOACH TRANSCRIPTS RECORDED: holds what the live hook decided (the journal) against what replay makes
of the agent's own transcripts, session by session, and counts the totals of log by hand.

A session differs as expected when the hook did not decide in it, or decided by a goal, which replay does not know.
RECORDED has the events by the name of the run."""
import glob, json, os, subprocess, sys

sidecoach, transcripts, recorded = sys.argv[1:4]
UNDECIDED = ("missing", "readonly", "crash", "exit2", "hang", "untrusted", "shadow", "down", "interrupt",
             "goal", "asked", "never", "clears", "locked", "mark", "quote", "reinstall", "gone")


def rows(*args):
    out = subprocess.run([sidecoach, *args], capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.strip()]


def key(event):
    return event.get("session_id") or event.get("sessionId") or ""


undecided = set()
for name in UNDECIDED:
    for file in glob.glob(os.path.join(recorded, name, "*", "stdin.json")):
        undecided.add(key(json.load(open(file))))

live, replayed, first, totals = {}, {}, {}, {}
files = " ".join(glob.glob(os.path.join(transcripts, "**"), recursive=True))  # a file or its folder names its session
for row in rows("log", "--json"):
    totals = row.get("totals", totals)
    if "decision" in row and not row["decision"].get("replayed"):  # the second of two hooks of a pause
        d = row["decision"]
        live.setdefault(row["session"], []).append((d["action"], d["reason"], bool(row.get("shadow"))))
        first.setdefault(row["session"], row.get("preview", "")[:50])
for row in rows("replay", transcripts, "--json"):
    if "pause" in row:
        p = row["pause"]
        replayed.setdefault(p["session"], []).append((p["action"], p["reason"], False))

# A continuation is accepted when the turn that it belongs to ends with an accepted completion.
accepted = other = 0
for decisions in live.values():
    n = 0
    for action, reason, shadow in decisions:
        if shadow or action == "suppress":
            continue
        if action == "continue":
            n += 1
            continue
        accepted += n * (reason == "completion")
        other += n * (reason != "completion")
        n = 0

same = 0
for session in list(live) + [s for s in replayed if s not in live]:
    a, b = live.get(session), replayed.get(session)
    if a == b:
        same += 1
        continue
    # An agent may compact with a sub-agent of its own, which keeps no transcript.
    inner = "/" in session and b is None and {reason for _, reason, _ in a or ()} == {"hold"}
    failed = any(reason == "error" for _, reason, _ in a or ())  # the hook could not decide, and says so
    deleted = b is None and session.split("/")[0][:8] not in files  # the agent tidied up
    expected = a is None or inner or failed or deleted or session.split("/")[0] in undecided
    print("EXPECTED" if expected else "WRONG", session, repr(first.get(session, "")), "\n  live  ", a, "\n  replay", b)
said = totals.get("continues", {})
if (said.get("accepted"), said.get("not_accepted")) != (accepted, other):
    print(f"TOTALS say {said}, but {accepted} continuations were accepted and {other} were not")
pauses, again = (sum(map(len, d.values())) for d in (live, replayed))
print(f"{same} sessions the same; live {pauses} pauses, replay {again}")
