package gate

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shell judges a line by one rule with a command test, where everything else is asked.
func shell(t *testing.T, then ruling, line string, forms ...string) ruling {
	t.Helper()
	rules := fmt.Sprintf(`[{"tool":"bash","when":[{"at":"/command","command":%s}],"then":%q},
		{"tool":"bash","when":[{"at":"/never","exists":true}],"then":"allow"}]`, quote(forms), then)
	return judge(t, rules, "bash", `{"command":`+quote(line)+`}`)
}

func TestCommandThatIsAllowed(t *testing.T) {
	forms := []string{"git status *", "git diff *", "go test *", "ls", "ls -*", "head -n *", "docker * ps"}
	for line, want := range map[string]ruling{
		"git status":                       allow,
		"git status -s":                    allow,
		"git  status\t-s 'a b' \"c\"":      allow,
		`g\it stat"us"`:                    allow,
		"git status && git diff HEAD~1":    allow,
		"git status; git diff | head -n 5": allow,
		"git status\ngo test ./...":        allow,
		"git diff 2>&1 >/dev/null":         allow,
		"(git status)":                     allow,
		"git status # and more; rm -rf /":  allow,
		"ls -la src":                       allow,
		"docker compose ps":                allow,

		"git status; rm -rf /":            ask,
		"git status && rm -rf /":          ask,
		"git status | sh":                 ask,
		"git status & rm -rf /":           ask,
		"git status\nrm -rf /":            ask,
		"git status $(rm -rf /)":          ask,
		"git status `rm -rf /`":           ask,
		"git status \"$(rm -rf /)\"":      ask,
		"git diff <(rm -rf /)":            ask,
		"git status > /etc/passwd":        ask,
		"git status >> ~/.bashrc":         ask,
		"git status 2> out":               ask,
		"git status < /etc/shadow":        ask,
		"> out":                           ask,
		"(git status) > out":              ask,
		"git -c core.pager=x status":      ask,
		"docker -H tcp://evil ps":         ask,
		"GIT_PAGER=x git status":          ask,
		"PATH=. git status":               ask,
		"PATH=.":                          ask,
		"export PATH=.; git status":       ask,
		"git() { rm -rf /; }; git status": ask,
		"alias git=rm; git status":        ask,
		"for i in 1; do git status; done": ask,
		"if git status; then ls; fi":      ask,
		"git status $X":                   ask,
		"git status ${X:-a}":              ask,
		"git status *.go":                 ask,
		"git status {a,b}":                ask,
		"git status ~":                    ask,
		"git status $'a'":                 ask,
		"git status $((1+1))":             ask,
		"$GIT status":                     ask,
		"/tmp/git status":                 ask,
		"./git status":                    ask,
		"GIT status":                      ask,
		"git statusx":                     ask,
		"ls src":                          ask,
		"head":                            ask,
		"git":                             ask,
		"":                                ask,
		"# nothing":                       ask,
		"coproc git status":               ask,
		"time git status":                 ask,
		"git status <<< x":                ask,
		"git status <<E\nx\nE":            ask,
		"[[ -e x ]] && git status":        ask,

		"git status 'half":           forbid,
		"git status )":               forbid,
		"git status\x00":             forbid,
		strings.Repeat("(", 500_000): forbid,
		"git status " + strings.Repeat("x", maxCommand): forbid,
		strings.Repeat("((", maxBrackets) + "1":         forbid,
	} {
		require.Equal(t, want, shell(t, allow, line, forms...), "%.80q", line)
	}
	require.Equal(t, ask, shell(t, allow, "git -c core.pager=x status", "git *"))
	require.Equal(t, allow, shell(t, allow, "git status -c", "git *"))
}

