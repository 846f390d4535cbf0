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
// The prompt is two files, which [Prompt] returns and [Options].Prompt replaces. README.md of this package says how to
// change them, and what the judge was measured to do.
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
