// Package llm judges the pause of a coding agent by one call to a language model, which classifies and coaches at once.
//
// Start with [NewClient] and [New]; the [Classifier] is a [classify.Classifier]. Put it before a heuristic, so that
// there is always an answer. classify.Fallback(judge, heuristic) asks the model about everything.
// classify.Cascade(heuristic, judge, 0.86) asks it only where the heuristic is not certain. [Client] by itself makes
// calls that answer with a JSON object.
//
// # Whom to ask
//
// Without a key: the command line of an agent that is installed anyway, with its login. A verdict then spends the quota
// of that login and takes 2 to 10 seconds, mostly those of the model. Any other program can judge, too: see [Command].
// Or any server that speaks OpenAI's chat completions, such as Azure's v1 API, Ollama and vLLM. The examples of
// [NewClient] have the settings.
//
// The first call finds out what a server does not know of structured output and of max_completion_tokens, if the server
// says so by an error. On a server that ignores max_completion_tokens only the time bounds an answer. A model that
// reasons needs more than 500 MaxTokens and more than 10 seconds, or a low Effort.
//
// # What is sent
//
// A system message that never varies: how to judge, examples, the form of the answer. Providers cache it. Then a user
// message with the request, what the host knows, and the output, bounded and between markers: see [Classifier.Request].
// Nothing else is sent, and to no other place. Redirects are not followed.
//
// An agent runs without tools, hooks, MCP servers, project settings and a session file. What remains: Claude Code reads
// the user's settings, since they may hold the login. Codex reads the user's config.toml and AGENTS.md, and adds its
// own instructions. Gemini CLI and Copilot CLI get a copy of the login in a temporary home.
//
// # Tuning
//
// The prompt is two files, and a change needs no rebuild. Write the files of [Prompt] into a folder, change a word
// there, and give the folder as an fs.FS to [Options].Prompt. The file system.md says how to judge. The file
// examples.jsonl has judged outputs, one a line: a name, an input as [classify.Input] has it, and the answer to give.
// Package classify/evaluate measures what a change did. Add a short example for each kind of mistake that you see. How
// the data is marked and how the answer looks cannot be replaced, because the parser and the protection against orders
// in the data rest on it.
//
// # Figures
//
// A large language model answered in the judge's place, from the rendered prompts alone. At a threshold of 0.80, 109 of
// 128 statuses were continued (85 %), and 1 of 140 completions, of outputs of all kinds. The accuracy was 0.92. Of 379
// questions, blockers and errors, 1 was continued. Of 35 pauses with a transcript, facts settled 33 without a call.
//
// In a cascade from 0.86, the model was asked about 44 to 45 % of 320 outputs. The accuracy was 2.0 points lower (1.3
// to 2.5), and macro-F1 2.1, over three ways to divide the repositories. Of the 379 above, 3 were continued.
//
// These figures hold for that model. Measure yours with sidecoach eval.
//
// # Limits
//
// A model can be talked into a wrong verdict by the text that it judges. The markers say what is data, and code drops
// what a verdict may not have, such as coaching on a completion. A wrong type stays wrong. Facts do not depend on
// anybody's words: [classify.Work], the host's own evidence, and a verifier.
//
// # Errors
//
// A [Classifier] and a [Client] return the errors listed at [Client.JSON], constructors what is wrong with the settings
// or the prompt. No error contains the key or words of the agent. No answer contains the key either.
package llm
