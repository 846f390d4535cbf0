# What every agent needs: its program, a home and a project of its own, the model, and the lines that say what was seen.
# Sourced by run; $kit is this folder and $host the agent.
src=$(CDPATH='' cd -- "$kit/../.." && pwd)
W=${HOSTS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/sidecoach-hosts}
export GOTOOLCHAIN=local PYTHONDONTWRITEBYTECODE=1

# build makes the program that is tested.
build() {
	mkdir -p "$W/bin" && (cd "$src" && CGO_ENABLED=0 nice go build -o "$W/bin/sidecoach" ./cmd/sidecoach)
}

# program installs the agent with npm and says its version. Without the agent there is one SKIP line and status 1.
program() {
	R=$W/run/$host
	rm -rf "$R" "$W/evidence/$host"
	mkdir -p "$R"/{home,bin,hook,out} "$W/evidence/$host"
	npm=$W/npm-$host requests=- coached=- status=- took=
	for tool in npm python3 curl git go; do
		command -v "$tool" >/dev/null || { skip program "$tool is not installed"; return 1; }
	done
	if [ -n "${FRESH-}" ] || [ ! -d "$npm/node_modules" ]; then
		mkdir -p "$npm"
		local log=$W/evidence/$host/install.log
		(cd "$npm" && npm init -y && npm install --no-audit --no-fund "$package@latest") >"$log" 2>&1 ||
			{ skip program "npm cannot install $package: $(grep -m 1 -i error "$log")"; return 1; }
	fi
	export PATH=$npm/node_modules/.bin:$PATH
	local version
	version=$(cd "$R/home" && HOME=$R/home timeout 60 "$host" --version 2>&1 </dev/null | grep -m1 '[0-9]\.[0-9]') ||
		{ skip program "$package is installed but does not run here"; return 1; }
	echo "---- $host: $version"
}

# setup makes a home, a project and a model that nothing else uses.
setup() {
	cp "$W/bin/sidecoach" "$R/bin/sidecoach"
	export HOME=$R/home XDG_STATE_HOME=$R/home/state HOOK_LOG=$R/hook GOCACHE=$W/gocache
	unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME CI
	printf 'export PATH=%s\n' "$PATH" | tee "$HOME/.profile" >"$HOME/.bash_profile" # login shells lose it
	project
	: >"$R/model.jsonl"
	port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	MODEL_PROJECT=$R/proj python3 "$kit/model.py" "$port" "$R/model.jsonl" 2>"$R/model.err" &
	model=$!
	trap 'kill $model 2>/dev/null' EXIT
	for _ in $(seq 50); do curl -s "http://127.0.0.1:$port/" >/dev/null && return; sleep 0.1; done
	echo "the model does not answer" >&2
	return 1
}

# project makes a tiny Go module whose test passes, in git.
project() {
	rm -rf "$R/proj"
	mkdir -p "$R/proj"
	(
		cd "$R/proj" || exit
		printf 'module tiny\n\ngo 1.26\n' >go.mod
		printf 'package tiny\n\n// Add adds.\nfunc Add(a, b int) int { return a + b }\n' >add.go
		printf 'package tiny\n\nimport "testing"\n\n' >add_test.go
		printf 'func TestAdd(t *testing.T) {\n\tif Add(1, 2) != 3 {\n\t\tt.Fatal("no")\n\t}\n}\n' >>add_test.go
		git init -q . && git add . && git -c user.name=a -c user.email=a@example.com commit -qm one
	) 2>/dev/null
}
break_project() { sed -i 's/a + b/a - b/' "$R/proj/add.go"; }

# wrap puts the recorder where the program is; unwrap takes it away.
wrap() {
	[ -e "$R/bin/sidecoach.real" ] || mv "$R/bin/sidecoach" "$R/bin/sidecoach.real"
	cp "$kit/recorder.sh" "$R/bin/sidecoach"
}
unwrap() { [ ! -e "$R/bin/sidecoach.real" ] || mv -f "$R/bin/sidecoach.real" "$R/bin/sidecoach"; }
sidecoach() { "$W/bin/sidecoach" "$@"; }
recorder() { if [ -n "${1-}" ]; then echo "$1" >"$R/bin/mode"; else rm -f "$R/bin/mode"; fi; }

# install FLAGS…: put the hook into $settings. uninstall takes it out; removed is its exit status.
install() {
	unwrap
	if [ "$writes" = yes ]; then set -- --write "$@"; fi
	"$R/bin/sidecoach" hook install "$host" "$@" >"$R/snippet.json" 2>>"$R/install.txt" || return
	[ "$writes" = yes ] || cp "$R/snippet.json" "$settings"
	wrap
}
uninstall() {
	unwrap
	"$R/bin/sidecoach" hook uninstall "$host" >"$R/uninstall.txt" 2>&1
	removed=$?
	[ "$writes" = yes ] || rm -f "$settings"
}
# limit SECONDS: the time limit of the hook in $settings.
limit() { sed -i -E "s/\"(timeout|timeoutSec)\": *[0-9]+/\"\1\": $1$ms/g" "$settings"; }

# wanted says whether a scenario is to be played.
wanted() { [ -z "${ONLY-}" ] || [[ " $ONLY " == *" $1 "* ]]; }

# ran NAME SCENARIO COMMAND…: have the agent work once, with the model of that scenario. It sets requests (that the
# agent sent to the model), coached (how many coachings the last of them carried), status, took and out.
ran() {
	local name=$1 from t0
	base=http://127.0.0.1:$port/s/$2/$name
	shift 2
	export HOOK_LOG=$R/hook/$name
	mkdir -p "$HOOK_LOG"
	out=$R/out/$name.txt
	t0=$(date +%s%N)
	(cd "$R/proj" && "$@") >"$out" 2>"$out.err"
	status=$?
	took=$((($(date +%s%N) - t0) / 1000000))ms
	seen "$name"
}

# seen NAME counts what the model was asked in a run.
seen() {
	read -r requests coached < <(python3 - "$R/model.jsonl" "$1" <<'P'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
rows = [r for r in rows if r["run"] == sys.argv[2] and not r["side"]]
print(len(rows), max([r["coached"] for r in rows], default=0))
P
	)
}

# coachings NAME prints the messages of ours that the model got in a run.
coachings() {
	python3 - "$R/model.jsonl" "$1" <<'P'
import json, sys
for row in map(json.loads, open(sys.argv[1])):
    if row["run"] == sys.argv[2] and "[System Coach]" in row["told"]:
        print(row["told"].replace("\n", " "))
P
}

line() { # line PASS|FAIL|SKIP|KNOWN NAME TEXT
	printf '%s %s %s: %s\n' "$1" "$host" "$2" "$3" | tee -a "$W/evidence/$host/results.txt"
}
skip() { line SKIP "$@"; }
# check NAME TEXT CONDITION…: the conditions are arguments of test, joined by -a.
check() {
	local name=$1 text=$2
	shift 2
	if "$@"; then line PASS "$name" "$text"; else
		line FAIL "$name" "$text [requests=$requests coached=$coached status=$status $took]"
	fi
}
# told NAME: does the human read why the loop ended?
told() {
	if grep -qE 'sidecoach: ' "$out" "$out.err"; then line PASS "$1" "the human reads why it ended"
	elif [ -n "${silent-}" ]; then line KNOWN "$1" "$silent"
	else line FAIL "$1" "the human does not read why it ended"; fi
}
