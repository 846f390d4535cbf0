package classify

import (
	"testing"
)

func TestShownResults(t *testing.T) {
	h, err := NewHeuristic()
	if err != nil {
		t.Fatal(err)
	}
	const (
		results = "## Rules updated\n\nI changed the deny list in `settings.json`.\n\n## Verification\n\n" +
			"- `pip --version` → BLOCKED ✓\n- `node --version` → BLOCKED ✓\n- `uv run pytest` → Allowed ✓\n"
		clean = "I moved the types into `types.ts`.\n\n```\n> shop@1.2.0 type-check\n> vue-tsc --build\n\n```\n\n" +
			"The type check passes and everything is done."
		powerShell = "I moved the fonts to `fonts/`.\n\n```\nPS C:\\shop> python run.py\nImportError: no module named kivy\n" +
			"PS C:\\shop> py run.py\n[INFO   ] Start application main loop\n[INFO   ] Leaving application in progress\n" +
			"PS C:\\shop>\n```\n\nThe application runs, and the fonts are in place."
	)
	for _, test := range []struct {
		name, text string
		shows      bool
	}{
		{"commands with their results", results, true},
		{"a failure among them", results + "- `uv run ruff` → failed\n", false},
		{"what is only expected", "Updated the deny list.\n\nExpected results once you reload:\n\n" +
			"- `pip --version` → BLOCKED\n- `node --version` → BLOCKED\n", false},
		{"names instead of commands", "Renamed them:\n\n- `pip` → OK\n- `node` → OK\n", false},
		{"a renaming", "Renamed them:\n\n- `npm run a` → `npm run b`\n- `npm run c` → `npm run d`\n", false},
		{"clean output at the end", clean, true},
		{"the last command counts", powerShell, true},
		{"an edit after it", clean + "\n\n```go\nvar x int\n```\n", false},
		{"output with an error", "Done.\n\n```\n$ tsc --noEmit\na.ts:1 error TS2304\n```\n", false},
		{"a command for the reader", "Done. Run it:\n\n```bash\n$ npm start\n```\n", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rd, _, err := h.read(t.Context(), Input{Text: test.text}, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := rd.observed.shows(); got != test.shows {
				t.Errorf("shows = %v, want %v: %+v", got, test.shows, rd.observed)
			}
		})
	}
	for _, text := range []string{results, clean, powerShell} {
		r, err := h.Classify(t.Context(), Input{Text: text, Request: "Change it and check it."})
		if err != nil || r.Type != Completion {
			t.Errorf("%.60q is %s (%s), %v; want a completion", text, r.Type, r.Reason, err)
		}
	}
}
