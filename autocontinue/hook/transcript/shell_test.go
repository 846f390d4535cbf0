package transcript

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// doings writes what a script does in a few words: "test", "test?" with a lost status, "test!" with a hidden one,
// "edit a.go", "edit" of an unknown file, "link" of files that are not source code, "else" for a change elsewhere.
func doings(script string) string {
	var words []string
	for _, e := range scriptEffects(project{root: "/home/ada/shop"}, "/home/ada/shop", script) {
		switch {
		case e.Unknown:
			words = append(words, "unknown")
		case e.Moves:
			words = append(words, "move")
		case e.Layout && len(e.Edits) > 0:
			words = append(words, "link")
		case len(e.Edits) > 0:
			var files []string
			for _, f := range e.Edits {
				files = append(files, strings.TrimPrefix(f, "/home/ada/shop/"))
			}
			words = append(words, strings.TrimSpace("edit "+strings.Join(files, ",")))
		case e.Elsewhere && e.Check == "":
			words = append(words, "else")
		}
		if e.Looks {
			words = append(words, "look")
		}
		if e.Check != "" {
			words = append(words, string(e.Check)+[]string{"", "?", "!"}[e.Status])
		}
	}
	return strings.Join(words, " ")
}

func TestScripts(t *testing.T) {
	for script, want := range map[string]string{
		"":      "",
		"ls -l": "look",
		// What runs tests.
		"go test ./...":                                  "test",
		"go -C web test ./...":                           "test",
		"CGO_ENABLED=0 GOFLAGS=-mod=mod go test .":       "test",
		"/usr/local/go/bin/go test":                      "test",
		"npm test":                                       "test",
		"npm t":                                          "test",
		"npm --prefix web run test:unit -- --ci":         "test",
		"pnpm --filter web test":                         "test",
		"pnpm -r test":                                   "test",
		"yarn test --watchAll=false":                     "test",
		"yarn workspace web test":                        "test",
		"bun test":                                       "test",
		"npx jest src/login":                             "test",
		"npx --yes vitest run":                           "test",
		"npx playwright test":                            "test",
		"./node_modules/.bin/jest":                       "test",
		"node --test":                                    "test",
		"deno test -A":                                   "test",
		"cargo test --workspace":                         "test",
		"cargo +nightly nextest run":                     "test",
		"pytest -q":                                      "test",
		"python -m pytest tests/a.py":                    "test",
		"python3 -W error -m unittest discover":          "test",
		"python3 manage.py test":                         "test",
		"uv run pytest":                                  "test",
		"poetry run python -m pytest":                    "test",
		"coverage run -m pytest":                         "test",
		"tox -e py312":                                   "test",
		"make test":                                      "test",
		"make -C web -j 4 check":                         "test",
		"make clean test":                                "test",
		"just test":                                      "test",
		"turbo run build test":                           "test",
		"bundle exec rspec spec/login_spec.rb":           "test",
		"bin/rails test":                                 "test",
		"rake spec":                                      "test",
		"vendor/bin/phpunit":                             "test",
		"php artisan test":                               "test",
		"composer test":                                  "test",
		"mvn -q -pl web verify":                          "test",
		"./gradlew :web:test --info":                     "test",
		"dotnet test":                                    "test",
		"swift test":                                     "test",
		"xcodebuild -scheme Shop test":                   "test",
		"mix test":                                       "test",
		"ctest --output-on-failure":                      "test",
		"bazel test //...":                               "test",
		"zig build test":                                 "test",
		"bats tests":                                     "test",
		"./scripts/run-tests.sh":                         "test",
		"bash scripts/test.sh fast":                      "test",
		"python3 tests/login_test.py":                    "test",
		"docker compose run --rm app go test ./...":      "test",
		"docker exec shop-1 sh -c 'cd /app && npm test'": "test",
		"gh pr checks 12":                                "test",
		// What checks otherwise.
		"go build ./...":                        "build",
		"npm run build":                         "build",
		"yarn build":                            "build",
		"npx tsc --noEmit":                      "build",
		"npm run typecheck":                     "build",
		"pnpm check-types":                      "build",
		"mypy src":                              "build",
		"make":                                  "build",
		"./gradlew assemble":                    "build",
		"docker build -t shop .":                "build",
		"gcc -o a a.c":                          "build",
		"go vet ./... test":                     "lint",
		"gofmt -l .":                            "lint",
		"npm run lint":                          "lint",
		"npm run format:check":                  "lint",
		"npx eslint src":                        "lint",
		"ruff check .":                          "lint",
		"black --check .":                       "lint",
		"terraform validate":                    "lint",
		"python -m json.tool a.json":            "lint",
		"jq . a.json":                           "lint",
		"bash -n run.sh":                        "lint",
		"node --check a.js":                     "lint",
		"python3 -m py_compile a.py":            "lint",
		"nginx -t":                              "lint",
		"git diff --check":                      "lint",
		"node app.js":                           "run",
		"python3 -c 'import shop; print(1)'":    "run",
		"python3 - <<'EOF'\nprint(2)\nEOF":      "run",
		"go run ./cmd/shop":                     "run",
		"cargo run":                             "run",
		"npm start":                             "run",
		"npm run dev":                           "run",
		"curl -s localhost:8080/health":         "run",
		"./shop --version":                      "run",
		"shopctl status":                        "run",
		"psql -h localhost -c 'select 1'":       "run",
		"docker compose up -d":                  "run",
		"git commit -m 'go test ./... passes'":  "commit",
		"git -C sub commit -am x":               "commit",
		"git push -u origin main":               "push",
		"gh pr create --fill":                   "pull_request",
		"git add -A && git commit -m x":         "commit",
		"npx prettier --write src && npm test":  "edit test",
		"npx eslint --fix src":                  "edit lint",
		"python3 generate.py":                   "edit run",
		"git add . && git commit -qm x && ls -": "commit look",
		// What does nothing of that.
		"npm ls":                            "",
		"npx playwright install":            "else",
		"npm install":                       "else",
		"pip install -r requirements.txt":   "else",
		"mkdir -p a/b":                      "else",
		"kill 12":                           "else",
		"brew install jq":                   "else",
		"kubectl apply -f a.yaml":           "else",
		"kubectl get pods":                  "",
		"cargo test --no-run":               "",
		"pytest --collect-only":             "",
		"make -n test":                      "",
		"ctest -N":                          "",
		"go test -list . ./...":             "",
		"go test -run '^$' -bench . ./...":  "",
		"node --version":                    "",
		"go version":                        "",
		"grep -rn 'go test' .":              "",
		"sed -n 1,20p a.go":                 "",
		"rg -n login | head":                "",
		"cat test.sh":                       "",
		"wc -l a.go":                        "",
		"echo go test ./...":                "",
		"git status && git diff":            "",
		"git log --oneline | head":          "",
		"git stash list":                    "",
		"git checkout -b fix":               "",
		"git restore --staged a.go":         "",
		"git push --dry-run":                "",
		"gh pr view 12":                     "",
		"git apply --check fix.patch":       "",
		"find . -name '*.go' | xargs wc -l": "",
		"awk '{print $1}' a.go > /dev/null": "",
		"for f in *.go; do echo $f; done":   "",
		"perl -ne 'print' a.txt":            "",
		"test -f go.mod && [ -d web ]":      "look look",
		"readlink -f a":                     "look",
		"sleep 5; true":                     "",
		"claude --help":                     "run",
		"export A=1; source .env":           "run",
		"unzip -l a.zip":                    "else",
		"cd web":                            "",
		// What only runs a command.
		"time go test ./...":                            "test",
		"timeout 120 go test ./...":                     "test",
		"timeout -k 5 120s go test ./...":               "test",
		"env -u HOME X=1 go test":                       "test",
		"sudo -u ci go test":                            "test",
		"nice -n 10 go test":                            "test",
		"bash -c 'go test ./...'":                       "test",
		"bash -lc \"cd web && npm test | tail\"":        "test?",
		"bash -c 'go test ./...' || true":               "test?",
		"bash -c \"bash -c 'go test ./...'\"":           "test",
		"bash <<'EOF'\ngo test ./...\nEOF":              "test",
		"eval 'go test ./...'":                          "test",
		"(cd web && npm test)":                          "test",
		"{ go test ./...; }":                            "test",
		"cd web; npm test":                              "test",
		"go test ./... &&\n  echo ok":                   "test",
		"go test \\\n  ./...":                           "test",
		"# go test\nls":                                 "look",
		"go test ./... # all of them":                   "test",
		"go build && go test ./... && git add -A":       "build test",
		"go test ./... 2>&1":                            "test",
		"go test ./... > out.txt 2>&1":                  "test",
		"go test ./... || exit 1":                       "test",
		"go test ./... || { echo no; exit 1; }":         "test",
		"cd web || exit 1; npm test":                    "test",
		"set -e; go test ./...; echo ok":                "test",
		"set -euo pipefail\ngo test ./... | tail":       "test",
		"set -o pipefail && go test ./... | tee x":      "test edit x",
		"ls | xargs go vet":                             "look lint",
		"find . -name '*.js' -exec node --check {} \\;": "lint?",
		// Whose status something else takes the place of.
		"go test ./... | tail -5":                   "test?",
		"go test ./... |& tail -5":                  "test?",
		"go test ./... | grep -v ok | head":         "test?",
		"go test ./...; echo \"exit: $?\"":          "test?",
		"go test ./...; git status":                 "test?",
		"go test ./...\ngit status":                 "test?",
		"(go test ./...) | tail":                    "test?",
		"if go test ./...; then echo ok; fi":        "test?",
		"for d in a b; do go test ./$d; done":       "test?",
		"go test ./... || true":                     "test?",
		"go test ./... || echo failed":              "test?",
		"go test ./... ; true":                      "test?",
		"[ -d node_modules ] || npm test":           "look test?", // it may not have run
		"true || go test ./... | tail":              "test?",
		"out=$(go test ./...)":                      "test?",
		"echo `go test ./...`":                      "test?",
		"check() { go test ./...; }; check":         "test?",
		"! go test ./...":                           "test!",
		"while ! go test ./...; do sleep 1; done":   "test!",
		"go test ./... &":                           "test!",
		"nohup go test ./... > /tmp/log 2>&1 &":     "test!",
		"diff <(go test ./a) <(go test ./b)":        "test! test!",
		"npm run dev > /tmp/log 2>&1 & sleep 2; ls": "run! look",
		// What changes files.
		"sed -i 's/a/b/' auth.go":                                             "edit auth.go",
		"sed -i '' -e s/a/b/ auth.go cart.go":                                 "edit auth.go,cart.go",
		"perl -pi -e s/a/b/ auth.go":                                          "edit auth.go",
		"perl -0pi -e 's/a/b/' web/auth.ts":                                   "edit web/auth.ts",
		"grep -rl a . | xargs sed -i s/a/b/":                                  "edit",
		"find . -name '*.go' -exec sed -i s/a/b/ {} +":                        "edit {}",
		"cd web && sed -i s/a/b/ a.ts":                                        "edit web/a.ts",
		"F=auth.go; sed -i s/a/b/ \"$F\"":                                     "edit auth.go",
		"echo x > auth.go":                                                    "edit auth.go",
		"echo x >> auth.go":                                                   "edit auth.go",
		"> auth.go":                                                           "edit auth.go",
		"echo x > /tmp/auth.go":                                               "else",
		"cat auth.go > /dev/null":                                             "",
		"cat > auth.go <<'EOF'\ngo test ./...\nEOF\nls":                       "edit auth.go look",
		"cat <<EOF >> auth.go\nx\nEOF":                                        "edit auth.go",
		"cat > a_test.go <<EOF\nEOF\ngo test ./...":                           "edit a_test.go test",
		"ls | tee list.txt":                                                   "look edit list.txt",
		"go test ./... && sed -i s/a/b/ a.go":                                 "test edit a.go",
		"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: auth.go\nEOF": "edit auth.go",
		"patch -p1 < fix.patch":                                               "edit",
		"cp a.go b.go":                                                        "edit b.go",
		"cp a.go /tmp/":                                                       "else",
		"mv a.go pkg/":                                                        "edit pkg/a.go,a.go",
		"mv old new":                                                          "link",
		"ln -sfn ../shared shared":                                            "link",
		"rm -rf notes":                                                        "link",
		"rm a.go":                                                             "edit a.go",
		"rm -rf node_modules dist":                                            "",
		"touch new.go":                                                        "edit new.go",
		"gofmt -w .":                                                          "edit",
		"go generate ./...":                                                   "edit",
		"go mod tidy":                                                         "edit",
		"npm install lodash":                                                  "edit",
		"cargo add serde":                                                     "edit",
		"npm run format":                                                      "edit",
		"rails generate model Cart":                                           "edit",
		"git apply fix.patch":                                                 "edit",
		"git checkout -- auth.go":                                             "edit auth.go",
		"git checkout auth.go":                                                "edit auth.go",
		"git restore auth.go":                                                 "edit auth.go",
		"git revert HEAD":                                                     "edit",
		"git mv a.go b.go":                                                    "edit a.go,b.go",
		"git checkout main":                                                   "move",
		"git switch main && git pull":                                         "move move",
		"git merge fix":                                                       "move",
		"git stash":                                                           "move",
		"git reset --hard":                                                    "move",
		"git reset auth.go":                                                   "",
		"git -C /srv/other apply fix.patch":                                   "else",
		"cd /srv/other && git commit -am x":                                   "commit",
		"node -e \"require('fs').writeFileSync('a.json','{}')\"":     "edit a.json",
		"python3 - <<'EOF'\nopen('web/a.py','w').write('x')\nEOF":    "edit web/a.py",
		"python3 -c \"import sys; sys.stdout.write('x')\"":           "run",
		"python3 -c \"import subprocess; subprocess.run(['make'])\"": "unknown",
		// What cannot be read.
		"go test './...":                              "unknown",
		"if then":                                     "unknown",
		strings.Repeat("(", 500_000):                  "unknown",
		strings.Repeat("{ ", 20_000):                  "unknown",
		strings.Repeat("x ", 40_000):                  "unknown",
		"echo \"${a:-" + strings.Repeat("${a:-", 300): "unknown",
	} {
		t.Run(script[:min(len(script), 60)], func(t *testing.T) { require.Equal(t, want, doings(script)) })
	}
}

