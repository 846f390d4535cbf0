package coach

import (
	"io/fs"
	"slices"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

// Prefix begins every message but the plain "continue".
const Prefix = "[System Coach] "

const (
	plain      = "continue"
	maxMessage = 1200 // characters of a message, prefix included
)

// Tier says where a message comes from.
type Tier string

// The tiers, in the order in which they are asked.
const (
	TierVerify       Tier = "verify"        // a verifier's finding
	TierLLM          Tier = "llm"           // the classifier's own words
	TierRejection    Tier = "rejection"     // a completion that was not accepted, and why
	TierPlanCriteria Tier = "plan_criteria" // the plan's open success criteria
	TierPlanPointer  Tier = "plan_pointer"  // the plan's file, its criteria being unreadable
	TierSkill        Tier = "skill"         // the evidence the skill asks for
	TierRepeat       Tier = "repeat"        // a status that says the same again
	TierPlain        Tier = "plain"         // "continue"
)

var tiers = [...]Tier{TierVerify, TierLLM, TierRejection, TierPlanCriteria, TierPlanPointer, TierSkill, TierRepeat, TierPlain}

// Tiers returns the tiers, fresh, in the order in which they are asked.
func Tiers() []Tier { return slices.Clone(tiers[:]) }

// Context is what is known beside the classification. All of it is optional and none of it is changed or kept.
type Context struct {
	Text     string                 // the output that was classified, for the words its signals point at
	Request  string                 // the human's words of the turn
	PlanFile string                 // the plan's name; only if the plan exists
	Feedback string                 // a verifier's findings, one a line, worst first
	Evidence []classify.Evidence    // what the host saw itself, in order of time
	Work     classify.Work          // what the agent did, as the host saw it
	Criteria *plancriteria.Criteria // of the plan; nil when they cannot be read
	Skill    *skills.Skill          // the active skill, if any
	Attempt  int                    // which coaching this is for the same gap in this turn; below 1 is 1
}

// Message is what to send to the agent.
type Message struct {
	Text    string // send exactly this
	Tier    Tier
	Skipped []Skip // in the order of the tiers
}

// Skip is a tier that had something to say but could not be used.
type Skip struct {
	Tier Tier   `json:"tier"`
	Why  string `json:"why"` // for people; cleaned, quotes at most 60 characters of data
}

// Config is what a [Coach] is made of.
type Config struct {
	// Templates replaces the wording of tiers: it holds, at its root, any of the files named under "Tuning" in the package
	// documentation, and nothing else. Nil replaces none.
	Templates fs.FS
}

// Coach words messages. It is immutable and safe for concurrent use. The zero value, and nil, use the default templates.
type Coach struct {
	templates templates // those a host replaced
}

// New returns a coach with cfg's templates in place of the default ones.
//
// A file of cfg.Templates is refused, with an error that names it, when its name is not that of a tier's template, when it
// cannot be read or is larger than 64 KiB, when it does not parse, and when it fails or prints nothing for one of a set of
// typical cases. The file system is not used after New returns.
func New(cfg Config) (*Coach, error) {
	if cfg.Templates == nil {
		return &Coach{}, nil
	}
	ts, err := load(cfg.Templates)
	if err == nil {
		err = ts.try()
	}
	if err != nil {
		return nil, err
	}
	return &Coach{templates: ts}, nil
}

// BuildCoachingMessage is [Coach.BuildCoachingMessage] with the default templates.
func BuildCoachingMessage(r classify.Result, in Context) Message {
	return (*Coach)(nil).BuildCoachingMessage(r, in)
}

// BuildCoachingMessage words what to say to an agent that is to go on. It does not decide whether it should: it has an
// answer for every result and every context. The first of these tiers that has something to say wins:
//
//   - verify: in.Feedback is not blank. Its first line that is not blank is named, the further lines after it as far as
//     they fit.
//   - llm: r.CoachingMessage is not blank: that message, folded into one paragraph and cut to 600
//     characters. A prefix of ours that it begins with is taken off. It is passed over when r is no status, and when it
//     carries, anywhere in its first 4,000 characters, a URL, a command or permission wording (see below).
//   - rejection: r.WasRejectedCompletion is set. It says that this looked like a completion and was not accepted, why,
//     and what to show next time. It quotes by the signals' spans, at most 60 characters each, the words that claimed,
//     hedged, admitted a gap or only promised: of each kind the signal with the largest weight, the first in the text
//     among equals; but a claim of something certain whose evidence is missing ("all tests pass") goes before any other.
//     A failure stands in for a gap. Evidence that the host saw fail, and did not see succeed later, contradicts the
//     claim and is said instead of what is missing. A quote that is part of another one is left out. It asks for the
//     kinds of evidence [classify.Result.Missing] names: all of them, or any one when it names all. A signal without
//     usable span is as good as none; with none at all the kinds of evidence are named in general. At attempt 1 it ends
//     with the first open criterion, else the skill's evidence hint, else the plan; later it names that before it asks.
//   - plan_criteria: in.Criteria has items: the open ones, in order, each quoted, at most 500 characters of them, cut at an
//     item (inside only a first item that is longer than that), saying how many more. An item without checkbox that groups
//     items with checkboxes is no criterion. With all of them ticked it asks for the evidence that they hold. Criteria
//     without items: their text as one paragraph, cut to 500 characters.
//   - plan_pointer: in.PlanFile is not blank: names the file.
//   - skill: in.Skill has an evidence hint, or else a description: says them.
//   - repeat: in.Attempt is 2 or more.
//   - plain: the word "continue", the only message without [Prefix].
//
// From attempt 2 on every tier ends firmer and otherwise than at attempt 1: it names what is still unmet and asks for the
// evidence or for a plain statement of what blocks. No tier tells the agent to act without asking.
//
// A tier whose template fails, or prints nothing, is passed over like one with nothing to say. Message.Skipped says which
// tiers had something to say and were passed over.
//
// Text of the agent, the plan, the verifier and the classifier is data: the finished message of a tier is cleaned, as by
// [Clean], before the prefix is put in front. So a message is valid UTF-8, one line, begins with the prefix once and
// contains no other, and has at most 1,200 characters (Unicode code points).
//
// What a classifier's message must not carry is looked for regardless of case and look-alike letters. None of it
// counts that the request or the plan's criteria contain in the same words, outside a clause that denies it; a request
// that is ours ([IsOurs]) vouches for nothing.
//
//   - A URL: anything with "://", and a bare host name under a common top-level domain or an IP address.
//   - A command: a shell prompt, variable, operator, option or script; words that begin a command which writes, sends,
//     fetches or removes something (guard.txt, "command"); and inline code, other than a single name such as `parser.go`, a
//     test, build or lint command on files of the tree (guard.txt, "evidence"), and a command that the output itself has in
//     inline code or a fence, if nothing in it is of a dangerous kind (guard.txt, "command" and "harm"). A test, build or
//     lint command in plain words is no objection: "run go test ./... and paste the output" is what coaching is for.
//   - Permission: "without asking", "skip the …", "approve", "don't ask" and the like (guard.txt, "permission"), together
//     with the words it is about.
func (c *Coach) BuildCoachingMessage(r classify.Result, in Context) Message {
	f := collect(r, in)
	var skipped []Skip
	for _, t := range tiers {
		says, why := f.says(t, r, in)
		if says && why == "" {
			var text string
			if text, why = c.word(t, &f); why == "" {
				return Message{Text: text, Tier: t, Skipped: skipped}
			}
		}
		if why != "" {
			skipped = append(skipped, Skip{Tier: t, Why: why})
		}
	}
	return Message{Text: plain, Tier: TierPlain, Skipped: skipped}
}

// word prints tier t's message, or says why there is none.
func (c *Coach) word(t Tier, f *fields) (text, why string) {
	if t == TierPlain {
		return plain, ""
	}
	raw, err := c.template(t).print(f)
	if err != nil {
		return "", "the template failed: " + quotable(err.Error(), maxQuote)
	}
	text = finish(Prefix, raw, maxMessage-len(Prefix))
	if text == "" {
		return "", "the template printed nothing"
	}
	return text, ""
}

func (c *Coach) template(t Tier) *tierTemplate {
	if c != nil {
		if own := c.templates[t]; own != nil {
			return own
		}
	}
	return defaults[t]()
}
