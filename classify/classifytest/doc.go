// Package classifytest unit-tests prompts and the classifiers that send them, without a key and without the network.
//
// [Run] judges labelled cases in subtests and shows what differs. [Replay] puts recorded answers, cassettes, in the
// place of a model. [Server] is an endpoint that misbehaves by a script.
//
// # Testing a prompt
//
// A host that changed the built-in prompt (sidecoach prompt DIR writes it) keeps its own cases beside it and tests it
// as the example of this package does. The first time, and whenever a word of the prompt, the model or a case has
// changed, this fails with the line that changed and the command that asks the model again:
//
//	SIDECOACH_RECORD=1 go test -count=1 -run '^TestPrompt$'
//
// After that a failing case is a verdict that changed with the prompt. Commit the cassettes: their diff shows the
// prompt beside each new answer.
//
// Without a key, SIDECOACH_RECORD=hand writes a draft of a cassette for each case. A draft fails until you fill in its
// answer and make its origin "written by hand". After a change of the prompt, the same command keeps those answers.
// Such a test shows that the prompt goes out as it was reviewed and that answers of this kind are read rightly. It
// shows nothing about a model.
//
// # Testing a classifier
//
// A classifier over an endpoint meets one that is stuck ([Stuck]), out of order ([Status]) or talks nonsense ([Text]).
// Any other [Answer] is a handler of yours.
//
// # Limits
//
// A cassette has one answer for one request. What a model answers to the same words on another day is not tested;
// package evaluate measures that.
//
// # Errors
//
// Everything here reports through [testing.TB].
package classifytest
