# Gemini CLI. Its settings have an AfterAgent hook of the human's own, and odd white space.
package=@google/gemini-cli
settings=$W/run/gemini/home/.gemini/settings.json
project_settings=.gemini/settings.json
writes=yes
transcripts=$W/run/gemini/home/.gemini/tmp
wakes=no
silent=
free=(-y)
denies=(--approval-mode auto_edit)
again=(-r latest)
json=(-o stream-json)
ms=000

configure() {
	export GEMINI_API_KEY=dummy GEMINI_CLI_TRUST_WORKSPACE=true GEMINI_TELEMETRY_ENABLED=false
	mkdir -p "${settings%/*}"
	{
		printf '{\n   "security": {"auth": {"selectedType": "gemini-api-key"}},\n\t"general": {"enableAutoUpdate": false}, '
		printf '"privacy": {"usageStatisticsEnabled": false},\n "hooks": {"AfterAgent": '
		printf '[{"hooks": [{"name":"own","type": "command", "command": "cat >>%s"}]}]}  }' "$R/own-hook.txt"
	} >"$settings"
	cp "$settings" "$R/settings.before"
}
ask() { GOOGLE_GEMINI_BASE_URL=$base timeout 120 gemini -p "$1" "${free[@]}" -m gemini-2.5-flash "${@:2}" </dev/null; }
own() {
	[ -n "${ONLY-}" ] || check own-hook "the human's own AfterAgent hook ran as well" [ -s "$R/own-hook.txt" ]
}
interactive() { echo "GOOGLE_GEMINI_BASE_URL=$base gemini -m gemini-2.5-flash ${*:--y}"; }
ready() { shows 'Type your message'; }
interrupts=Escape
blind="neither the events nor the sessions of Gemini CLI tell plan mode"
