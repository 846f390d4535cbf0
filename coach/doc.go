// Package coach answers one question: the agent must go on, so what exactly do we say to it?
//
// [BuildCoachingMessage] turns a verdict, and what is known beside it, into one message. Its doc comment is the
// specification. [New] makes a [Coach] with a host's own wording.
//
// Everything in this package is pure and safe for concurrent use.
//
// # Tuning
//
// The wording is data: one file for each language in templates/, such as templates/en.txt. A file defines one
// text/template for each tier but plain, and the parts of the tier "rejection". Its head lists the fields that a
// template can print. Change a file and see the effect on the messages with
//
//	go test ./coach -update
//	git diff coach/testdata
//
// To change the wording for one host, give [Config.Templates] an [io/fs.FS] with a file for each language to change.
// The file defines the templates to replace; the others stay. White space and line breaks in a template do not
// matter, because the message has one line. The prefix is not part of a template.
//
// Two more files hold data: files.txt says which files are code, tests, interface, configuration or documents;
// guard.txt says which words the guard refuses and which commands only check, and has the regular expressions.
//
// # The guard
//
// Words of others do not bring orders into our messages. Data of the plan, the verifier, the skill and the agent is
// left out if it holds our prefix, markup, tokens of a chat template, a URL, shell operators, an order such as "ignore
// the rules" or "do not ask", to erase data, to send secrets, to pay or to switch off hooks, a path of the system, a
// word of two alphabets, or a command that does more than check. A quote of the agent must be a plain sentence besides.
//
// A classifier's message is refused if it carries, anywhere in its first 4,000 characters, regardless of case and
// look-alike letters and digits, markup, a word of two alphabets, or one of these:
//
//   - a URL: anything with "://", and a bare host name under a common top-level domain or an IP address;
//   - a secret: the value of a key, a token, a password or an environment variable;
//   - a path outside the project, such as ~/.ssh or /etc/passwd;
//   - mail: a mail address, and words such as "via Slack" or "to our webhook";
//   - a command: a shell prompt, variable, operator, option or script; a command that writes, sends, fetches or removes
//     something; and inline code, other than a name such as `parser.go`, a well-known check on files of the tree, an
//     option that the output names in inline code, and a command that the output has in inline code or a fence, if
//     nothing in it is dangerous;
//   - an act beyond the project, where an order may begin: to pay or order something, to push, merge or release, to
//     delete or undo something, to tell somebody, to change the system or the agent's settings; and any other word
//     before an article or a pronoun that guard.txt, "coaching", does not have: "bury the old files";
//   - permission: "without asking", "skip the …", "approve", "don't ask" and the like.
//
// What the request or the plan's criteria contain in the same words, outside a clause that denies it or only mentions
// it, is not refused, and nor is what the message itself forbids: "do not delete anything". For an order to say a
// secret, they must contain the order. A request that is ours vouches for nothing.
//
// # Limits
//
// The guard knows most words of English, fewer of other languages. In Czech, Russian, Chinese and Japanese, which have
// no articles, it refuses only the orders that it knows. It is a filter of words, not a sandbox: the host must enforce
// what the agent may do.
//
// # Errors
//
// Only [New] fails, for a template that could not be used later. A tier that cannot be used is skipped and named in
// [Message.Skipped], and the last tier is a constant.
package coach
