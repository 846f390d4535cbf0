# Codex CLI. It runs no hook that the human has not trusted.
package=@openai/codex
export CODEX_HOME=$W/run/codex/home/.codex
settings=$CODEX_HOME/hooks.json
project_settings=.codex/hooks.json
writes=no
transcripts=$CODEX_HOME/sessions
wakes=no
silent="codex exec prints no message of a hook"
trust=--dangerously-bypass-hook-trust
free=(--dangerously-bypass-approvals-and-sandbox)
denies=(--sandbox read-only)
again=(resume --last)
json=(--json)
ms=

configure() {
	export STUB_KEY=dummy
	mkdir -p "$CODEX_HOME"
	cat >"$CODEX_HOME/config.toml" <<-'T'
		model = "gpt-5.4"
		model_provider = "stub"
		model_auto_compact_token_limit = 100000
		check_for_update_on_startup = false
		[model_providers.stub]
		name = "stub"
		base_url = "http://127.0.0.1:1/v1"
		env_key = "STUB_KEY"
		wire_api = "responses"
		request_max_retries = 0
		stream_max_retries = 0
		[analytics]
		enabled = false
	T
	printf '[projects."%s"]\ntrust_level = "trusted"\n' "$R/proj" >>"$CODEX_HOME/config.toml"
}
ask() { # the prompt comes last, after "resume --last"
	timeout 120 codex exec --skip-git-repo-check "${free[@]}" $trust \
		-c "model_providers.stub.base_url=\"$base/v1\"" "${@:2}" "$1" </dev/null
}
# The hook's own codex reads the model's address from config.toml.
judging() { sed -i "s|http://127.0.0.1:[^\"]*|http://127.0.0.1:$port/s/judge/judge/v1|" "$CODEX_HOME/config.toml"; }
own() {
	trust=
	play untrusted stuck "$prompt" "an untrusted hook is not run" is 1 0
	trust=--dangerously-bypass-hook-trust
}
interactive() {
	echo "codex --disable daemon_auto_start --dangerously-bypass-approvals-and-sandbox $trust" \
		"-c 'model_providers.stub.base_url=\"$base/v1\"' $*"
}
ready() { shows '^›|for shortcuts|context left'; }
interrupts=Escape
plans=
enter_plan() { enter /plan; sleep 2; }
leave_plan() { keys BTab; sleep 3; enter "$prompt"; }
