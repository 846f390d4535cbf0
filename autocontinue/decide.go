package autocontinue

// Decide is pure.
func Decide(p Policy, s State, f Facts) (Decision, State) { return Decision{Result: f.Result}, s }
