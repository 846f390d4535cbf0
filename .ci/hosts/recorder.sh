#!/usr/bin/env bash
# Stands where the sidecoach binary was when hook install named it. It keeps each event, the transcript as it then was
# and the answer in $HOOK_LOG, then behaves the same. A file "mode" beside it plays a fault:
#   hang    sleep longer than any host waits
#   crash   die by a signal
#   exit2   print half an answer and exit with 2
#   slow    take five seconds before the program starts
real=$0.real
[ "${1-}" = hook ] && [ -n "${HOOK_LOG-}" ] || exec "$real" "$@"
dir=$HOOK_LOG/$(date +%s%N).$$
mkdir -p "$dir"
mode=
[ -f "${0%/*}/mode" ] && mode=$(<"${0%/*}/mode")
cat >"$dir/stdin.json"
case $mode in
hang) exec sleep 300 ;;
crash) kill -SEGV $$ ;;
exit2) echo '{"decision":"block"'; echo "panic: oh" >&2; exit 2 ;;
slow) sleep 5 ;;
esac
transcript=$(sed -nE 's/.*"transcript_?[pP]ath":"([^"]*)".*/\1/p' "$dir/stdin.json")
agent=$(sed -nE 's/.*"agent_transcript_path":"([^"]*)".*/\1/p' "$dir/stdin.json")
transcript=${agent:-$transcript}
[ -f "$transcript" ] && cp "$transcript" "$dir/transcript-then.jsonl"
printf '%s\n' "$@" >"$dir/args"
from=${EPOCHREALTIME/[.,]/}
"$real" "$@" <"$dir/stdin.json" >"$dir/stdout.json" 2>"$dir/stderr"
status=$?
echo "status=$status ms=$(((${EPOCHREALTIME/[.,]/} - from) / 1000))" >"$dir/result"
cat "$dir/stdout.json"
cat "$dir/stderr" >&2
exit $status
