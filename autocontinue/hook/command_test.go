package hook

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// said writes what parseScript found in a few words: "test", "test?" with a lost status, "test!" with one thrown away, "edit".
func said(script string) string {
	var words []string
	for _, p := range (project{}).parseScript(script) {
		switch {
		case p.edits:
			words = append(words, "edit")
		case p.mask == lost:
			words = append(words, "test?")
		case p.mask == thrown:
			words = append(words, "test!")
		default:
			words = append(words, "test")
		}
	}
	return strings.Join(words, " ")
}

func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		"":      "",
		"ls -l": "",
		// What runs tests.
		"go test ./...":                                  "test",
		"go -C web test ./...":                           "test",
		"CGO_ENABLED=0 GOFLAGS=-mod=mod go test .":       "test",
		"/usr/local/go/bin/go test":                      "test",
		"go build ./... ":                                "",
		"go vet ./... test":                              "",
		"npm test":                                       "test",
		"npm t":                                          "test",
		"npm --prefix web run test:unit -- --ci":         "test",
		"npm install test":                               "",
		"npm run build":                                  "",
		"pnpm --filter web test":                         "test",
		"pnpm -r test":                                   "test",
		"yarn test --watchAll=false":                     "test",
		"yarn workspace web test":                        "test",
		"bun test":                                       "test",
		"npx jest src/login":                             "test",
		"npx --yes vitest run":                           "test",
		"npx playwright test":                            "test",
		"npx playwright install":                         "",
		"./node_modules/.bin/jest":                       "test",
		"node --test":                                    "test",
		"node -e 'test()'":                               "",
		"deno test -A":                                   "test",
		"cargo test --workspace":                         "test",
		"cargo +nightly nextest run":                     "test",
		"cargo test --no-run":                            "",
		"cargo build":                                    "",
		"pytest -q":                                      "test",
		"python -m pytest tests/a.py":                    "test",
		"python3 -m unittest discover":                   "test",
		"python3 manage.py test":                         "test",
		"python3 manage.py migrate":                      "",
		"uv run pytest":                                  "test",
		"poetry run python -m pytest":                    "test",
		"coverage run -m pytest":                         "test",
		"tox -e py312":                                   "test",
		"pytest --collect-only":                          "",
		"make test":                                      "test",
		"make -C web -j 4 check":                         "test",
		"make -n test":                                   "",
		"make build":                                     "",
		"just test":                                      "test",
		"bundle exec rspec spec/login_spec.rb":           "test",
		"bin/rails test":                                 "test",
		"rake spec":                                      "test",
		"vendor/bin/phpunit":                             "test",
		"php artisan test":                               "test",
		"composer test":                                  "test",
		"mvn -q -pl web verify":                          "test",
		"mvn -DskipTests package":                        "",
		"./gradlew :web:test --info":                     "test",
		"./gradlew assemble":                             "",
		"dotnet test":                                    "test",
		"dotnet build":                                   "",
		"swift test":                                     "test",
		"xcodebuild -scheme Shop test":                   "test",
		"mix test":                                       "test",
		"ctest --output-on-failure":                      "test",
		"ctest -N":                                       "",
		"bazel test //...":                               "test",
		"zig build test":                                 "test",
		"bats tests":                                     "test",
		"./scripts/run-tests.sh":                         "test",
		"bash scripts/test.sh fast":                      "test",
		"sh ./ci/unit_tests.sh":                          "test",
		"python3 tests/login_test.py":                    "test",
		"python3 latest.py":                              "",
		"test -f go.mod":                                 "",
		"[ -f test.sh ]":                                 "",
		"cat test.sh":                                    "",
		"grep -rn 'go test' .":                           "",
		"echo go test ./...":                             "",
		"git commit -m 'go test ./... passes'":           "",
		"go test -c ./auth":                              "",
		"go test -run '^$' -bench . ./...":               "",
		"go test -list . ./...":                          "",
		"docker compose run --rm app go test ./...":      "test",
		"docker exec shop-1 sh -c 'cd /app && npm test'": "test",
		"docker build -t test .":                         "",
		// What only runs a command.
		"time go test ./...":                       "test",
		"timeout 120 go test ./...":                "test",
		"timeout -k 5 120s go test ./...":          "test",
		"env -u HOME X=1 go test":                  "test",
		"sudo -u ci go test":                       "test",
		"nice -n 10 go test":                       "test",
		"bash -c 'go test ./...'":                  "test",
		"bash -lc \"cd web && npm test | tail\"":   "test?",
		"bash -c 'go test ./...' || true":          "test!",
		"bash -c \"bash -c 'go test ./...'\"":      "test",
		"(cd web && npm test)":                     "test",
		"{ go test ./...; }":                       "test",
		"cd web; npm test":                         "test",
		"cd web\nnpm test\n":                       "test",
		"go test ./... &&\n  echo ok":              "test",
		"go test \\\n  ./...":                      "test",
		"# go test\nls":                            "",
		"ls # go test ./...":                       "",
		"go test ./... # all of them":              "test",
		"go build && go test ./... && git add -A":  "test",
		"go test ./a && go test ./b":               "test test",
		"go test ./... 2>&1":                       "test",
		"go test ./... > /dev/null 2>&1":           "test",
		"go test ./... &> /tmp/out":                "test",
		"go test ./... || exit 1":                  "test",
		"go test ./... || { echo no; exit 1; }":    "test!", // what comes first after || decides
		"set -e; go test ./...; echo ok":           "test",
		"set -euo pipefail\ngo test ./... | tail":  "test",
		"set -o pipefail && go test ./... | tee x": "test edit",
		// Whose status something else takes the place of.
		"go test ./... | tail -5":                 "test?",
		"go test ./... 2>&1 | tail -5":            "test?",
		"go test ./... |& tail -5":                "test?",
		"go test ./... | grep -v ok | head":       "test?",
		"go test ./...; echo \"exit: $?\"":        "test?",
		"go test ./...; git status":               "test?",
		"go test ./...\ngit status":               "test?",
		"(go test ./...) | tail":                  "test?",
		"if go test ./...; then echo ok; fi":      "test?",
		"for d in a b; do go test ./$d; done":     "test?",
		"while ! go test ./...; do sleep 1; done": "test!",
		"go test ./... | tail; true":              "test!",
		"out=$(go test ./...)":                    "",
		"echo `go test ./...`":                    "",
		// Whose status is thrown away, or never known.
		"go test ./... || true":                 "test!",
		"go test ./... || :":                    "test!",
		"go test ./... || echo failed":          "test!",
		"{ go test ./...; } || true":            "test!",
		"go test ./... ; true":                  "test!",
		"go test ./...; exit 0":                 "test!",
		"go test ./...; :":                      "test!",
		"! go test ./...":                       "test!",
		"go test ./... &":                       "test!",
		"nohup go test ./... > /tmp/log 2>&1 &": "test!",
		"go test ./... && echo ok || true":      "test!",
		// What changes files.
		"sed -i 's/a/b/' auth.go":                       "edit",
		"sed -n 1p auth.go":                             "",
		"sed -i.bak s/a/b/ README.md":                   "",
		"perl -pi -e s/a/b/ auth.go":                    "edit",
		"echo x > auth.go":                              "edit",
		"echo x >> auth.go":                             "edit",
		"echo x > /tmp/auth.go":                         "",
		"echo x > notes.md":                             "",
		"cat auth.go > /dev/null":                       "",
		"cat > auth.go <<'EOF'\ngo test ./...\nEOF\nls": "edit",
		"cat <<EOF >> auth.go\nx\nEOF":                  "edit",
		"git checkout auth.go":                          "edit",
		"git checkout -b fix":                           "",
		"git stash":                                     "edit",
		"git stash list":                                "",
		"git reset --hard":                              "edit",
		"git reset auth.go":                             "",
		"git commit -am x":                              "",
		"git apply fix.patch":                           "edit",
		"git apply --check fix.patch":                   "",
		"patch -p1 < fix.patch":                         "edit",
		"cp a.go b.go":                                  "edit",
		"cp a.go /tmp/":                                 "",
		"ls | tee list.txt":                             "edit",
		"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: auth.go\nEOF":   "edit",
		"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: README.md\nEOF": "",
		"cat > a_test.go <<EOF\nEOF\ngo test ./...":                             "edit test",
		"go test ./... && sed -i s/a/b/ a.go":                                   "test edit",
	} {
		t.Run(script, func(t *testing.T) { require.Equal(t, want, said(script)) })
	}
}

