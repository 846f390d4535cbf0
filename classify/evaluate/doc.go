// Package evaluate measures a classifier on labelled cases: how often it is right, what its mistakes cost, and whether a
// change of its prompt or its tables did any good.
//
// Start with [LoadCases] and [Evaluate]; the [Report] has the figures, one [Outcome] a case, [Report.Compare] to set it
// against an earlier report, and [Report.HTML], or [Report.HTMLAgainst] with the comparison, to look at it. [ParseRequirement]
// reads what a report must reach, such as "wrong_continues<=0.06".
//
// # Cases
//
// A case file has one JSON object a line; blank lines, a byte order mark and CRLF do not matter:
//
//	{"name":"hollow","input":{"text":"Fixed, should work now.","request":"Fix the login"},
//	 "want":{"type":"status","was_rejected_completion":true,"action":"continue","coaching":{"contains":["test"],"max_length":600}},
//	 "meta":{"agent":"cursor","lang":"en","sure":true}}
//
// (on one line). Keys are as they stand here, in this letter case, each once; an unknown one is an error, but under meta, which is
// free. The input is a [classify.Input]. Of want only the type is needed: the action follows from it (a status is
// to be continued, all else delivered) and, where it is given, has to agree. Meta is kept; meta.sure false marks a
// coin toss, on which two people may differ, and every figure is given for all cases and for the sure ones.
//
// # Figures
//
// Types and confidence are taken from the classifier's own result, before any gate. The action is "continue" for a status
// whose confidence is at or above [Options].Threshold, else "deliver".
//
//   - macro_f1: the mean of the F1 of the five types. A type that no case has and no verdict names is left out of the mean;
//     one that verdicts name though no case has it counts 0.
//   - accuracy: the share of cases whose type is right; the rejected flag is not asked.
//   - wrong_continues: the share of question, blocker and error cases that would be continued.
//   - completions_continued: the share of completion cases that would be continued.
//   - caught: the share of status cases that would be continued.
//   - rejected_precision: of the verdicts "rejected completion" the share that is right.
//   - rejected_recall: of the rejected completions the share that was found as such.
//   - ece: the expected calibration error, the mean distance between confidence and accuracy over ten bins of equal width,
//     weighted by the cases in them. The first bin is 0 to below 0.1, the last 0.9 to 1.
//
// A proportion has its 95 % Wilson score interval (Wilson 1927). macro_f1 and ece are no proportions and have none.
//
// A case on which the classifier failed (an error, a type that is none of the five, a confidence outside 0 to 1) is never
// left out: it has no type, so it is wrong; it would be delivered; and it is counted as unanswered. Only ece, which needs a
// confidence, passes over it.
//
// With repeats the verdict of a case is the majority's. A run that failed has a vote like any other, for no answer. The type is
// the one with the most votes, of equals no answer and then the first in the order of [classify.Types], which leans to the
// human; rejected if more than half of the runs with that type say so; continued if more than half of all runs, the failed ones
// included, would continue; the confidence is the mean of the runs with that type.
//
// # Limits
//
// A report in JSON holds names, labels, verdicts and meta, no text of a case. [Outcome.Input] and [Outcome.Result] are there
// in a fresh report alone, so the HTML of a report read from a file shows no texts.
package evaluate
