package plancriteria_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

func ExampleItem_Checks() {
	c, _ := plancriteria.Extract([]byte("## Success Criteria\n\n" +
		"- [x] tests pass: `go test ./...`\n- [ ] `docs/usage.md` mentions `--json`\n- [ ] the page reads well\n"))
	for _, it := range c.Leaves() {
		fmt.Println(it.Checks())
	}
	// Output:
	// [`go test ./...` succeeds]
	// [`docs/usage.md` contains `--json`]
	// []
}

func TestChecks(t *testing.T) {
	for text, want := range map[string]string{
		// commands
		"tests pass: `go test ./...`":       "`go test ./...` succeeds",
		"Tests pass: `go test ./...`.":      "`go test ./...` succeeds",
		"Die Tests laufen: `go test ./...`": "`go test ./...` succeeds",
		"テストが通る：`go test ./...`":            "`go test ./...` succeeds",
		"checks: `go vet ./...`, `go test ./...` and `make`": "`go vet ./...` succeeds, `go test ./...` succeeds, " +
			"`make` succeeds",
		"`npm test` passes":                           "`npm test` succeeds",
		"`npm test` passes without errors.":           "`npm test` succeeds",
		"`make` succeeds":                             "`make` succeeds",
		"`go vet ./...` and `go test ./...` pass":     "`go vet ./...` succeeds, `go test ./...` succeeds",
		"`golangci-lint run` finds nothing":           "`golangci-lint run` succeeds",
		"`./check.sh` exits with 0":                   "`./check.sh` succeeds",
		"`scripts/check.sh` exits with status 0":      "`scripts/check.sh` succeeds",
		"run `make check`":                            "`make check` succeeds",
		"it builds: `make`":                           "`make` succeeds",
		"after the change, `cargo test` still passes": "",
		"Running `cargo test` succeeds":               "`cargo test` succeeds",
		// files
		"`docs/usage.md` exists":                                 "`docs/usage.md` exists",
		"The file `docs/usage.md` exists.":                       "`docs/usage.md` exists",
		"New file: `docs/usage.md`":                              "`docs/usage.md` exists",
		"create `./docs/usage.md`":                               "`docs/usage.md` exists",
		"`docs/usage.md` mentions `--json`":                      "`docs/usage.md` contains `--json`",
		"`docs/usage.md` documents the flag `--json`":            "`docs/usage.md` contains `--json`",
		"`README.md` contains `--json`, `--yaml` and `-q`":       "`README.md` contains `--json`, `--yaml`, `-q`",
		"`--json` is documented in `docs/usage.md`":              "`docs/usage.md` contains `--json`",
		"`--json` and `--yaml` are mentioned in `docs/usage.md`": "`docs/usage.md` contains `--json`, `--yaml`",
		"document `--json` in `docs/usage.md`":                   "`docs/usage.md` contains `--json`",
		// neither
		"the page reads well":                               "",
		"`Add` handles zero":                                "",
		"new function: `Add`":                               "",
		"new endpoint: `/api/login`":                        "",
		"new flag: `--json`":                                "",
		"the default is `null or an error`":                 "",
		"`go test ./...` fails before the fix":              "",
		"`go test ./...` does not pass":                     "",
		"`go test ./...` passes on Windows":                 "",
		"`go test ./...` prints `ok`":                       "",
		"`docs/old.md` does not exist":                      "",
		"`docs/old.md` no longer exists":                    "",
		"`docs/usage.md` does not mention `--xml`":          "",
		"`docs/usage.md` no longer mentions `--xml`":        "",
		"`docs/usage.md` mentions `--json` but not `--xml`": "",
		"`/etc/passwd` exists":                              "",
		"`../secret.txt` exists":                            "",
		"`docs/../../secret.txt` contains `x`":              "",
		"`Add` exists":                                      "",
		"rename `foo` in `bar.go`":                          "",
		"`foo` in `bar.go`":                                 "",
		"no errors in `pkg/login`":                          "",
		"unbalanced `go test":                               "",
		"empty: ``":                                         "",
		"issue #12: `go test ./...`":                        "",
		"``go test `x` `` passes":                           "",
		"":                                                  "",
	} {
		var got []string
		for _, c := range (plancriteria.Item{Text: text, Checkbox: true, Checked: true}).Checks() {
			got = append(got, c.String())
		}
		assert.Equal(t, want, strings.Join(got, ", "), text)
	}
}

func TestStages(t *testing.T) {
	for plan, want := range map[string][]string{
		"# Plan\n\n## Stages\n\n1. /do-plan\n2. `build`\n3. /do-docs\n\n## Success Criteria\n\n- x\n": {"/do-plan", "build",
			"/do-docs"},
		"## Success Criteria\n\n- x\n": nil,
		"## Backstages\n\n- x\n":       nil,
	} {
		got, err := plancriteria.Stages([]byte(plan))
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for plan, want := range map[string]error{
		"## Stages\n\n- a\n\n## Stages\n\n- b\n": plancriteria.ErrAmbiguous,
		"## Stages\n\n## More\n":                 plancriteria.ErrEmpty,
		"## Stages\n\n- \xff\n":                  plancriteria.ErrUnusable,
	} {
		_, err := plancriteria.Stages([]byte(plan))
		assert.ErrorIs(t, err, want)
	}
}

func FuzzChecks(f *testing.F) {
	f.Add("`docs/usage.md` mentions `--json`")
	f.Add("tests pass: `go test ./...`")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range (plancriteria.Item{Text: text}).Checks() {
			require.NotEqual(t, c.Command == "", c.File == "")
			require.Contains(t, text, c.Command)
			require.False(t, strings.HasPrefix(c.File, "/") || strings.Contains("/"+c.File+"/", "/../"))
			for _, w := range c.Words {
				require.Contains(t, text, w)
			}
		}
	})
}
