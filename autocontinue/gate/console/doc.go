// Package console is a web page on which people see what an agent is about to do, and decide it. It is an
// [http.Handler] for one [gate.Session], which a host mounts.
//
// [New] makes the handler. [Console.Invite] makes a link that signs somebody in. Config.Submit connects the chat of
// the page to the host's agent. The page is embedded: it has no build step and loads nothing from elsewhere. README.md
// of this package describes its protocol.
//
// The left side of the page is the conversation. The right side is the audit: what waits, in the order of the
// proposals, with the exact body, and the timeline. A second page shows which gates and tools ask, and the rules.
//
// # What a person sees is what they approve
//
// Short values of a body come first. As long as a part of a body is cut, below the fold of its box, or was never in
// sight, the button says so and does not approve. An edit replaces only what the person changed. "Always allow" writes
// a rule that begins as narrow as its call: the same tool with equal arguments. What an agent wrote is shown as text,
// with escapes for what a person would not see (classify/plaintext).
//
// # Who gets in
//
// A link has a random token behind the #, which browsers do not send. The page exchanges it for a cookie, which scripts
// cannot read and other sites cannot make a browser send. A link works once. A browser that is signed in becomes
// another person only if somebody confirms it. The name on a decision is the name of the link.
//
// A cookie is good for 12 hours, if Invite was called for its name since the host started. Signing out ends the cookie,
// every copy of it, and every page that it opened. With Config.SignIns this holds over a restart too; the file has only
// hashes of cookies.
//
// The Host of a request must be one of Config.Hosts; by default it is a loopback name, and the request comes from
// this machine. A request that changes something, or opens the socket, must name the same place as its Origin.
// Cookies do not tell ports apart: another server on the same name sees this one's cookie.
//
// # Limits
//
// Messages are bounded in size and, by name, in rate. So are sockets in number, attempts to sign in, and the time to
// read a request. The host calls [gate.Session.Expire]. Exports and searches cover the events that the session keeps.
package console
