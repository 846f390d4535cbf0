// Package gowitness runs go test and reports which named tests passed.
//
// [New] returns a [verify.Witness] that runs the go test commands of a query, with -json and -count=1. It leaves
// other commands to other witnesses.
//
// A run is Met when at least one named test passed and none failed. It is NotMet when a test or a package failed or
// was not built. It is Unverified when nothing is shown either way: no test, no match, all tests of a package
// skipped, a package that says ok without a test, a test that never ended, go or a module that is not installed, no
// time left.
//
// # Limits
//
// The tests run in a process that the agent's code controls. Code in a TestMain or in an init function can leave
// tests out and can forge results. gitwitness names files that changed in this way as suspects.
//
// Benchmarks count where they fail. A command with -count=0 or -json=false shows nothing.
package gowitness
