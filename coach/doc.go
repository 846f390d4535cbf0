// Package coach answers one question: the agent is to go on, so what exactly do we say to it?
//
// [BuildCoachingMessage] turns a verdict and what is known beside it (the plan's criteria, the skill, a verifier's
// feedback, what the host saw) into one message. Its doc comment is the specification. [New] makes a [Coach] with a host's
// own wording. [Clean] and [IsOurs] are the two rules about text that other packages share, [Phrases] is the wording that
// default messages have in common.
//
// Everything in this package is pure and safe for concurrent use.
//
// # Tuning
//
// A tier's wording is a text/template file in templates/. To change it for everybody, edit the file:
//
//	verify         templates/verify.txt
//	llm            templates/llm.txt
//	rejection      templates/rejection.txt
//	plan_criteria  templates/plan_criteria.txt
//	plan_pointer   templates/plan_pointer.txt
//	skill          templates/skill.txt
//	repeat         templates/repeat.txt
//	plain          none: it is the word "continue"
//
// and see the effect on every tier and attempt with
//
//	go test ./coach -update
//	git diff coach/testdata
//
// which rewrites testdata/<tier>.txt. To change it for one host, give [Config.Templates] an [io/fs.FS] that holds the files
// to replace under the same names. White space and line breaks in a template do not matter: the message is one line.
// The prefix is not part of a template.
//
// A template can print these fields. They are cleaned and cut; those meant to stand in double quotes hold none. A text
// field without a value is empty, a number 0.
//
//	.Attempt      1, 2, 3, …: how often the same gap was coached, this time included
//	.Again        "for the second time", "for the third time", "once more"; empty at attempt 1
//	.Unmet        what to show, to follow the word "show": never empty
//	.Request      the start of the human's request, to be quoted
//	.Feedback     the verifier's worst finding, a sentence
//	.Others       its further findings
//	.Worst        the worst finding, short, to be quoted
//	.Message      the classifier's own message
//	.Claim        words of the output that claim completion, to be quoted; so are the next four
//	.Hedge        words that weaken it
//	.Gap          words that admit an open part
//	.Promise      words that announce a result instead of showing it
//	.Failed       what the host saw fail
//	.Absent       what the host looked for and did not see: "no test run since the last edit"
//	.Lacks        the missing kinds of evidence, to follow "no": "test output, exit code, commit or PR link"
//	.Proof        what would show them, to follow "show"
//	.Plan         the plan's file name, to be quoted
//	.Heading      the heading of its criteria, to be quoted
//	.Criterion    the first open criterion, to be quoted
//	.Criteria     the open criteria, each in quotes; the ticked ones when none is open
//	.More         how many criteria did not fit into .Criteria
//	.Open         how many criteria are open
//	.Ticked       how many criteria are ticked
//	.Section      the section's text when it has no list, to be quoted
//	.Skill        the skill's trigger, or its name
//	.Description  what the skill is for
//	.Hint         the evidence the skill asks for, to follow "show"
//
// Any template works. One of nothing but text, fields and if, with and, or, not and the comparison of a number field with a
// literal (eq .Attempt 1), is compiled and costs a few allocations for each message, like the default ones; any other is
// printed by text/template, which takes some hundred.
//
// The words for which a classifier's message is dropped are in guard.txt, one a line.
//
// # Limits
//
// The wording is English, and so is guard.txt: a classifier's message in another language passes when it carries no URL and
// no command. The guard is a filter of words, no sandbox; what the agent may do is for its host to enforce.
//
// # Errors
//
// Only [New] fails, for a template that could not be used later. Building a message never fails: a tier that cannot be
// used is passed over and named in [Message.Skipped], and the last tier is a constant.
package coach
