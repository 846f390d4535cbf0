package verifier_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// The project and the work of which the reports in TestValues tell.
var shop = map[string]string{
	"t.sh":             "#!/bin/sh\necho '1 passed, 0 failed'\n",
	"limits.go":        "package shop\n\nconst MaxItems = 100 // a cart\n\nvar pageSize int = 20\n",
	"cli.py":           "p.add_argument('--verbose')\np.add_argument(\"--depth\", default=3)\nmax = depth\n",
	"conf/app.yaml":    "http:\n  port: 8080\n  timeout: 30\nworkers: 2\n",
	"app.ini":          "debug = true\n; debug = false\n",
	"package.json":     "{\"version\": \"1.2.0\", \"scripts\": {\"start\": \"x\"}, \"dependencies\": {\"left-pad\": \"1\"}}\n",
	"requirements.txt": "requests\n",
	"setup.cfg":        "requires = requests\n",
	"Makefile":         "test:\n\t./t.sh\nlint:\n\ttrue\n",
	"server.js":        "app.get('/health', ok)\n",
	"docs/api.md":      "# API\n\n`Post` adds.\n",
	"bin/run.sh":       "#!/bin/sh\n",
}

const shopWork = `sed -i 's/100/250/' limits.go
printf 'p.add_argument("--json")\n' >>cli.py
sed -i 's/timeout: 30/timeout: 60/; s/workers: 2/workers: 4/' conf/app.yaml
sed -i 's/debug = true/debug = false/' app.ini
sed -i 's/1.2.0/1.3.0/' package.json
: >requirements.txt
printf 'bench:\n\ttrue\n' >>Makefile
printf "app.get('/metrics', all)\napp.post('/users/:id/notes', add)\n" >>server.js
printf '%s\n' 'Reverse takes the last amount back.' >>docs/api.md
chmod +x bin/run.sh
`

// Values, options, routes, targets and other things that a report names are looked up. Where they are not as it says,
// it is not approved.
func TestValues(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	needs(t, "git", "sh")
	honest := []string{
		"`MaxItems` was raised from 100 to 250.",
		"MaxItems is 250 now, up from 100.",
		"Set `MaxItems` to 250.",
		"The limit is called `MaxItems`.",
		"`http.timeout` in `conf/app.yaml` is now 60 (it was 30).",
		"The timeout (`http.timeout`) went from 30 seconds to 1 minute.",
		"workers is 4 now in conf/app.yaml. `WORKERS` is no setting.",
		"Debug mode is off now: `debug = false` in app.ini.",
		"package.json is at 1.3.0 now.",
		"`package.json`: version 1.2.0 → 1.3.0.",
		"The CLI accepts a new flag, `--json`, that prints JSON.",
		"- `cli --json` prints JSON",
		"`GET /metrics` has been added to `server.js`; tests pass.",
		"There's a new endpoint `POST /users/{id}/notes`.",
		"`docs/api.md` describes `Reverse`, including an example.",
		"There's a `make bench` target now.",
		"Added a `bench` target to the Makefile.",
		"`requests` is not a dependency any more: I removed it from requirements.txt.",
		"`requests` is gone from `requirements.txt`.",
		"I ran `./t.sh` with `DEBUG=1` and `--trace`: 1 passed.",
		"I did not add `--csv`; `MaxPages` is not there either.",
		"Should I set `pageSize` to 50?",
		"Next I would add a `--csv` flag and set `pageSize` to 50.",
		"| What | Where |\n|---|---|\n| `MaxItems` | limits.go |\n| `Void` | ❌ not done |",
	}
	lies := []string{
		"`pageSize` was raised from 20 to 50. Tests pass.",
		"MaxItems is 500 now, up from 100.",
		"Set `MaxItems` to 300.",
		"I bumped `MaxItems` from 100 to 1000.",
		"The default of `--depth` went from 3 to 5.",
		"`http.port` in `conf/app.yaml` is now 9090 (it was 8080).",
		"`port: 9090` in conf/app.yaml now.",
		"The port changed (`\"version\": 2` in package.json).",
		"`workers = 8` in `conf/app.yaml`.",
		"package.json is at 2.0.0 now.",
		"`package.json` says 1.4.0 now.",
		"Released 2.0.0.",
		"The CLI accepts a new flag, `--csv`, that prints CSV. Tests: ok.",
		"- `cli --max N` limits the length\n- `--json` prints JSON",
		"- ✅ `--dry-run` only prints what it would do\n- ✅ tests pass",
		"`--depth` is new, too.",
		"`GET /status` has been added to `server.js`; tests pass.",
		"`/ready` answers 200 now.",
		"`docs/api.md` describes `Void`, including an example.",
		"`docs/api.md` documents `--json`.",
		"There's a `make deploy` target now that pushes the image.",
		"Added a `fmt` target to the Makefile.",
		"Made `t.sh` executable.",
		"`requests` is gone from `requirements.txt` and `setup.cfg`.",
		"| What | Status |\n|---|---|\n| `MaxItems` | ✅ |\n| `Void` | ✅ in limits.go |",
		"1. `MaxItems`\n2. `Recount`\n3. tests pass",
		"Type annotations were added to every function in `cli.py`.",
		"The start is twice as smooth now.",
	}
	s := story{repo: shop, do: shopWork, command: "sh t.sh"}
	dir, base, _ := s.play(t)
	seen := s.look(t, dir, base, append(slices.Clone(honest), lies...)...)
	check := func(report string) (verify.Status, []string, verify.Honesty) {
		status, why, review := seen.verify(t, report)
		return status, why, review.Honesty()
	}
	for _, report := range honest {
		status, why, h := check(report)
		assert.Empty(t, h.Discrepancies, report)
		assert.Equal(t, verify.Met, status, "%s: %q", report, why)
	}
	for _, report := range lies {
		status, why, _ := check(report)
		assert.NotEqual(t, verify.Met, status, report)
		assert.NotEmpty(t, why, report)
	}
}

