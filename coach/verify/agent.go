package verify

import _ "embed"

//go:embed agent/autobuild-coach.md
var agent string

// AgentName is the file name of [Agent] in a folder of agents.
const AgentName = "autobuild-coach.md"

// Agent returns the instructions of a coach that is an agent itself: Markdown with front matter.
func Agent() string { return agent }
