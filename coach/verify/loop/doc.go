// Package loop puts a review of facts into the loop: its [Verifier] is an autocontinue.Verifier that looks before a claim of completion
// is decided about.
//
// It may only lower a verdict, and only for what was seen not to hold: a critical discrepancy between report and facts, a
// command of the host's that newly fails, a criterion of the plan that such a command refutes. Then the completion becomes a
// rejected one and is coached, worst finding first. What could not be looked at changes nothing, and the decision's note says so.
//
// The agent can edit the plan and everything else in the tree. Nothing it writes is ever run: a criterion that names a command, such
// as "- [ ] Tests pass: `go test ./...`", is checked by it only if it equals, word by word, one that the host lists.
//
// # Errors
//
// [New] refuses a configuration that could look at nothing. Verify fails only with its context; a witness that fails leaves
// its part unverified.
package loop
