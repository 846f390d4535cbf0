// Package console is a web page on which humans see what an agent is about to do and decide it: an [http.Handler] over one
// [gate.Session], which a host mounts.
//
// [New] makes the handler, [Console.Invite] the link that lets somebody in, and Config.Submit connects the page's chat to
// the host's agent. The page itself is embedded: no build step, no request to elsewhere.
//
// The left side of the page is the conversation. It shows what the session holds and nothing else, so it is the same for
// everybody and after every reload: a context is the human's message, a tool call a line, a response is the answer once
// it is approved. The right side is the audit: what waits, in the order it came, with the exact body, what an edit would
// change, and the events as they happen; on a second page, which gates and tools ask, and the rules.
//
// # Who gets in
//
// A link of [Console.Invite] carries a random token behind the #, where browsers keep it to themselves. The page takes it
// out of the address and exchanges it for a cookie that scripts can't read and that other sites can't make the browser
// send. The name on a decision is the one the link was made for, whatever a message says. The Host of a request must be
// one of Config.Hosts, by default a loopback name asked for from this machine, and a request that changes something, or
// opens the socket, must name the same place as its Origin. Cookies don't tell ports apart: another server on the same
// name sees this one's cookie. Signing out ends the cookie, every copy of it and every page that it opened, for as long as
// the Console lives.
//
// # Protocol
//
// The page opens a WebSocket at ws?after=N&of=ID, N being the number of the last event it has seen and ID what the hello
// frame called its history. The server answers with the events after N; with a snapshot when they are too old, N is 0, or
// the history is another Console's; then with each event as it comes. An event frame
// carries the items it concerns as they are now, so applying one twice changes nothing. A command of the page has an ID of
// its own, and one reply. A client that does not read is dropped after a while and takes up where it was; nobody waits
// for it, since a client is only told that there is something new and reads it at its own pace.
//
// # Text
//
// Everything that an agent wrote is sent as text and shown as text, with what would be invisible or reordered escaped
// ([gate.Visible]). Bodies are JSON that the server indents without reading a number; the page sends an edit back as the
// text that was typed.
//
// # Limits
//
// Messages are bounded in size, and in rate by name, sockets in number, and so are attempts to get in. Expiry is the host's
// to call ([gate.Session.Expire]).
package console