// Scripts within the bounds that nest as deep as they can are read without harm.
func TestNestedScripts(t *testing.T) {
	for _, s := range []string{"if ", "! ", "f() ", "time ", "while ", "case x in x) ", "[[ ! ", "a && ", "a | ", "coproc ", "((1+", "$((", "<(", "`"} {
		scriptEffects(project{}, "", strings.Repeat(s, maxScript/len(s)))
	}
}

// A check covers another that it has no word less to choose by.
func TestCovers(t *testing.T) {
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
		effect := func(script string) effect {
			list := scriptEffects(project{}, "", script)
			require.Len(t, list, 1, script)
			return list[0]
		}
		require.Equal(t, tt.covers, covers(effect(tt.later), effect(tt.earlier)), "%s after %s", tt.later, tt.earlier)
	}
}

// A script is the agent's: whatever it is, reading it ends, in bounds. What follows "&" is in the background.
func FuzzScript(f *testing.F) {
	for _, s := range []string{
		"go test ./... || true", "cat <<EOF\nx\nEOF", "a $(b \"c $(d)\") `e`", "if x; then y; fi", "bash -c 'bash -c \"go test\"'",
		"2>&1 >a <<<b &>c", "\\", "go test; >a", "go test | x; echo ${PIPESTATUS[0]} $?", "sed -i s/a/b/ a.go", "git -C x commit",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list := scriptEffects(project{root: "/w"}, "/w", s)
		require.LessOrEqual(t, len(list), maxEffects)
		for _, e := range list {
			require.True(t, e.matters())
			require.LessOrEqual(t, len([]rune(e.Name)), maxCommand)
			require.LessOrEqual(t, len(e.Scope), maxScope)
		}
		if !strings.ContainsAny(s, "'\"`$\\<>#(){}\n;&|!=") && strings.TrimSpace(s) != "" {
			for _, e := range scriptEffects(project{}, "", s+" &") {
				require.True(t, e.Unknown || e.Status == statusHidden, "%q", e.Name)
			}
		}
	})
}
