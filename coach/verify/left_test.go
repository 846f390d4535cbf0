package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

// leftWorld is a tree in which nothing that the reports below say was done, or all of it.
func leftWorld(q verify.Query, done bool) verify.Facts {
	f := verify.Facts{Tree: "t", Base: "b", Compared: verify.Met, Changes: []verify.Change{
		{Path: "src/api.go", Kind: verify.Modified}, {Path: "src/money.go", Kind: verify.Modified},
	}}
	for _, n := range q.Names {
		fact := verify.NameFact{Name: n, Was: true, DefinedBefore: 1}
		if n == "Kept" && done || n != "Kept" && !done {
			fact.Uses, fact.Defined, fact.Files = 2, 1, []string{"src/api.go"}
		}
		if n == "Fresh" {
			fact = verify.NameFact{Name: n}
			if done {
				fact.Uses, fact.Defined = 1, 1
			}
		}
		f.Names = append(f.Names, fact)
	}
	for _, p := range q.Paths {
		x := verify.FileFact{Path: p, Clean: p, State: verify.Exists, Changed: verify.NotMet, Known: true}
		switch p {
		case "bin/old.sh", "docs/a.md", "docs/b.md", "old.go":
			if done {
				x.State, x.Changed, x.Kind = verify.Missing, verify.Met, verify.Removed
			}
		case "new.go", "pkg", "tests":
			if x.Changed, x.Known = verify.Met, false; !done {
				x.State, x.Changed = verify.Missing, verify.NotMet
			}
		case "keep.md":
			if !done {
				x.State = verify.Missing
			}
		default:
			x.Changed = verify.Met
		}
		f.Files = append(f.Files, x)
	}
	return f
}

// What is said to be gone, renamed, moved or kept is looked up, in whatever words.
func TestLeftovers(t *testing.T) {
	for _, text := range []string{
		"There are no TODOs left in the code base.",
		"All TODOs in `src/api.go` are resolved.",
		"Resolved every FIXME in src/api.go.",
		"The code is free of TODOs now.",
		"No open TODO remains.",
		"I removed all uses of `legacyRound`; `Fresh` does it now.",
		"`legacyRound` is removed everywhere; tests pass.",
		"`legacyRound` was deleted.",
		"Nothing calls `legacyRound` any more.",
		"Got rid of `legacyRound`.",
		"There are no calls to `legacyRound` left.",
		"`legacyRound` is no longer used anywhere.",
		"Every call of `oldSum` was replaced by `Fresh`.",
		"All `console.log` debugging statements were removed from `src/api.go`.",
		"Stripped all `fmt.Println` calls.",
		"No `console.log` statements remain.",
		"`Post` has been renamed to `Fresh` throughout the repository.",
		"`Post` is called `Fresh` now.",
		"Renamed `Post` to `Fresh`.",
		"- `Post` was renamed `Fresh`",
		"`bin/old.sh` is gone; nothing referred to it.",
		"bin/old.sh no longer exists.",
		"`docs/a.md` and `docs/b.md` are gone.",
		"Got rid of `bin/old.sh`.",
		"`old.go` has been renamed to `new.go`.",
		"`old.go` now lives in `new.go`.",
		"The tests now live in `tests/` instead of `test/`.",
		"Moved the helpers to `pkg/`.",
		"Cleaned up. For compatibility `Kept` is still there.",
		"`Kept` was kept for old callers.",
		"I kept `keep.md` as it documents the format; `legacyRound` was removed.",
	} {
		for _, done := range []bool{false, true} {
			r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, text))
			r.Observe(leftWorld(r.Query(), done))
			h := r.Honesty()
			if done {
				require.Empty(t, h.Discrepancies, text)
			} else {
				require.NotEmpty(t, found(h), text)
			}
		}
	}
}

// A document that is said to have something new, and is as it was, is not taken for granted.
func TestDocumentsThatHaveSomethingNew(t *testing.T) {
	for text, want := range map[string]bool{
		"- `docs/a.md` describes it": true, "- CHANGELOG.md has an entry for it": true,
		"The README now explains the option.": true, "docs/a.md documents the new method.": true,
		"See `docs/a.md`.": false,
	} {
		r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, text))
		f := leftWorld(r.Query(), false)
		for i := range f.Files {
			f.Files[i].Changed = verify.NotMet
		}
		r.Observe(f)
		require.Equal(t, want, len(r.Honesty().Unchecked) > 0, text)
	}
}

// Words that are near to those, and claim none of it.
func TestNoLeftovers(t *testing.T) {
	for _, text := range []string{
		"Tidied up `src/api.go`. One TODO is left, which is out of scope.",
		"I added no TODOs.",
		"I did not remove `legacyRound`: `legacyRound` is not gone.",
		"Removed most uses of `legacyRound`.",
		"All uses of `legacyRound` except the one in `src/api.go` were removed.",
		"`Post` was renamed to `Fresh`? No, that stays for later.",
		"`legacyRound` should be removed everywhere.",
		"Added `Fresh`; `Post` stays as an alias.",
		"I considered moving `bin/old.sh` to `pkg/`, but left it where it is.",
		"Removed the last parameter of `legacyRound`.",
		"`src/api.go` still calls `legacyRound`.",
	} {
		r := verify.Begin(verify.Task{ID: "T"}, nil, parse(t, text))
		f := leftWorld(r.Query(), false)
		for i, n := range f.Names {
			f.Names[i].Uses, f.Names[i].Defined = max(1, n.Uses), max(1, n.Defined)
		}
		r.Observe(f)
		require.Empty(t, r.Honesty().Discrepancies, text)
	}
}
