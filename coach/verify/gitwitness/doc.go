// Package gitwitness looks at a working tree and its git repository: which claimed files are there and have changed since a
// baseline, which claimed commits there are, which test files were changed or removed, and what the tree's content is.
//
// [New] returns a [verify.Witness] that answers a query with facts. [Witness.Tree] is the hash by which one sees that a tree has
// changed after the evidence was taken; [Witness.Diff] is a patch for a judge to read.
//
// # What is trusted
//
// Git runs as a program, with the repository's settings taken for what they are: the agent's to write. Hooks, file system
// monitors, clean filters, external diffs, text converters, pagers, editors and remote helpers are not run, and nothing
// is fetched; variables of the environment that start with GIT_, replaced objects, grafts and commit graphs are not
// believed; nothing is written to the repository. Files are compared by way of an index of our own, since the user's may say that a
// file is to be taken for unchanged. Names are data: none is read as an option, a pattern or a range.
//
// # Limits
//
// The objects and refs of the repository are believed. A baseline that is a branch can be moved; give the name of a
// commit. A file that is ignored has no history, so that whether it has changed cannot be told, and it does not count for the
// tree's hash unless it is a Go file beside others that are not ignored. A file that is recorded through a filter, as Git LFS does, differs from what is recorded; whether
// someone changed it is Unverified. In a shallow clone a commit that is not there is Unverified, and in a sparse checkout a file that
// it leaves out. A go.work that is ignored is not looked at. A submodule counts for the hash with its files, and as changed when another commit is checked out in it.
//
// Git 2.31 or later is needed. A call may take a minute and answer with 64 MiB; beyond that the answer is Unverified.
package gitwitness
