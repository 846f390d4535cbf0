// Package verify answers whether what an agent reports as done is supported by facts that it did not write itself.
//
// An agent's report is a list of claims to test, never evidence. A [Witness] looks: at the files, the commits, a run of
// the tests. [Begin] opens a [Review] of a report, [Review.Observe] takes what the witnesses saw, and [Review.Record]
// takes the decision of a coach, a person's, a model's or a program's, which code may only lower: an approval that
// the facts do not carry becomes feedback, and feedback stays feedback.
//
// Everything in this package is pure. Looking is done by its sub-packages, and by hosts of their own.
//
// # Three values
//
// What was asked is [Met], [NotMet] or [Unverified]. Not to have looked is neither yes nor no, and never becomes a bool.
package verify
