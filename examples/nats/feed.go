package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/sidecoach/sidecoach/autocontinue"
)

// session returns what one session's queue delivers, in order: outputs of several turns, of all kinds, each at least
// twice under its ID, now and then under a second ID, as when a callback and a return value report the same pause. It
// has at most so many turns.
func session(seed uint64, name string, n, turns int) []autocontinue.Output {
	r := rand.New(rand.NewPCG(seed, hash(name)))
	var queue []autocontinue.Output
	turn, left := 0, 0
	for i := 0; i < n; i++ {
		if left == 0 && turn < turns {
			turn++
			left = 1 + r.IntN(7)
		}
		left--
		out := autocontinue.Output{
			Session: name, Turn: fmt.Sprint("turn-", turn), Run: fmt.Sprint("run-", i), ID: fmt.Sprint("out-", i),
			Request: requests[r.IntN(len(requests))],
		}
		say(r, &out)
		queue = append(queue, out)
		if i+1 < n && r.IntN(5) == 0 {
			i++
			second := out
			second.ID = fmt.Sprint("out-", i)
			queue = append(queue, second)
		}
	}
	// Duplicates come at once, a little later, or when the session has long gone on.
	for _, out := range append([]autocontinue.Output(nil), queue...) {
		for range 1 + r.IntN(2) {
			at := 0
			for at < len(queue) && queue[at].ID != out.ID {
				at++
			}
			at = min(at+1+r.IntN(1+r.IntN(15)), len(queue))
			queue = append(queue, autocontinue.Output{})
			copy(queue[at+1:], queue[at:])
			queue[at] = out
		}
	}
	return queue
}

var requests = []string{
	"fix the failing login redirect", "add pagination to the order list", "write a migration for the new column",
	"speed up the import",
}

// say gives the output a text: claims without evidence of changing and of the same words, progress, evidence,
// questions, crashes, and texts that are held back.
func say(r *rand.Rand, out *autocontinue.Output) {
	file := fmt.Sprintf("internal/part%d/file%d.go", r.IntN(9), r.IntN(9))
	switch r.IntN(10) {
	case 0, 1, 2:
		out.Text = "Done! I've updated " + file + " and everything should work now."
	case 3:
		out.Text = "All tests pass now."
	case 4, 5:
		out.Text = "I've read " + file + " and found where the value gets lost. Next I'll change it and run the tests."
	case 6, 7:
		out.Text = "Fixed in " + file +
			".\n\n```\n$ go test ./...\nok  \texample.com/shop/orders\t0.41s\n```\n\nAll 42 tests pass, committed as 4f2a91c."
	case 8:
		out.Text = "There are two ways to do this in " + file + ": keep the old column, or drop it. Which one do you want?"
	default:
		out.Text, out.Failed = "API Error: 529 overloaded", true
	}
}

func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
