package gitwitness_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
)

func TestFileOfACommit(t *testing.T) {
	r := newRepo(t)
	r.write("docs/plan.md", "as it was\n")
	base := r.commit("base")
	r.write("docs/plan.md", "as it is\n")
	r.write("docs/new.md", "new\n")
	w := r.witness()
	text, err := w.File(t.Context(), base, "docs/plan.md", 100)
	require.NoError(t, err)
	require.Equal(t, "as it was\n", string(text))
	text, err = w.File(t.Context(), base, "docs/plan.md", 2)
	require.NoError(t, err)
	require.Equal(t, "as ", string(text))
	for _, name := range []string{"docs/new.md", "docs", "../plan.md", "", "-h"} {
		_, err = w.File(t.Context(), base, name, 100)
		require.ErrorIs(t, err, fs.ErrNotExist, name)
	}
	_, err = w.File(t.Context(), "1234567", "docs/plan.md", 100)
	require.Error(t, err)
	require.NotErrorIs(t, err, fs.ErrNotExist)

	sub := newWitness(t, &gitwitness.Witness{Dir: r.path("docs")})
	text, err = sub.File(t.Context(), base, "plan.md", 100)
	require.NoError(t, err)
	require.Equal(t, "as it was\n", string(text))
}
