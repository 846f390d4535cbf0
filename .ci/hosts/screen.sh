# Drives an agent's own screen in tmux. HOST.sh defines:
#   interactive FLAGS…   prints the command line of the agent
#   ready                is true when the screen takes a prompt
#   $interrupts          the keys that interrupt the agent
pane() { tmux -L "$tmux" capture-pane -p -t 0 -S -200 2>/dev/null; }
shows() { pane | grep -qE "$1"; }
keys() { for key; do tmux -L "$tmux" send-keys -t 0 "$key"; sleep 0.15; done; }
# enter TEXT: write into the agent's prompt and send it.
enter() { tmux -L "$tmux" send-keys -t 0 -l "$1"; sleep 1.5; keys Enter; }
# await SECONDS COMMAND…: wait until a command succeeds.
await() {
	local tries=$(($1 * 5))
	shift
	for _ in $(seq "$tries"); do "$@" && return; sleep 0.2; done
	return 1
}

# opened NAME SCENARIO FLAGS…: start the agent on a screen, with the model of that scenario.
opened() {
	command -v tmux >/dev/null || { skip "$1" "tmux is not installed"; return 1; }
	tmux=sidecoach-$host-$$
	base=http://127.0.0.1:$port/s/$2/$1
	export HOOK_LOG=$R/hook/$1 TERM=xterm-256color
	mkdir -p "$HOOK_LOG"
	(cd "$R/proj" && tmux -L "$tmux" new-session -d -x 150 -y 60 "$(interactive "${@:3}")")
	await 40 ready && sleep 2 && return
	closed "$1"
	line FAIL "$1" "the agent's screen does not come up"
	return 1
}
closed() {
	pane >"$R/out/$1.screen.txt"
	tmux -L "$tmux" kill-server 2>/dev/null
	seen "$1"
	status=0 took=
}

# paused NAME N: the hook has got N pauses of the run.
paused() { [ "$(grep -lE '"(Stop|AfterAgent|agentStop)"' "$R/hook/$1"/*/stdin.json 2>/dev/null | wc -l)" -ge "$2" ]; }
# answered NAME N: the hook has answered N pauses of the run.
answered() {
	local n=0 dir
	for dir in "$R/hook/$1"/*/; do
		[ -f "$dir/result" ] && grep -qE '"(Stop|AfterAgent|agentStop)"' "$dir/stdin.json" && n=$((n + 1))
	done
	[ "$n" -ge "$2" ]
}
