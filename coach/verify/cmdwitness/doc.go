// Package cmdwitness runs a command that the host names, and reports how it ended and how many tests passed.
//
// [New] returns a [verify.Witness] that runs the commands of a query. [Run] runs one program without a shell, without
// secrets in its environment ([Environment]), and with a timeout. [Split] takes a command line apart. [Find] finds
// the command that tests a project, and [Root] the folder where it runs.
//
// # Limits
//
// A command and its children run with the rights of this process. They are stopped, not isolated. When the run or
// this process ends, even by SIGKILL, every process of the command's group is killed. A process that leaves its group
// (setsid) goes on. A program that controls the test run can print anything.
//
// # Errors
//
// [StartError] is a program that could not be started. It says nothing about the work.
package cmdwitness
