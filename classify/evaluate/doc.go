// Package evaluate measures a classifier on labelled cases: how often it is right, what its mistakes cost, and
// whether a change of its prompt or its tables did any good.
//
// Start with [LoadCases] and [Evaluate]. The [Report] has the figures and one [Outcome] a case. [Report.Compare] sets
// it against another report. A [View] shows reports, one or several beside each other. [Requirement.Set]
// reads what a report must reach, such as "wrong_continues<=0.06". README.md of this package describes the files of
// cases, and what each figure means.
//
// # Limits
//
// A report in JSON has names, labels, verdicts and meta, and no text of a case. A page that is made of it later shows
// no texts.
package evaluate
