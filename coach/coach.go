package coach

import (
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

// Prefix begins every message but the plain "continue".
const Prefix = "[System Coach] "

// Tier says where a message comes from.
type Tier string

// Context is what is known beside the classification.
type Context struct {
	Text     string
	Request  string
	PlanFile string
	Feedback string
	Evidence []classify.Evidence
	Criteria *plancriteria.Criteria
	Skill    *skills.Skill
	Attempt  int
}

// Message is what to send to the agent.
type Message struct {
	Text    string
	Tier    Tier
	Skipped []Skip
}

// Skip is a tier that had something to say but could not be used.
type Skip struct {
	Tier Tier
	Why  string
}
