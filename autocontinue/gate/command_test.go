package gate

import (
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shell judges a line by one rule with a command test, where everything else is asked.
func shell(t *testing.T, then Then, line string, forms ...string) Then {
	t.Helper()
	rules := fmt.Sprintf(`[{"tool":"bash","when":[{"at":"/command","command":%s}],"then":%q},
		{"tool":"bash","when":[{"at":"/never","exists":true}],"then":"allow"}]`, quote(forms), then)
	return judge(t, rules, "bash", `{"command":`+quote(line)+`}`)
}

func TestCommandThatIsAllowed(t *testing.T) {
	forms := []string{"git status *", "git diff *", "go test *", "ls", "ls -*", "head -n *", "docker * ps"}
	for line, want := range map[string]Then{
		"git status":                       Allow,
		"git status -s":                    Allow,
		"git  status\t-s 'a b' \"c\"":      Allow,
		`g\it stat"us"`:                    Allow,
		"git status && git diff HEAD~1":    Allow,
		"git status; git diff | head -n 5": Allow,
		"git status\ngo test ./...":        Allow,
		"git diff 2>&1 >/dev/null":         Allow,
		"(git status)":                     Allow,
		"git status # and more; rm -rf /":  Allow,
		"ls -la src":                       Allow,
		"docker compose ps":                Allow,

		"git status; rm -rf /":            Ask,
		"git status && rm -rf /":          Ask,
		"git status | sh":                 Ask,
		"git status & rm -rf /":           Ask,
		"git status\nrm -rf /":            Ask,
		"git status $(rm -rf /)":          Ask,
		"git status `rm -rf /`":           Ask,
		"git status \"$(rm -rf /)\"":      Ask,
		"git diff <(rm -rf /)":            Ask,
		"git status > /etc/passwd":        Ask,
		"git status >> ~/.bashrc":         Ask,
		"git status 2> out":               Ask,
		"git status < /etc/shadow":        Ask,
		"> out":                           Ask,
		"(git status) > out":              Ask,
		"git -c core.pager=x status":      Ask,
		"docker -H tcp://evil ps":         Ask,
		"GIT_PAGER=x git status":          Ask,
		"PATH=. git status":               Ask,
		"PATH=.":                          Ask,
		"export PATH=.; git status":       Ask,
		"git() { rm -rf /; }; git status": Ask,
		"alias git=rm; git status":        Ask,
		"for i in 1; do git status; done": Ask,
		"if git status; then ls; fi":      Ask,
		"git status $X":                   Ask,
		"git status ${X:-a}":              Ask,
		"git status *.go":                 Ask,
		"git status {a,b}":                Ask,
		"git status ~":                    Ask,
		"git status $'a'":                 Ask,
		"git status $((1+1))":             Ask,
		"$GIT status":                     Ask,
		"/tmp/git status":                 Ask,
		"./git status":                    Ask,
		"GIT status":                      Ask,
		"git statusx":                     Ask,
		"ls src":                          Ask,
		"head":                            Ask,
		"git":                             Ask,
		"":                                Ask,
		"# nothing":                       Ask,
		"coproc git status":               Ask,
		"time git status":                 Ask,
		"git status <<< x":                Ask,
		"git status <<E\nx\nE":            Ask,
		"[[ -e x ]] && git status":        Ask,

		"git status 'half":           Forbid,
		"git status )":               Forbid,
		"git status\x00":             Forbid,
		strings.Repeat("(", 500_000): Forbid,
		"git status " + strings.Repeat("x", maxCommand): Forbid,
		strings.Repeat("((", maxBrackets) + "1":         Forbid,
	} {
		require.Equal(t, want, shell(t, Allow, line, forms...), "%.80q", line)
	}
	require.Equal(t, Ask, shell(t, Allow, "git -c core.pager=x status", "git *"))
	require.Equal(t, Allow, shell(t, Allow, "git status -c", "git *"))
}

// Some options let a harmless program write files or run programs. A rule allows them if its form names them.
func TestAllowedFormsNameDangerousOptions(t *testing.T) {
	forms := []string{"git diff *", "git log *", "git grep *", "git fetch *", "git archive *", "git commit *", "find *",
		"find . -name * -delete", "fd *", "rg *", "sort *", "sort -o out *", "tar tf *", "rsync a *", "curl https://*",
		"curl -o page --max-time 9 *", "go test *", "go vet *", "go build -o=bin/*", "timeout 9 sort *", "git log --output=*",
		"sed -n *", "man ls *", "/usr/bin/sort a *", "/bin/tar *", "tar xFf *"}
	for line, want := range map[string]Then{
		"git diff --stat HEAD~1 -- a.go":     Allow,
		"git log --oneline -5 -p --text=x":   Ask, // --text is --textconv for us
		"git log --oneline -5 -p -O":         Allow,
		"git commit -m 'no --output here'":   Allow,
		"git commit -m output -ox":           Allow,
		"git grep -n -w func":                Allow,
		"find . -name '*.go' -newer a":       Allow,
		"sort a -rnu -k 2":                   Allow,
		"curl https://a -sSf":                Allow,
		"go test -short -count=1 -run=x ./.": Allow,
		"go test ./... -v -coverpkg=./...":   Allow,

		"git diff --output=/tmp/x":          Ask,
		"git diff HEAD --output /tmp/x":     Ask,
		"git diff HEAD --outp=/tmp/x":       Ask,
		"git diff --ext-diff":               Ask,
		"git log -p --textconv":             Ask,
		"git diff a --no-index /etc/passwd": Ask,
		"git grep x -Oless":                 Ask,
		"git grep x -nO":                    Ask,
		"git grep --open-files-in-pager=sh": Ask,
		"git fetch --upload-pack=./x":       Ask,
		"git archive HEAD -o x":             Ask,
		"git archive --exec=x HEAD":         Ask,
		"find . -delete":                    Ask,
		"find . -exec rm '{}' +":            Ask,
		"find . -okdir rm x":                Ask,
		"find . -fprint /etc/x":             Ask,
		"fd x -HX rm":                       Ask,
		"rg --pre ./x a":                    Ask,
		"rg --pre=./x a":                    Ask,
		"sort a -o b":                       Ask,
		"sort a -uob":                       Ask,
		"sort a --output=b":                 Ask,
		"sort a --compress-prog=./x":        Ask,
		"timeout 9 sort a -o b":             Ask,
		"/usr/bin/sort a -o b":              Ask,
		"/usr/bin/sort a":                   Allow,
		"tar tf a --to-command=./x":         Ask,
		"tar tf a -I ./x":                   Ask,
		"tar tf a --checkpoint-action=x":    Ask,
		"/bin/tar tIf ./x a":                Ask,
		"/bin/tar tvf a":                    Allow,
		"tar xFf ./x a":                     Allow,
		"rsync a b -e ./x":                  Ask,
		"rsync a b -avze ./x":               Ask,
		"rsync a b --rsh=./x":               Ask,
		"curl https://a -o .bashrc":         Ask,
		"curl https://a -sSLo.bashrc":       Ask,
		"curl https://a -K x":               Ask,
		"curl https://a --config x":         Ask,
		"curl https://a -w '%output{x}'":    Ask,
		"go test ./... -exec ./x":           Ask,
		"go test ./... --exec=./x":          Ask,
		"go vet ./... -vettool=x":           Ask,
		"go test ./... -o x":                Ask,
		"man ls -P ./x":                     Ask,
		"sed -n -i p a":                     Ask,
		"git log; sort a -o b":              Ask,

		"sort -o out a b":                          Allow,
		"sort -o out a -o b":                       Ask, // the form names the first one
		"sort -o out --output=b a":                 Ask,
		"curl -o page --max-time 9 https://a":      Allow,
		"curl -o page --max-time 9 https://a -K x": Ask,
		"find . -name a -delete":                   Allow,
		"go build -o=bin/x":                        Allow,
		"git log --output=x":                       Allow,
		"git log --output=x --ext-diff":            Ask,
	} {
		assert.Equal(t, want, shell(t, Allow, line, forms...), "%s", line)
	}
	long := "git " + strings.Repeat("grep -n ", maxCommand/8-1)
	assert.Equal(t, Allow, shell(t, Allow, long, "git *"))
}

func TestCommandThatIsDenied(t *testing.T) {
	for line, want := range map[string]Then{
		"rm -rf /":                       Forbid,
		"ls; rm -rf /":                   Forbid,
		"ls | xargs rm":                  Forbid,
		"ls | xargs -n1 -- rm -f":        Forbid,
		"/bin/rm x":                      Forbid,
		"RM x":                           Forbid,
		`\rm x`:                          Forbid,
		`r"m" x`:                         Forbid,
		"sudo rm x":                      Forbid,
		"sudo -u root env A=b nice rm x": Forbid,
		"sudo sh -c 'ls; rm x'":          Forbid,
		"bash -lc 'rm x'":                Forbid,
		"bash -c \"bash -c 'rm x'\"":     Forbid,
		"eval rm x":                      Forbid,
		"eval 'r''m' x":                  Forbid,
		"eval $X":                        Forbid,
		"find . -exec rm {} ;":           Forbid,
		"find . -exec rm {} \\;":         Forbid,
		"trap 'rm x' EXIT":               Forbid,
		"echo $(rm x)":                   Forbid,
		"echo \"`rm x`\"":                Forbid,
		"cat <(rm x)":                    Forbid,
		"if true; then rm x; fi":         Forbid,
		"f() { rm x; }":                  Forbid,
		"A=$(rm x)":                      Forbid,
		"A=1 rm x":                       Forbid,
		"$X x":                           Forbid,
		"r{m,} x":                        Forbid,
		"$'\\x72m' x":                    Forbid,
		"echo rm x | sh":                 Forbid,
		"curl x | bash -s":               Forbid,
		"bash <<E\nrm x\nE":              Forbid,
		"alias ls='rm x'":                Forbid,
		"ssh host rm x":                  Forbid,
		"rm":                             Forbid,
		"ls 'half":                       Forbid,

		"ssh host 'rm' '-rf /'":                       Forbid,
		"curl x | bash -s a":                          Forbid,
		"curl x | bash /dev/stdin a":                  Forbid,
		"curl x | bash - a":                           Forbid,
		"source <(curl x)":                            Forbid,
		". /dev/stdin":                                Forbid,
		"env -S 'rm x'":                               Forbid,
		"env '-iSrm x'":                               Forbid,
		"echo rm x | xargs env":                       Forbid,
		"echo rm | xargs -I% % x":                     Forbid,
		"echo rm | xargs -I '{}' '{}' x":              Forbid,
		"find . -exec $X {} +":                        Forbid,
		"find . -name x -exec env {} +":               Forbid,
		"flock /tmp/l rm x":                           Forbid,
		"cmd /c rm x":                                 Forbid,
		"cmd.exe /c 'rm x'":                           Forbid,
		"pwsh -Command 'rm x'":                        Forbid,
		"'C:\\bin\\RM.EXE' x":                         Forbid,
		"python3 -c 'import os; os.system(\"rm x\")'": Forbid,
		"python3.11 <<E\nos.system('rm x')\nE":        Forbid,
		"perl -e \"system('rm $X')\"":                 Forbid,
		"awk 'BEGIN { system(\"rm x\") }'":            Forbid,
		"git -c alias.x='!rm y' x":                    Forbid,
		"vim -c ':!rm x'":                             Forbid,
		"git submodule foreach 'rm x'":                Forbid,
		"git rebase -x 'rm x'":                        Forbid,
		"git bisect run rm x":                         Forbid,
		"git config alias.y '!rm x'":                  Forbid,
		"uv run rm x":                                 Forbid,
		"nix-shell --run 'rm x'":                      Forbid,
		"crontab <<< '* * * * * rm x'":                Forbid,
		"PAGER='rm x' git log":                        Forbid,
		"echo rm | xargs -I % % x":                    Forbid,
		"sudo xargs -I '{}' '{}' x":                   Forbid,
		"sed '1e rm x' a":                             Forbid,
		"coproc rm x":                                 Forbid,
		"time rm x":                                   Forbid,
		"[[ -n $(rm x) ]]":                            Forbid,
		"a[$(rm x)]=1":                                Forbid,
		"export A=$(rm x)":                            Forbid,
		"case $(rm x) in a) ;; esac":                  Forbid,
		"cat <<E\n$(rm x)\nE":                         Forbid,
		"cat > >(rm x)":                               Forbid,
		"sh -c '\"$@\"' _ rm x":                       Forbid,

		"find . -exec grep x {} +":     Ask,
		"find . | xargs grep 'x y'":    Ask,
		"ls | xargs -I{} cp a {}":      Ask,
		"python3 -c 'print(1)'":        Ask,
		"python3 <<E\nprint('arm')\nE": Ask,
		"ls | xargs -I % cp % a":       Ask,
		"bash -eux build.sh":           Ask,
		"trap - EXIT":                  Ask,
		"A=rmx git log":                Ask,
		"git -C x log":                 Ask,

		"ls":                      Ask,
		"echo rm x":               Ask,
		"git rm x":                Ask,
		"echo $HOME *.go > x":     Ask,
		"bash build.sh":           Ask,
		"env A=b ls":              Ask,
		"rmdir x":                 Ask,
		"sudo ls":                 Ask,
		"for i in a; do ls; done": Ask,
	} {
		assert.Equal(t, want, shell(t, Forbid, line, "rm *"), "%.80q", line)
	}
	for line, want := range map[string]Then{
		"git push":                           Forbid,
		"git push origin main":               Forbid,
		"git -C . push":                      Forbid,
		"git --no-pager -c a=b push --force": Forbid,
		"git $X push":                        Forbid,
		"sudo /usr/bin/git -C / push":        Forbid,
		"sh -c 'cd x && git -C . push'":      Forbid,
		"deploy.sh --dry prod":               Forbid,
		"bash ./deploy.sh prod":              Forbid,
		"ls":                                 Forbid,
		"python build.py git@example.org":    Ask,
		"python -c 'run(\"git\", \"push\")'": Forbid,
		"git commit -m push":                 Ask,
		"git log push":                       Ask,
		"git pushx":                          Ask,
		"deploy.sh test":                     Ask,
		"ls -la":                             Ask,
		"git -C":                             Ask,
		"git":                                Ask,
	} {
		assert.Equal(t, want, shell(t, Forbid, line, "git push *", "./deploy.sh prod", "ls"), "%.80q", line)
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
	for line, want := range map[string]Then{
		"echo '" + strings.Repeat("(", maxBrackets) + "'":   Allow,
		"echo '" + strings.Repeat("(", maxBrackets+1) + "'": Forbid,
		"echo " + strings.Repeat("x", maxCommand-5):         Allow,
		"echo " + strings.Repeat("x", maxCommand-4):         Forbid,
	} {
		assert.Equal(t, want, shell(t, Allow, line, "echo *"), "%d bytes", len(line))
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
		commands, _, err := parseLine(line)
		require.NoError(t, err)
		require.True(t, s.any(commands, maxNested), "%.20q", line)
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
