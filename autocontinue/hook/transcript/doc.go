// Package transcript answers one question: what did the agent do, by the transcript that its host wrote?
//
// This package reads the transcripts of Claude Code, Codex, Gemini CLI, Cursor and Copilot CLI, line by line and
// forwards, and folds the lines into a [State]. A [Trace] says at any moment what the State knows about a pause: the
// human's request, the agent's last message, how often the turn was continued, and the [classify.Work].
//
// A hook keeps the State of a session as JSON in its own memory, so each call reads only the new lines. At a pause it
// calls [State.Await] with a function that tells whether the trace shows the message of the event ([Trace.Shows]).
// After each pause, and when a prompt goes to the agent, it calls [State.Expect] or [State.Sent]. When [Trace.Behind]
// is true the transcript did not have the message in time. Nothing that it lacks counts as not done.
//
// [Open] recognizes an old transcript by its content. [Transcript.Walk] goes through its prompts and pauses with the
// same State, so an old session is decided as it was live.
//
// # Work
//
// Files commands.txt, tools.txt and files.txt say what commands, tools and files are. The rules:
//
//   - Files outside of the project, temporary files, logs and what a build makes do not count as edited. The project is
//     the repository of the folder where the agent works, or that folder.
//   - A check succeeded when its exit status is 0 and its output shows no failure. When a pipe or a list of commands
//     takes the status away, the output decides; when that shows nothing, the outcome is unknown.
//   - An edit of code makes all checks before it stale. A successful check after it closes it; a commit or a push
//     does not. An edit of documents makes no check stale. Links, moves and removals of files that are not source code
//     count as such. A file that the agent made and removed again leaves no edit behind.
//   - An unknown tool, a sub-agent, a command that cannot be read, another branch, and lines that cannot be read make
//     the facts unknown. So does a check whose outcome is unknown, such as a request to another machine. The next edit
//     or successful check makes them known again.
//   - An edit that was not checked stays open in the next turn when the human only tells the agent to go on or says
//     yes ([ReadReply]). Another request takes the work as it is.
//
// The field Session is unknown where something happened that changes no file of the project, such as an installation.
// Checks may lack some where Edited is unknown.
//
// # Limits
//
// A line above 4 MiB is left out. Without a kept State only the last 32 MiB of a file are read, and the work before
// them is unknown. A file holds one session: lines of others are skipped. A script of a shell above 64 KiB, or with
// deep brackets, is not read. Cursor's transcripts have no results of calls, so the outcome of each check is unknown.
// What a sub-agent did is in its own transcript.
//
// The formats are those of 2026: Claude Code 1.0 to 2.1, Codex until 0.169, Gemini CLI until 0.61, Copilot CLI until
// 1.0.102, Cursor until 3.8. A key that is not known is skipped. Keys match by their exact case.
//
// # Errors
//
// No error holds text of a transcript, or its name. A file that is not a transcript is [ErrFormat].
package transcript