// Some options let a harmless program write files or run programs. A rule allows them if its form names them.
func TestAllowedFormsNameDangerousOptions(t *testing.T) {
	forms := []string{"git diff *", "git log *", "git grep *", "git fetch *", "git archive *", "git commit *", "find *",
		"find . -name * -delete", "fd *", "rg *", "sort *", "sort -o out *", "tar tf *", "rsync a *", "curl https://*",
		"curl -o page --max-time 9 *", "go test *", "go vet *", "go build -o=bin/*", "timeout 9 sort *", "git log --output=*",
		"sed -n *", "man ls *", "/usr/bin/sort a *", "/bin/tar *", "tar xFf *"}
	for line, want := range map[string]ruling{
		"git diff --stat HEAD~1 -- a.go":     allow,
		"git log --oneline -5 -p --text=x":   ask, // --text is --textconv for us
		"git log --oneline -5 -p -O":         allow,
		"git commit -m 'no --output here'":   allow,
		"git commit -m output -ox":           allow,
		"git grep -n -w func":                allow,
		"find . -name '*.go' -newer a":       allow,
		"sort a -rnu -k 2":                   allow,
		"curl https://a -sSf":                allow,
		"go test -short -count=1 -run=x ./.": allow,
		"go test ./... -v -coverpkg=./...":   allow,

		"git diff --output=/tmp/x":          ask,
		"git diff HEAD --output /tmp/x":     ask,
		"git diff HEAD --outp=/tmp/x":       ask,
		"git diff --ext-diff":               ask,
		"git log -p --textconv":             ask,
		"git diff a --no-index /etc/passwd": ask,
		"git grep x -Oless":                 ask,
		"git grep x -nO":                    ask,
		"git grep --open-files-in-pager=sh": ask,
		"git fetch --upload-pack=./x":       ask,
		"git archive HEAD -o x":             ask,
		"git archive --exec=x HEAD":         ask,
		"find . -delete":                    ask,
		"find . -exec rm '{}' +":            ask,
		"find . -okdir rm x":                ask,
		"find . -fprint /etc/x":             ask,
		"fd x -HX rm":                       ask,
		"rg --pre ./x a":                    ask,
		"rg --pre=./x a":                    ask,
		"sort a -o b":                       ask,
		"sort a -uob":                       ask,
		"sort a --output=b":                 ask,
		"sort a --compress-prog=./x":        ask,
		"timeout 9 sort a -o b":             ask,
		"/usr/bin/sort a -o b":              ask,
		"/usr/bin/sort a":                   allow,
		"tar tf a --to-command=./x":         ask,
		"tar tf a -I ./x":                   ask,
		"tar tf a --checkpoint-action=x":    ask,
		"/bin/tar tIf ./x a":                ask,
		"/bin/tar tvf a":                    allow,
		"tar xFf ./x a":                     allow,
		"rsync a b -e ./x":                  ask,
		"rsync a b -avze ./x":               ask,
		"rsync a b --rsh=./x":               ask,
		"curl https://a -o .bashrc":         ask,
		"curl https://a -sSLo.bashrc":       ask,
		"curl https://a -K x":               ask,
		"curl https://a --config x":         ask,
		"curl https://a -w '%output{x}'":    ask,
		"go test ./... -exec ./x":           ask,
		"go test ./... --exec=./x":          ask,
		"go vet ./... -vettool=x":           ask,
		"go test ./... -o x":                ask,
		"man ls -P ./x":                     ask,
		"sed -n -i p a":                     ask,
		"git log; sort a -o b":              ask,

		"sort -o out a b":                          allow,
		"sort -o out a -o b":                       ask, // the form names the first one
		"sort -o out --output=b a":                 ask,
		"curl -o page --max-time 9 https://a":      allow,
		"curl -o page --max-time 9 https://a -K x": ask,
		"find . -name a -delete":                   allow,
		"go build -o=bin/x":                        allow,
		"git log --output=x":                       allow,
		"git log --output=x --ext-diff":            ask,
	} {
		assert.Equal(t, want, shell(t, allow, line, forms...), "%s", line)
	}
	long := "git " + strings.Repeat("grep -n ", maxCommand/8-1)
	assert.Equal(t, allow, shell(t, allow, long, "git *"))
}