func TestScopes(t *testing.T) {
	run := func(script string) testRun {
		list := project{}.parseScript(script)
		require.Len(t, list, 1, script)
		return testRun{words: list[0].words}
	}
	for _, tt := range []struct {
		later, earlier string
		covers         bool
	}{
		{"go test ./...", "go test ./...", true},
		{"go test -count=1 -race ./...", "go test ./... 2>&1 | tail -5", true},
		{"go test ./...", "go test ./auth", true},
		{"go test ./auth", "go test ./...", false},
		{"go test -run TestA ./...", "go test ./...", false},
		{"go test ./...", "go test -run TestA ./...", true},
		{"go test -short ./...", "go test ./...", false},
		{"go test -timeout 60s ./...", "go test ./...", true},
		{"pytest", "pytest tests/a.py -q", true},
		{"pytest tests/a.py", "pytest tests/b.py", false},
		{"pytest -k login", "pytest", false},
		{"npm test", "cd web && npm test", true},
		{"cargo test", "go test ./...", false},
		{"npx jest", "./node_modules/.bin/jest --ci", true},
	} {
		t.Run(tt.later+" after "+tt.earlier, func(t *testing.T) {
			require.Equal(t, tt.covers, run(tt.later).covers(run(tt.earlier)))
		})
	}
}

// A script is the agent's: whatever it is, reading it ends and finds no more commands than it has bytes.
func FuzzScript(f *testing.F) {
	for _, s := range []string{"go test ./... || true", "cat <<EOF\nx\nEOF", "a $(b \"c $(d)\") `e`", "if x; then y; fi", "bash -c 'bash -c \"go test\"'", "2>&1 >a <<<b &>c", "\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sh := parseShell(s)
		require.LessOrEqual(t, len(sh.commands), len(s))
		list := project{}.parseScript(s)
		require.LessOrEqual(t, len(list), len(s))
		for _, p := range list {
			require.NotEqual(t, p.tests, p.edits)
			require.LessOrEqual(t, len(p.name), maxName)
		}
		// What throws a status away does so whatever stands before it.
		if !strings.ContainsAny(s, "'\"`$\\<>#(){}\n;&|") {
			for _, p := range (project{}).parseScript(s + " || true") {
				require.True(t, p.edits || p.mask == thrown)
			}
		}
	})
}
