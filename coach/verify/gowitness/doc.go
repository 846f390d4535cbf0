// Package gowitness runs go test and reports which named tests passed.
//
// [New] returns a [verify.Witness] that runs the go test commands of a query, with -json and -count=1, and leaves the others
// to other witnesses.
//
// A run is Met when at least one named test passed, none failed, and every test that the packages' files declare was
// reported, and no other. It is NotMet when a test or a package failed or was not built. It is Unverified when nothing is
// shown either way: no test, no match, all tests of a package skipped, a package that says ok without its tests (a TestMain
// that does not run them), a test that never ended, a result for a test that is nowhere declared, go or a module that is
// not installed, no time left.
//
// # Limits
//
// The tests run in a process that the agent's code controls. What a test prints is output, not an event. But go takes for a
// result what is printed before the first test, and what is written in the protocol between a test program and go. Code
// that ends the program afterwards can so report tests that did not run. Such code stands in a TestMain, in an init function
// or in what they call: gitwitness names files that changed in this way as suspects.
//
// Tests that the command leaves out (-run, -skip) are not missed. Benchmarks count where they fail. A command with -count=0
// or -json=false shows nothing.
package gowitness
