// Package cmdwitness runs a command that the host names, and says how it fared: its exit status and, where it writes a report,
// how many tests passed, failed and were skipped.
//
// [New] returns a [verify.Witness] that runs the commands of a query. [Run] is one bounded run of a program: no shell, a reduced environment ([Environ]), a timeout after which every process
// of its group is killed, and memory for the end of its output alone. [ReadJUnit] and [TAP] read reports of tests. [Split]
// takes a command line apart, and refuses what only a shell understands.
//
// # Limits
//
// A command and what it starts run with the rights of this process: they are stopped, not shut in. A process that leaves
// its process group (setsid) outlives the run, though not its hold on the output; on Windows one that is started before its
// parent is put into a job object does so too. A player that controls the test process can write whatever report it
// likes: a report says what the tests say, not that the tests are honest.
//
// # Errors
//
// [StartError] is a program that could not be started. [FormatError] is a report that could not be read. Neither
// says anything of the work that was to be checked.
package cmdwitness