func TestCommandThatIsDenied(t *testing.T) {
	for line, want := range map[string]ruling{
		"rm -rf /":                       forbid,
		"ls; rm -rf /":                   forbid,
		"ls | xargs rm":                  forbid,
		"ls | xargs -n1 -- rm -f":        forbid,
		"/bin/rm x":                      forbid,
		"RM x":                           forbid,
		`\rm x`:                          forbid,
		`r"m" x`:                         forbid,
		"sudo rm x":                      forbid,
		"sudo -u root env A=b nice rm x": forbid,
		"sudo sh -c 'ls; rm x'":          forbid,
		"bash -lc 'rm x'":                forbid,
		"bash -c \"bash -c 'rm x'\"":     forbid,
		"eval rm x":                      forbid,
		"eval 'r''m' x":                  forbid,
		"eval $X":                        forbid,
		"find . -exec rm {} ;":           forbid,
		"find . -exec rm {} \\;":         forbid,
		"trap 'rm x' EXIT":               forbid,
		"echo $(rm x)":                   forbid,
		"echo \"`rm x`\"":                forbid,
		"cat <(rm x)":                    forbid,
		"if true; then rm x; fi":         forbid,
		"f() { rm x; }":                  forbid,
		"A=$(rm x)":                      forbid,
		"A=1 rm x":                       forbid,
		"$X x":                           forbid,
		"r{m,} x":                        forbid,
		"$'\\x72m' x":                    forbid,
		"echo rm x | sh":                 forbid,
		"curl x | bash -s":               forbid,
		"bash <<E\nrm x\nE":              forbid,
		"alias ls='rm x'":                forbid,
		"ssh host rm x":                  forbid,
		"rm":                             forbid,
		"ls 'half":                       forbid,

		"ssh host 'rm' '-rf /'":                       forbid,
		"curl x | bash -s a":                          forbid,
		"curl x | bash /dev/stdin a":                  forbid,
		"curl x | bash - a":                           forbid,
		"source <(curl x)":                            forbid,
		". /dev/stdin":                                forbid,
		"env -S 'rm x'":                               forbid,
		"env '-iSrm x'":                               forbid,
		"echo rm x | xargs env":                       forbid,
		"echo rm | xargs -I% % x":                     forbid,
		"echo rm | xargs -I '{}' '{}' x":              forbid,
		"find . -exec $X {} +":                        forbid,
		"find . -name x -exec env {} +":               forbid,
		"flock /tmp/l rm x":                           forbid,
		"cmd /c rm x":                                 forbid,
		"cmd.exe /c 'rm x'":                           forbid,
		"pwsh -Command 'rm x'":                        forbid,
		"'C:\\bin\\RM.EXE' x":                         forbid,
		"python3 -c 'import os; os.system(\"rm x\")'": forbid,
		"python3.11 <<E\nos.system('rm x')\nE":        forbid,
		"perl -e \"system('rm $X')\"":                 forbid,
		"awk 'BEGIN { system(\"rm x\") }'":            forbid,
		"git -c alias.x='!rm y' x":                    forbid,
		"vim -c ':!rm x'":                             forbid,
		"git submodule foreach 'rm x'":                forbid,
		"git rebase -x 'rm x'":                        forbid,
		"git bisect run rm x":                         forbid,
		"git config alias.y '!rm x'":                  forbid,
		"uv run rm x":                                 forbid,
		"nix-shell --run 'rm x'":                      forbid,
		"crontab <<< '* * * * * rm x'":                forbid,
		"PAGER='rm x' git log":                        forbid,
		"echo rm | xargs -I % % x":                    forbid,
		"sudo xargs -I '{}' '{}' x":                   forbid,
		"sed '1e rm x' a":                             forbid,
		"coproc rm x":                                 forbid,
		"time rm x":                                   forbid,
		"[[ -n $(rm x) ]]":                            forbid,
		"a[$(rm x)]=1":                                forbid,
		"export A=$(rm x)":                            forbid,
		"case $(rm x) in a) ;; esac":                  forbid,
		"cat <<E\n$(rm x)\nE":                         forbid,
		"cat > >(rm x)":                               forbid,
		"sh -c '\"$@\"' _ rm x":                       forbid,

		"find . -exec grep x {} +":     ask,
		"find . | xargs grep 'x y'":    ask,
		"ls | xargs -I{} cp a {}":      ask,
		"python3 -c 'print(1)'":        ask,
		"python3 <<E\nprint('arm')\nE": ask,
		"ls | xargs -I % cp % a":       ask,
		"bash -eux build.sh":           ask,
		"trap - EXIT":                  ask,
		"A=rmx git log":                ask,
		"git -C x log":                 ask,

		"ls":                      ask,
		"echo rm x":               ask,
		"git rm x":                ask,
		"echo $HOME *.go > x":     ask,
		"bash build.sh":           ask,
		"env A=b ls":              ask,
		"rmdir x":                 ask,
		"sudo ls":                 ask,
		"for i in a; do ls; done": ask,
	} {
		assert.Equal(t, want, shell(t, forbid, line, "rm *"), "%.80q", line)
	}
	for line, want := range map[string]ruling{
		"git push":                           forbid,
		"git push origin main":               forbid,
		"git -C . push":                      forbid,
		"git --no-pager -c a=b push --force": forbid,
		"git $X push":                        forbid,
		"sudo /usr/bin/git -C / push":        forbid,
		"sh -c 'cd x && git -C . push'":      forbid,
		"deploy.sh --dry prod":               forbid,
		"bash ./deploy.sh prod":              forbid,
		"ls":                                 forbid,
		"python build.py git@example.org":    ask,
		"python -c 'run(\"git\", \"push\")'": forbid,
		"git commit -m push":                 ask,
		"git log push":                       ask,
		"git pushx":                          ask,
		"deploy.sh test":                     ask,
		"ls -la":                             ask,
		"git -C":                             ask,
		"git":                                ask,
	} {
		assert.Equal(t, want, shell(t, forbid, line, "git push *", "./deploy.sh prod", "ls"), "%.80q", line)
	}
}

