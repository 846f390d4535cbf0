#!/bin/sh
# Usage: loop.sh PROMPT AGENT [ARG]...   runs AGENT ARG... MESSAGE until what it prints is for the human, and prints that.
set -u
message=$1 turn=$(date +%s).$$ out=$(mktemp) || exit
shift
trap 'rm -f "$out"' EXIT
while [ -n "$message" ]; do
	"$@" "$message" >"$out" && failed= || failed=--failed
	message=$(sidecoach --session "$PWD" --turn "$turn" $failed --print message "$out") || break
done
cat "$out"
