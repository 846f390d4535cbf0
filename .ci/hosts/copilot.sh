# Copilot CLI. It runs the hooks of Claude Code's settings, too.
package=@github/copilot
settings=$W/run/copilot/home/.copilot/hooks/sidecoach.json
project_settings=.github/hooks/sidecoach.json
writes=no
transcripts=$W/run/copilot/home/.copilot/session-state
wakes=yes
silent="Copilot CLI shows no message of a hook"
free=(--allow-all-tools --allow-all-paths)
denies=(--allow-all-tools --allow-all-paths --deny-tool=shell)
again=(--continue)
json=(--output-format json)
ms=

configure() {
	export COPILOT_OFFLINE=true COPILOT_MODEL=gpt-4.1 COPILOT_AUTO_UPDATE=false COPILOT_ALLOW_ALL=true
	mkdir -p "${settings%/*}"
}
ask() {
	COPILOT_PROVIDER_BASE_URL=$base/v1 COPILOT_PROVIDER_API_KEY=dummy timeout 120 \
		copilot -p "$1" "${free[@]}" --no-color "${@:2}" </dev/null
}
# Copilot CLI hides the variables of a provider from its hooks, and from the judge with them. A login needs none.
judging() {
	mkdir -p "$R/judge"
	printf '#!/bin/sh\nCOPILOT_OFFLINE=true COPILOT_PROVIDER_BASE_URL=%s COPILOT_PROVIDER_API_KEY=dummy exec %s "$@"\n' \
		"http://127.0.0.1:$port/s/judge/judge/v1" "$(command -v copilot)" >"$R/judge/copilot"
	chmod 755 "$R/judge/copilot"
	export PATH=$R/judge:$PATH
}
own() {
	wanted both || return
	unwrap
	"$R/bin/sidecoach" hook install claude --write >>"$R/install.txt" 2>&1
	(cd "$R/proj" && "$R/bin/sidecoach" hook install claude --write --project >>"$R/install.txt" 2>&1)
	wrap
	play both stuck "$prompt" "Claude Code's hook is installed as well: each pause is decided once" is 3 2
	unwrap
	"$R/bin/sidecoach" hook uninstall claude >>"$R/install.txt" 2>&1
	project
	wrap
}
interactive() {
	echo "COPILOT_PROVIDER_BASE_URL=$base/v1 COPILOT_PROVIDER_API_KEY=dummy copilot --allow-all-tools --allow-all-paths $*"
}
ready() { shows '^❯'; }
interrupts=C-c
plans=--plan
enter_plan() { :; }
leave_plan() { enter "$prompt"; await 30 shows 'Accept plan'; sleep 1; keys Down Enter; }
