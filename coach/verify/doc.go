// Package verify answers whether facts support an agent's report of its work. The agent did not write these facts.
//
// A report is a list of claims to test, never evidence. A [Witness] looks at the files, the commits and a run of the
// tests. [Begin] opens a [Review] of a report. [Review.Observe] takes the facts of the witnesses. [Review.Record]
// takes the decision of a coach: a person, a model or a program. Code may only lower this decision. An approval that
// the facts do not support becomes feedback, and feedback stays feedback. [Review.Judge] is the decision that the
// facts alone support. [Review.Standing] is the same in one of three words.
//
// [ParseReport] finds the claims and [Review.Honesty] compares them with the facts. [ParseDecision] reads a decision
// and [Lint] finds useless feedback. A [Trace] remembers the steps of reviews, and [Stalled] reports whether another
// round is useful. [Agent] instructs a coach that is an agent itself.
//
// Everything in this package is pure. The packages below it, and hosts, look at the world.
//
// # Three values
//
// The answer to a question is [Met], [NotMet] or [Unverified]. A thing that nobody looked at is neither true nor
// false.
//
// # Limits
//
// Claims are found in English prose and in JSON. A claim is called false only when the facts contradict it as it was
// meant. All else that a report says of the work, the change must show: its names and numbers, words such as "retries"
// that say by what means, and without a name half of its plain words. What the change does not show is unchecked.
// What it shows may still be wrong: that the names are there does not prove what is said of them. Facts are only as
// good as their witness: see the limits of each.
//
// # Errors
//
// [ParseReport], [ParseDecision] and [ReadTrace] can fail. Their errors do not quote the text.
package verify
