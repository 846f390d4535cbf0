// Package gitwitness looks at a working tree and its git repository: which files changed since a baseline, which claimed files
// and commits there are, which tests went away, and which changed files can decide what a run of tests shows.
//
// [New] returns a [verify.Witness]. [Take] remembers the state of a tree as a baseline; [Witness.Checkout] writes the baseline
// to another folder. [Witness.Diff] is a patch for a judge to read.
//
// # What is trusted
//
// Git runs as a program. The agent can write the repository's settings, so hooks, file system monitors, filters, external
// diffs, text converters, pagers, editors and remote helpers are not run, and nothing is fetched. Variables of the environment
// that begin with GIT_, replaced objects, grafts and commit graphs are ignored. Nothing is written to the repository: the tree
// is read into an index and a store of objects of our own, since the user's index can say that a file is unchanged. Names are
// data: none is read as an option or a pattern.
//
// # Limits
//
// The objects and refs of the repository are believed. An ignored file has no history; ignored programs count for the tree.
// A file that is recorded through a filter, as Git LFS does, differs from what is recorded; whether someone changed it is
// Unverified. In a shallow clone an unknown commit is Unverified. A tree with more than 1 GiB or 100,000 files that are not
// committed is not read. Repositories inside the tree count with their files, up to 50 of them, three levels deep.
//
// Git 2.31 or later is needed. A call may take a minute.
package gitwitness
