package main

import "fmt"

// worth says whether it pays to install the hook, by what the human wrote in old sessions.
type worth string

const (
	pays     worth = "pays"
	mayPay   worth = "may_pay"
	paysNot  worth = "does_not_pay"
	noMatter worth = "no_difference"
)

// telling is how many pauses say more than chance.
const telling = 5

// worthOf weighs the messages that it would have spared the human against the questions that it would have gone on past. One of
// those costs more than one message, so it pays from two messages a question on.
func worthOf(agrees, against int) worth {
	switch {
	case agrees == 0 && against == 0:
		return noMatter
	case against >= agrees:
		return paysNot
	case agrees >= 2*against:
		return pays
	}
	return mayPay
}

// sentence answers whether installing it pays.
func (t replayTotal) sentence() string {
	verdict := map[worth]string{pays: "It pays here", mayPay: "It may pay here", paysNot: "It does not pay here", noMatter: "It makes no difference here"}[t.Verdict]
	spared := `you wrote no message such as "continue" or "run the tests"`
	if wrote := t.Agrees + t.Missed; wrote > 0 {
		spared = fmt.Sprintf(`of %s such as "continue" or "run the tests" that you wrote it would have spared you %s`, plural(wrote, "message"), thousands(t.Agrees))
	}
	past := "gone on past no question that you answered"
	if t.Against > 0 {
		past = fmt.Sprintf("gone on at %s where you answered or said no", plural(t.Against, "pause"))
	}
	said := fmt.Sprintf("%s: %s, and it would have %s.", verdict, spared, past)
	if t.Agrees+t.Against < telling {
		said += " That is too little to be sure."
	}
	return said
}

// sentences say what comes of all; the last one is the verdict, where there is something to judge.
func (t replayTotal) sentences() []string {
	if t.Pauses == 0 {
		return []string{fmt.Sprintf("%s, %s, 0 pauses: nothing to judge it by.", plural(t.Files, "transcript"), plural(t.Sessions, "session"))}
	}
	said := []string{fmt.Sprintf("%s, %s, %s: at %s it would have sent the agent on.", plural(t.Files, "transcript"), plural(t.Sessions, "session"), plural(t.Pauses, "pause"), thousands(t.GoesOn))}
	if n := t.GoesOn - t.Agrees - t.Against; n > 0 {
		said = append(said, fmt.Sprintf("At %s of these you wrote something else, or nothing.", thousands(n)))
	}
	return append(said, t.sentence())
}
