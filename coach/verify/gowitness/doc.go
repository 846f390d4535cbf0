// Package gowitness runs go test and says what it shows: not whether it said ok, but which named tests passed.
//
// [New] returns a [verify.Witness] that runs the go test commands of a query, with -json and -count=1, and leaves the others to
// other witnesses. [Run] is one run, with all that is known of it.
//
// A run is Met when at least one named test passed, none failed, and every test that the packages' files declare was reported
// and no other: the files are read for that. It is NotMet when a test or a package failed or was not built. It is Unverified when
// nothing is shown either way: no test, no match, all tests of a package skipped, a package that says ok without its
// tests (a TestMain that does not run them), a cached result, a test that never ended, a result for a test that is nowhere
// declared, go or a module not at hand, no time left.
//
// # Limits
//
// The tests run in a process that the player's code controls. What a test prints comes as output, not as events. But go takes
// for a result what is printed before the first test, and what is written in the protocol between a test program and go: code
// that ends the program afterwards can so report tests that are declared and did not run. Code that knows its parent process can
// write into its output. That code would stand in a TestMain, in an init function or in what they call. So a TestMain, an init
// function that ends the program, or a test's settings that were changed call for someone to look at them: gitwitness reports
// them as [verify.TestFileFact] with Config set, where a file that was changed shows it plainly, and [Outcome].Mains names the
// packages with a TestMain.
//
// Whether a test that passed tests anything is not looked at, nor whether all subtests ran. Tests that the command leaves out
// (-run, -skip) are not missed. Benchmarks count where they fail. A command that brings flags of its own keeps them: with -count=0
// or -json=false it shows nothing.
package gowitness
