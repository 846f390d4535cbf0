package plancriteria_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/plancriteria"
)

func FuzzExtract(f *testing.F) {
	for _, tt := range plans {
		f.Add(tt.plan)
	}
	f.Add("## Success Criteria\n-\t- a\n\t\t1. [x] b\n  c\n- # d\n- <!-- e\n  --> f\n")
	f.Fuzz(func(t *testing.T, plan string) {
		got, err := plancriteria.Extract([]byte(plan))
		if err == nil {
			checkCriteria(t, plan, got)
		} else {
			require.Zero(t, got)
		}
		if errors.Is(err, plancriteria.ErrUnusable) {
			return
		}

		same := func(variant string, ignore ...cmp.Option) {
			t.Helper()
			other, otherErr := plancriteria.Extract([]byte(variant))
			require.ErrorIs(t, otherErr, errors.Unwrap(err), "%q", variant)
			require.Empty(t, cmp.Diff(got.Items, other.Items, ignore...), "%q", variant)
		}
		lf := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(plan)
		same(lf)
		same(strings.ReplaceAll(lf, "\n", "\r\n"))
		same(strings.ReplaceAll(lf, "\n", "\r"))
		if !strings.HasPrefix(plan, "\ufeff") {
			same("\ufeff" + plan)
			if !strings.HasPrefix(plan, "---") {
				same("---\ntitle: x\n# Success Criteria\n...\n" + plan)
			}
		}
		if !errors.Is(err, plancriteria.ErrEmpty) { // a fence would fill it
			// The info string keeps the first line from closing a fence of the plan.
			same(plan + "\n\n~~~~ markdown\n## Success Criteria\n- no\n~~~~\n")
		}

		_, err = plancriteria.Extract([]byte("> " + strings.ReplaceAll(lf, "\n", "\n> ")))
		require.Error(t, err, "quoted")
	})
}

// checkCriteria checks what must hold for every result.
func checkCriteria(t *testing.T, plan string, c plancriteria.Criteria) {
	t.Helper()
	require.NotEmpty(t, c.Heading)
	require.Contains(t, plan, c.Text)
	require.True(t, utf8.ValidString(c.Text))

	rest := c.Text // the words in order, each whole unless a comment stood in the middle of it
	for _, it := range c.Items {
		require.NotEmpty(t, it.Text)
		require.Equal(t, strings.Join(strings.Fields(it.Text), " "), it.Text)
		require.GreaterOrEqual(t, it.Depth, 0)
		require.True(t, it.Checkbox || !it.Checked)
		for word := range strings.FieldsSeq(it.Text) {
			require.True(t, strings.Contains(rest, word) || strings.Contains(rest, "<!--"), "%q in %q", word, rest)
			for _, r := range word {
				_, after, found := strings.Cut(rest, string(r))
				require.True(t, found, "%q in %q", word, rest)
				rest = after
			}
		}
	}
}
