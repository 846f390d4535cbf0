package autocontinue

// Known is pure.
func Known(p Policy, s State, o Output) (Decision, State, bool) { return Decision{}, s, false }
