// Package verify answers whether what an agent reports as done is supported by facts that it did not write itself.
//
// An agent's report is a list of claims to test, never evidence. A [Witness] looks: at the files, the commits, a run of
// the tests. [Begin] opens a [Review] of a report, [Review.Observe] takes what the witnesses saw ([Review.Ask] asks them), and
// [Review.Record] takes the decision of a coach, a person's, a model's or a program's, which code may only lower: an approval
// that the facts do not carry becomes feedback, and feedback stays feedback. [Review.Judge] is the decision that the facts alone
// support, [Review.Standing] what they say in one of three words.
//
// [ParseReport] finds the claims, [Audit] holds them against the facts, [ParseDecision] reads a decision and [Lint] says whether it is
// of use. A [Trace] remembers what was done; [Trace.VerifyContract] says whether the procedure was kept, and [Stalled] whether another
// round is of use. [Agent] instructs a coach that is an agent itself.
//
// Everything in this package is pure. Looking is done by its sub-packages, and by hosts of their own.
//
// # Three values
//
// What was asked is [Met], [NotMet] or [Unverified]. Not to have looked is neither yes nor no, and never becomes a bool.
//
// # Limits
//
// Claims are found in English prose and in JSON. A claim that is not found is not checked, and nothing is lost by it: what is
// required is asked of the facts. A claim is called false only when the facts contradict it as it was meant, so a report that is
// vague enough cannot be caught; it supports nothing either. Facts are only as good as their witness: see the limits of each.
//
// # Errors
//
// [ParseReport], [ParseDecision] and [ReadTrace] fail, without a result and without the text at fault in the error; the errors to tell
// apart are variables. Nothing else fails but with a context.
package verify
