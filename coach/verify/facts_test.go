package verify_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
)

func TestMergeOfFacts(t *testing.T) {
	old := verify.Facts{
		Tree: "t1", Changes: []verify.Change{{Path: "a.go", Kind: verify.Modified}}, TestFiles: []verify.TestFileFact{{Path: "a_test.go", Kind: verify.Modified}},
		Files:   []verify.FileFact{{Path: "a.go", State: verify.Exists}, {Path: "b.go"}},
		Commits: []verify.CommitFact{{Rev: "1", Exists: verify.Met}},
		Tests:   []verify.TestFact{{Command: goTest, Status: verify.Met}},
		Unseen:  []string{"one"},
	}
	require.Empty(t, cmp.Diff(old, verify.Facts{}.Merge(old), cmpopts.EquateEmpty()), "nothing is lost")
	require.Empty(t, cmp.Diff(old, old.Merge(verify.Facts{}), cmpopts.EquateEmpty()))

	m := old.Merge(verify.Facts{
		Tree: "t2", Base: "b", Compared: verify.Met,
		Files:   []verify.FileFact{{Path: "a.go"}, {Path: "b.go", State: verify.Missing}},
		Commits: []verify.CommitFact{{Rev: "1", Exists: verify.NotMet}},
		Tests:   []verify.TestFact{{Command: goTest, Why: "no time"}, {Command: []string{"make"}}},
		Unseen:  []string{"two"},
	})
	require.Empty(t, cmp.Diff(verify.Facts{
		Tree: "t2", Base: "b", Compared: verify.Met, // a comparison is one whole
		Files:   []verify.FileFact{{Path: "a.go", State: verify.Exists}, {Path: "b.go", State: verify.Missing}},
		Commits: []verify.CommitFact{{Rev: "1", Exists: verify.NotMet}},
		Tests:   []verify.TestFact{{Command: goTest, Status: verify.Met}, {Command: []string{"make"}}},
		Unseen:  []string{"one", "two"},
	}, m, cmpopts.EquateEmpty()))
	require.Equal(t, "t1", old.Tree)
	require.Len(t, old.Tests, 1)
}

func TestAnd(t *testing.T) {
	for _, tt := range []struct {
		all  []verify.Status
		want verify.Status
	}{
		{nil, verify.Unverified},
		{[]verify.Status{verify.Met}, verify.Met},
		{[]verify.Status{verify.Met, ""}, verify.Unverified},
		{[]verify.Status{"", verify.NotMet}, verify.NotMet},
		{[]verify.Status{verify.Met, "yes"}, verify.Unverified},
	} {
		require.Equal(t, tt.want, verify.And(tt.all...), "%q", tt.all)
	}
}
