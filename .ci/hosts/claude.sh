# Claude Code. Its settings have a Stop hook of the human's own, tabs, and no line break at the end.
package=@anthropic-ai/claude-code
settings=$W/run/claude/home/.claude/settings.json
project_settings=.claude/settings.local.json
writes=yes
transcripts=$W/run/claude/home/.claude/projects
wakes=yes
silent="claude -p prints no message of a hook"
free=(--dangerously-skip-permissions)
denies=(--permission-mode default)
again=(--continue)
json=(--output-format stream-json --verbose)
ms=

configure() {
	export ANTHROPIC_API_KEY=dummy-key-for-a-scripted-model CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
	export DISABLE_TELEMETRY=1 DISABLE_AUTOUPDATER=1 IS_SANDBOX=1
	export CLAUDE_CODE_AUTO_COMPACT_WINDOW=200000 # the context of some models is five times as large
	mkdir -p "${settings%/*}"
	cat >"$HOME/.claude.json" <<-J # what the first start asks on the screen
		{"hasCompletedOnboarding": true, "theme": "dark", "bypassPermissionsModeAccepted": true,
		 "customApiKeyResponses": {"approved": ["${ANTHROPIC_API_KEY: -20}"], "rejected": []},
		 "projects": {"$R/proj": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}
	J
	{
		printf '{\n\t"model": "sonnet",\n\t"hooks": {\n\t\t"Stop": '
		printf '[{"hooks": [{"type": "command", "command": "cat >>%s"}]}]\n\t},' "$R/own-hook.txt"
		printf '\n\t"env": {"A": "\\u00e9 <b>"}  }'
	} >"$settings"
	cp "$settings" "$R/settings.before"
}
ask() { ANTHROPIC_BASE_URL=$base timeout 120 claude -p "$1" "${free[@]}" "${@:2}" </dev/null; }
own() {
	[ -n "${ONLY-}" ] || check own-hook "the human's own Stop hook ran as well" [ -s "$R/own-hook.txt" ]
	play subagent subagent "Ask a sub-agent" "a sub-agent's hollow claim is continued" between 1 3
	play helper helper "Run the tests, and have a sub-agent fix the login" \
		"a sub-agent in the background is continued; the agent that works on is not" \
		eval 'between 1 3 && [ $requests -le 9 ]'
}
interactive() { echo "ANTHROPIC_BASE_URL=$base claude ${*:---dangerously-skip-permissions}"; }
ready() { shows '^❯|^> |\? for shortcuts|bypass permissions'; }
interrupts=Escape
plans="--allow-dangerously-skip-permissions --permission-mode plan"
enter_plan() { :; }
leave_plan() { enter "$prompt"; await 30 shows 'Exit plan mode|Would you like to proceed'; sleep 1; keys Enter; }
