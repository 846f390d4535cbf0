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
			rd, _, err := h.read(Input{Text: test.text}, false)
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

// An output that nothing can be run for is delivered: an act on files, a change of a document, an answer to a greeting,
// and text that claims nothing. A check that is claimed, or code beside it, makes it a claim again.
func TestNothingToRun(t *testing.T) {
	h, err := NewHeuristic()
	if err != nil {
		t.Fatal(err)
	}
	values := "Cleaned the settings.\n\nVerification:\n- The list of plugins shows `3` entries\n" +
		"- Both links under `~/cart` resolve\n- `cart list` prints only `total` and `tax`\n"
	for _, test := range []struct {
		name, request, text string
		rejected            bool
	}{
		{"a copy", "copy the hook files to docs/hooks", "Done! I've copied the four hook files to `docs/hooks`.", false},
		{"a copy and a check", "copy the hook files to docs/hooks",
			"Done! I've copied the four hook files to `docs/hooks`, and all tests pass.", true},
		{"a deletion in Chinese", "删除 old.json 这个文件", "已删除 `old.json`，完成。", false},
		{"a document in words", "note the new pattern", "Updated the architecture doc with the retry pattern.", false},
		{"a document of the request", "Update docs/design.md", "Updated the single reference from `a_b` to `c_d`.", false},
		{"a greeting", "hello", "Done", false},
		{"a look", "check the backup status", "The backup is complete. **2,300 photos** are stored.", false},
		{"a command", "now run `uptime` there", "Done! `uptime` ran, and it printed `up 3 days`.", false},
		{"measured values", "clean it up", values, false},
		{"claims of checks are no values", "clean it up", "Cleaned the settings.\n\nVerification:\n- `npm test` passed\n" +
			"- `npm run build` passed\n- `npm run lint` passed\n", true},
	} {
		r, err := h.Classify(t.Context(), Input{Text: test.text, Request: test.request})
		if err != nil || r.WasRejectedCompletion != test.rejected || !test.rejected && r.Type != Completion {
			t.Errorf("%s: %s (%s), %v", test.name, r.Type, r.Reason, err)
		}
	}
}
