#!/bin/sh
# Runs AGENT ARG... MESSAGE until its output is for the human, and prints that output. The first message is PROMPT.
# AGENT must go on with its own conversation when it runs again; many have a flag for that, such as --continue.
# sidecoach log --session "$PWD" shows the decisions.
[ -n "${1-}" ] && [ -n "${2-}" ] || { echo 'usage: loop.sh PROMPT AGENT [ARG]...' >&2; exit 64; }
message=$1 turn=$(date +%s).$$ out=$(mktemp) || exit
shift
trap 'rm -f "$out"' EXIT; trap 'exit 1' HUP INT TERM
while [ -n "$message" ]; do
	"$@" "$message" >"$out" && failed= || failed=--failed
	message=$(sidecoach --session "$PWD" --turn "$turn" $failed --print message "$out") || break
done
cat "$out" && [ -z "$failed" ]
