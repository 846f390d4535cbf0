// Package evaluate measures a classifier on labelled cases: how often it is right, what its mistakes cost, and
// whether a change of its prompt or its tables did any good.
//
// Start with [LoadCases] and [Evaluate]. The [Report] has the figures and one [Outcome] a case. [Report.Compare] sets
// it against another report. A [View] shows reports, one or several beside each other. [Requirement.Set]
// reads what a report must reach, such as "wrong_continues<=0.06".
//
// # Cases
//
// A case file has one JSON object a line. Blank lines, a byte order mark and CRLF do not matter:
//
//	{"name":"hollow","input":{"text":"Fixed, should work now.","request":"Fix the login"},
//	 "want":{"type":"status","was_rejected_completion":true,"action":"continue",
//	         "message":{"contains":["test"],"max_chars":350}},
//	 "meta":{"agent":"cursor","lang":"en","sure":true}}
//
// (on one line). An unknown key is an error, except under meta, which is free. The input is a [classify.Input]. Of
// want only the type is needed. The action follows from the type: a status is to be continued, everything else
// delivered. A given action must agree. Meta is kept. A case with meta.sure false is a coin toss, on which two people
// may differ; every figure is given for all cases and for the sure ones.
//
// # Figures
//
// Types and confidence are the classifier's own, before any gate. The action is "continue" for a status whose
// confidence is at or above [Options].Threshold, else "deliver".
//
//   - macro_f1: the mean of the F1 of the five types. A type that no case has and no verdict names is left out. A type
//     that verdicts name though no case has it counts 0.
//   - accuracy: the share of cases whose type is right; the rejected flag does not count.
//   - continue_precision: of the cases that would be continued, the share that are statuses.
//   - wrong_continues: the share of question, blocker and error cases that would be continued.
//   - completions_continued: the share of completion cases that would be continued.
//   - caught: the share of status cases that would be continued.
//   - rejected_precision: of the verdicts "rejected completion", the share that is right.
//   - rejected_recall: of the rejected completions, the share that was found as such.
//   - ece: the expected calibration error: the mean distance between confidence and accuracy over ten bins of equal
//     width, weighted by the cases in them.
//   - asked: the share of calls about which a model was asked, as far as the classifier says so.
//   - message: of the cases that check the message, the share whose message is as wanted.
//
// A proportion has its 95 % Wilson score interval. macro_f1 and ece are not proportions and have none.
//
// A case on which the classifier failed, or whose result is not valid ([classify.Result.ValidateFor]), is never left
// out. It has no type, so it is wrong. It would be delivered. It is counted as unanswered. Only ece, which needs a
// confidence, passes over it.
//
// With repeats, the verdict of a case is the majority's. A run that failed votes for no answer. The type is the one
// with the most votes; of equals it is no answer, then the first in the order of [classify.Types], which leans to the
// human. It is rejected if more than half of the runs with that type say so, and continued if more than half of all
// runs would continue. The confidence is the mean of the runs with that type.
//
// # Limits
//
// A report in JSON has names, labels, verdicts and meta, and no text of a case. A page that is made of it later shows
// no texts.
package evaluate