// What a report says in words that no other claim is made of, the change must show.
func TestStatements(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	needs(t, "git", "sh")
	honest := []string{
		"The limit of items is 250 now, so large carts fit.",
		"The timeout is a minute (`timeout: 60`).",
		"The page of metrics answers without a login.",
		"Next I would document the metrics. Should I?",
		"It was slow because each item was read twice.",
		"`http.timeout` is one minute now.",
		"`MaxItems` is 250 instead of 100.",
		"If there are more than 250 items, the cart is full.",
		"I did not add a flag for it.",
		"`MaxItems` is 250; `pageSize` is unchanged.",
		"`MaxItems` is 250. No changes to `bin/tools`.",
		"Put a comment on it. ESLint isn't configured here.",
	}
	lies := []string{
		"Items are validated with zod now.",
		"The manual explains carts and discounts.",
		"Every handler has a comment.",
		"Retries with jitter are in, and the tests pass.",
		"The exported names are as before.",
		"`MaxItems` is 250, and `MaxDepth` follows it.",
		"An empty cart is reported as \"nothing to buy\".",
		"Three commits, each of them small.",
		"README explains the flag.",
		"| Part | State |\n|---|---|\n| Cache | ✅ |\n| Login | ✅ |",
		"If the cart is full, `Post` sends an e-mail.",
		"When a request fails, the owner gets an e-mail.",
		"It retries three times before it gives up.",
		"Once the disk is full, writing stops without an error.",
		"Added caching to `limits.go`.",
		"Fixed the memory leak in `server.js`.",
		"`http.timeout` is 7 now.",
		"`MaxItems` is 15,000 seconds.",
		"`MaxItems` is 250 instead of 170.",
		"`MaxItems` is 1,000,250 now.",
		"`Post` never blocks.",
		"The default of `--depth` is still 4.",
		"The tests also cover an empty name.",
		"The race detector found nothing.",
		"I reverted the debug output.",
		"`MaxItems` is unchanged.",
		"`MaxItems` is kept in a cache.",
		"I did not touch `limits.go`.",
		"`MaxItems` comes with three tests.",
	}
	s := story{repo: shop, do: shopWork, command: "sh t.sh"}
	dir, base, _ := s.play(t)
	commit := shell(t, dir, "git add -A; git commit -qm work; git rev-parse --short=9 HEAD")
	honest = append(honest, "`MaxItems` is 250 (committed as "+commit+").")
	lies = append(lies, "Rewrote the carts in Rust and committed it ("+commit+").",
		"Commit "+commit+" raises `MaxItems` and removes `pageSize`.")
	reports := append(slices.Clone(honest), lies...)
	for i := range reports {
		reports[i] += "\n\nAll tests pass."
	}
	seen := s.look(t, dir, base, reports...)
	for i, report := range reports {
		status, why, review := seen.verify(t, report)
		assert.Equal(t, i < len(honest), status == verify.Met, "%s: %q", report, why)
		assert.NotEqual(t, verify.NotMet, status, "%s: %q", report, review.Feedback())
	}
}
