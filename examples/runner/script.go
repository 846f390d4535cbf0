package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// turns are what the human of the scripted demonstration wants.
var turns = []struct{ name, request string }{
	{"fix", "The login redirect loses the page the user came from. Please fix it."},
	{"insist", "The export drops rows with an empty name. Please fix it."},
	{"ask", "Speed up the orders report."},
	{"crash", "Now translate the error messages."},
}

// act is the scripted agent: it prints what an agent would print last in the turn, given the message it got.
func act(turn, message string, out io.Writer) error {
	coached := strings.HasPrefix(message, "[System Coach]")
	switch {
	case turn == "fix" && !coached:
		fmt.Fprintln(out, "Fixed the login redirect, should work now.")
	case turn == "fix":
		fmt.Fprintln(out,
			"The guard reads the saved path now. `go test ./auth` reports 14 passed, 0 failed; committed as 4e1f9ab.")
	case turn == "insist":
		fmt.Fprintln(out, "Done. I fixed the export and everything works perfectly.")
	case turn == "ask":
		fmt.Fprintln(
			out,
			"The orders table has no index on customer_id. Adding one locks the table for a minute.\nShould I add it now "+
				"or tonight?",
		)
	default:
		return errors.New("API Error: 529 overloaded_error")
	}
	return nil
}
