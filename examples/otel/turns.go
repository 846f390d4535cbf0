package main

import (
	"errors"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/classify/llm"
)

// pause is one output of a turn, and what the played parts do about it.
type pause struct {
	text   string
	failed bool
	hold   string
	plan   string
	report string // how the pause is reported once more: "again" with its ID, "callback" with another

	model error                     // why the model does not answer, when it is asked
	found autocontinue.Verification // by the verifier
	blind error                     // why the verifier could not look
	store error                     // what the store answers
	races int                       // that the store loses
}

// turn is what an agent says to one request. It goes on as long as the loop sends it on.
type turn struct {
	request string
	pauses  []pause
}

const (
	hollow = "I've fixed the login redirect and updated the handler. Everything should work now, all tests pass."
	shown  = "Fixed the login redirect.\n\n$ go test ./...\nok  \texample.com/app/login\t0.412s\nok  \texample." +
		"com/app/session\t0.101s\n\n42 passed, 0 failed. Committed as 4f2a9c1."
	pretends = "The rename is complete.\n\n$ go test ./...\nok  \texample.com/app/store\t0.322s\n\n18 passed, 0 failed."
	unclear  = "Hm."
)

var verified = autocontinue.Verification{Status: autocontinue.Verified, Note: "go test was run again"}

// turns has one for each way that a turn can go.
var turns = []turn{
	{"Fix the login redirect", []pause{{text: hollow}, {text: shown, found: verified}}},
	// insists until it has stalled
	{"Fix the login redirect, please", []pause{{text: hollow}, {text: hollow}, {text: hollow}}},
	{"Move the store to SQLite", []pause{
		{text: "I'm reading the store package now. Next I'll write the migration."},
		{text: "The migration is written. Now I'm porting the queries, then the tests."},
		{text: "Half of the queries are ported. I'll continue with the joins."},
		{text: "The joins are ported. Now I'm looking at why the benchmarks are slower."},
	}},
	{"Add a cache", []pause{
		{text: "I'm looking at the hot paths now. Next I'll measure them."},
		{text: "There are two ways to do this. Should I use an LRU cache, or a time to live for each entry?"},
	}},
	{"Publish the package",
		[]pause{
			{
				text: "I can't publish: the registry answers 403, and I have no token for it. Please give me one with write " +
					"access.",
			},
		}},
	{"Run the migration", []pause{{text: "Error: context length exceeded", failed: true}}},
	{"Fix the build", []pause{{text: shown, found: verified}, {text: shown, report: "callback"}}},
	{"Fix the build again", []pause{{text: shown, found: verified}, {text: shown, report: "again"}}},
	{"Rename the store", []pause{
		{text: pretends, found: autocontinue.Verification{Status: autocontinue.Rejected,
			Feedback: "go build fails: undefined: NewStore"}},
		{text: shown, found: verified},
	}},
	{"Tidy up", []pause{{text: shown, blind: errors.New("git is not installed")}}},
	{"Change the handler", []pause{{text: unclear}}},
	{"Change the other handler", []pause{{text: unclear, model: &llm.Error{Status: 429,
		Why: "the endpoint answered 429 Too Many Requests"}}}},
	{"Change all handlers", []pause{{text: unclear, model: &llm.Error{Answered: true,
		Why: "unparseable answer: no JSON object in it"}}}},
	{"Follow the plan", []pause{{text: hollow, plan: "gone.md"}}},
	{"Plan the work", []pause{{text: "I'm going through the open issues now.", hold: "plan mode"}}},
	{"Fix the flaky test", []pause{{text: shown, races: 3, found: verified}}},
	{"Fix the other flaky test", []pause{{text: shown, store: autocontinue.ErrConflict}}},
	{"Fix all flaky tests", []pause{{text: shown, store: autocontinue.ErrUnavailable}}},
}
