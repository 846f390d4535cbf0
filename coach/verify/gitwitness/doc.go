// Package gitwitness looks at a working tree and its git repository. It finds the files that changed since a
// baseline, the claimed files and commits, the tests that went away, and the changed files that can decide what a run
// of tests shows.
//
// [New] returns a [verify.Witness]. [Take] remembers the state of a tree as a baseline. [Witness.Checkout] writes the
// baseline to another folder. [Witness.Diff] is a patch for a judge to read.
//
// # Trust
//
// Git runs as a program. The agent can write the repository's settings. So hooks, file system monitors, filters,
// external diffs, text converters, pagers, editors and remote helpers do not run, and nothing is fetched. Variables
// that begin with GIT_, replaced objects, grafts and commit graphs are ignored. The user's index can say that a file
// is unchanged, so the tree is read into an index and a store of our own. Nothing is written to the repository. Names
// are data: none is read as an option or a pattern.
//
// # Limits
//
// The objects and refs of the repository are believed. An ignored file has no history. Ignored programs count for the
// tree. A file behind a filter, such as Git LFS, is Unverified. In a shallow clone, an unknown commit is Unverified.
// A sparse checkout is not read, nor a tree with more than 1 GiB or 100,000 files that are not committed. Repositories
// inside the tree count with their files, up to 50 of them, three levels deep.
//
// Git 2.31 or later is needed. A call may take a minute.
package gitwitness
