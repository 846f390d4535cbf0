// Package llm judges the pause of a coding agent by one call to a language model, which classifies and coaches at once.
//
// Start with [NewClient] and [New]; the [Classifier] is a [classify.Classifier]. Put it before a heuristic, so that there is
// always an answer: classify.Fallback(judge, heuristic) asks the model about everything, classify.Cascade(heuristic, judge,
// 0.9) only where the heuristic is not certain. [Client] by itself makes calls that answer with a JSON object, for other uses.
//
// # Endpoints
//
// Any server that speaks OpenAI's chat completions:
//
//	endpoint         BaseURL                                       Key           other fields
//	OpenAI           (empty)                                       sk-…
//	Azure OpenAI     https://NAME.openai.azure.com                 the resource  Azure: true, Deployment, APIVersion
//	Azure, v1 API    https://NAME.openai.azure.com/openai/v1       the resource  Model is the deployment
//	Ollama           http://localhost:11434/v1                     (empty)       LegacyMaxTokens: true
//	vLLM             http://localhost:8000/v1                      its --api-key
//	llama.cpp        http://localhost:8080/v1                      its --api-key LegacyMaxTokens: true
//	LM Studio        http://localhost:1234/v1                      (empty)       LegacyMaxTokens: true
//	OpenRouter       https://openrouter.ai/api/v1                  sk-or-…       Model is "vendor/name"
//	Anthropic        https://api.anthropic.com/v1                  sk-ant-…      Format: FormatPlain
//
// What a server does not know of structured output and of max_completion_tokens is found out on the first call, if
// it says so by an error; the fields above save that call, and are needed where a server ignores what it does not know.
// Anthropic's compatible endpoint ignores response_format and does not cache prompts, so plain instructions are its normal
// road. A model that reasons needs more than 500 MaxTokens and more than 10 s, or a low ReasoningEffort.
//
// # What is sent
//
// A system message that never varies (how to judge, examples, the form of the answer), because providers cache what
// requests begin with, from 1,024 tokens on, and a user message with the request, the context and the output, see
// [Classifier.Messages]. Nothing else, and to no other place: redirects are not followed.
//
// # Tuning
//
// The prompt is two files, and a change needs no rebuild: write the ones of [Prompt] into a folder, change a word there, and
// give the folder as an fs.FS to [Options].Prompt. system.md says how to judge. examples.jsonl holds judged outputs, one a
// line: a name, an input as [classify.Input] has it, and the answer to give. Package classify/evaluate measures what a change
// did. Keep an example for each mistake you see, short, and the whole between 1,100 and 1,500 tokens:
//
//	go -C classify/llm/tokens test -v
//
// prints how many they are. How the data is marked and how the answer looks (form.md, schema.json) can't be replaced: the
// parser and the protection against orders in the data rest on them.
//
// # Limits
//
// A model can be talked into a wrong verdict by the text it judges. The markers tell it what is data, and code drops what
// a verdict may not have, such as coaching on a completion; but a wrong type stays wrong. The host's own evidence and a
// verifier are what does not depend on anybody's words.
//
// Tokens are counted as o200k_base does, the tokenizer of OpenAI's models since GPT-4o. By that count the variable part never
// has more than 900, and nothing of an output of up to 2,400 characters is left out as long as it fits beside a quarter of
// the other parts. Other tokenizers may need more: the older ones of OpenAI about half as much again for Cyrillic and three
// times as much for Devanagari.
//
// # Errors
//
// A [Classifier] and a [Client] return the errors listed at [Client.JSON], constructors what is wrong with the settings or
// the prompt. No error holds the key, anything a server sent, or anything of the texts judged. No answer and no result holds
// the key either: where a server repeats one of 8 characters or more, "[key]" stands there.
package llm
