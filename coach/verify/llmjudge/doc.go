// Package llmjudge lets a model be the coach: it reads what was changed, in one call, and its decision goes through
// [verify.Review.Record], which code may only lower.
//
// [New] takes the client of classify/llm, and [Judge.Decide] a review in which witnesses were observed, with the
// patch of the work, such as gitwitness makes.
//
// # Limits
//
// A model can be wrong, and can be talked into something by what it reads. All that it reads of the player stands
// between markers that the player cannot write, and is cleaned of hidden characters; still its approval shows no more
// than that it found nothing. What programs saw outweighs it: nothing that was not observed is approved. An approval
// of a change that it did not see whole becomes feedback.
//
// # Errors
//
// Those of [llm.Client.JSON], wrapped. With an error there is no decision: [verify.Review.Judge] is the one that
// facts alone support.
package llmjudge