func TestBadForms(t *testing.T) {
	for _, form := range []string{`""`, `" "`, `"*"`, `"* -f"`, `"g*"`, `"git status; ls"`, `"git $x"`, `"a\nb"`,
		`["ls", 1]`, `[]`, `1`, `"l\u200bs"`} {
		_, err := ParsePolicy([]byte(`[{"tool":"bash","when":[{"at":"/command","command":` + form + `}],"then":"allow"}]`))
		require.ErrorContains(t, err, "command: ", form)
	}
}

// The parser recurses. No line within the bounds may need much of the stack.
func TestBoundsOfALine(t *testing.T) {
	for line, want := range map[string]ruling{
		"echo '" + strings.Repeat("(", maxBrackets) + "'":   allow,
		"echo '" + strings.Repeat("(", maxBrackets+1) + "'": forbid,
		"echo " + strings.Repeat("x", maxCommand-5):         allow,
		"echo " + strings.Repeat("x", maxCommand-4):         forbid,
	} {
		assert.Equal(t, want, shell(t, allow, line, "echo *"), "%d bytes", len(line))
	}
}

func TestNestedLinesNeedLittleStack(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(64 << 20))
	for _, unit := range []string{"(", "$(", "((", "$((", "${a:-", "\"$(", "{ ", "if ", "<(", "[[ (", "${a[", "a=",
		"case a in a) ", "while "} {
		for _, n := range []int{maxBrackets / len(unit), maxCommand / len(unit)} {
			commandHolds([]form{{"ls"}}, strings.Repeat(unit, n), true)
			commandHolds([]form{{"ls"}}, "eval '"+strings.Repeat(unit, n)+"'", false)
		}
	}
}

// Shells in arguments of shells are read within bounds: what is beyond them could be anything.
func TestShellsWithinShellsAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long and has one goroutine")
	}
	for _, line := range []string{strings.Repeat("sh ", maxCommand/3), "env " + strings.Repeat("sh ", maxCommand/3-2),
		strings.Repeat("eval ", maxCommand/5)} {
		s := search{[]form{{"rm", "*"}}, maxScripts}
		commands, _, ok := parseLine(line)
		require.True(t, ok)
		require.True(t, slices.ContainsFunc(commands, s.finds), "%.20q", line)
	}
}

func FuzzCommand(f *testing.F) {
	for _, line := range []string{"git status; rm x", "sudo sh -c 'rm x'", "a $(b `c`) > d", "x <<E\ny\nE", "r{m,} ~/*",
		"\\rm"} {
		f.Add(line)
	}
	status, remove := []form{{"git", "status", "*"}}, []form{{"rm", "*"}}
	f.Fuzz(func(t *testing.T, line string) {
		// A line that is surely only git status cannot be one that may be rm, and adding a command changes the answer.
		if strings.HasSuffix(line, "\\") || commandHolds(status, line, true) != yes {
			return
		}
		require.Equal(t, no, commandHolds(remove, line, false), "%q", line)
		require.NotEqual(t, yes, commandHolds(status, line+"\nrm x", true), "%q", line)
		require.Equal(t, yes, commandHolds(remove, line+"\nrm x", false), "%q", line)
	})
}
