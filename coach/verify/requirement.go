package verify

// Task is what was to be done.
type Task struct {
	ID       string `json:"task_id"`
	Text     string `json:"text,omitempty"`     // what was asked, in the host's words
	Baseline string `json:"baseline,omitempty"` // the revision that the work began at; empty: unknown
	// Commands is what the host lists to be run, each in words. Nothing else is ever run.
	Commands [][]string `json:"commands,omitempty"`
	// Reviewed is the test files and test settings, by their paths from the top of the tree, whose changes somebody whom the
	// host trusts has looked at.
	Reviewed []string `json:"reviewed,omitempty"`
}

// Requirement is one thing that must hold for the task to be done.
type Requirement struct {
	ID   string `json:"id"` // the same for the same words, whatever stands around them
	Text string `json:"requirement"`
	// Command is one that shows whether it holds, as the requirement names it. It is compared with Task.Commands and never
	// run itself.
	Command string `json:"command,omitempty"`
}
