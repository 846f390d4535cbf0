package coach

import (
	"io/fs"
	"slices"
	"strings"
	"text/template"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/plancriteria"
	"github.com/sidecoach/sidecoach/skills"
)

const (
	plain      = "continue"
	maxMessage = 1200 // characters of any message
	maxForeign = 600  // characters of a message that carries the words of a classifier or a verifier
)

// Tier says where a message comes from. [Tiers] lists them.
type Tier string

// The tiers, in the order in which they are asked.
const (
	tierStage        Tier = "stage"         // the next stage of the goal
	tierVerify       Tier = "verify"        // a verifier's finding
	tierLLM          Tier = "llm"           // the classifier's own words
	tierRejection    Tier = "rejection"     // a completion that was not accepted
	tierPlanCriteria Tier = "plan_criteria" // the plan's open success criteria
	tierPlanPointer  Tier = "plan_pointer"  // the plan's file, because its criteria cannot be read
	tierSkill        Tier = "skill"         // the evidence that the skill asks for
	tierRepeat       Tier = "repeat"        // a status that says the same again
	tierPlain        Tier = "plain"         // "continue"
)

var tiers = [...]Tier{
	tierStage, tierVerify, tierLLM, tierRejection, tierPlanCriteria, tierPlanPointer, tierSkill, tierRepeat, tierPlain,
}

// Tiers returns the tiers, fresh, in the order in which they are asked. See [Coach.BuildCoachingMessage].
func Tiers() []Tier { return slices.Clone(tiers[:]) }

// Context is what is known beside the classification. All of it is optional. None of it is changed or kept.
type Context struct {
	Text     string                 // the output that was classified
	Request  string                 // the human's words of the turn
	PlanFile string                 // the plan's name; only if the plan exists
	Feedback string                 // a verifier's findings, one a line, worst first
	Human    []string               // the human's own words in Feedback, which the guard lets pass: commands to check with
	Goal     bool                   // Feedback is what is open of the session's goal
	Evidence []classify.Evidence    // what the host saw itself, in order of time
	Work     classify.Work          // what the agent did, as the host saw it
	Criteria *plancriteria.Criteria // of the plan; nil if they cannot be read
	Skill    *skills.Skill          // the active skill, if any
	Stage    bool                   // Skill is the next stage of the goal; the one before it is done
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
	// Templates replaces wording. It holds, at its root, any of the files named under "Tuning" in the package
	// documentation, and nothing else. Nil replaces nothing.
	Templates fs.FS
}

// Coach words messages. It is immutable and safe for concurrent use. The zero value and nil use the default templates.
type Coach struct {
	own map[string]*template.Template // the languages for which the host gave a file
}

// New returns a coach with the host's templates in place of the default ones. It does not use cfg.Templates after it
// returns. Its error names the file that has an unknown name, cannot be read, is larger than 64 KiB, does not parse,
// defines an unknown template, or fails or prints nothing for one of the typical cases that New tries.
func New(cfg Config) (*Coach, error) {
	own, err := loadTemplates(cfg.Templates)
	if err != nil {
		return nil, err
	}
	return &Coach{own: own}, nil
}

// BuildCoachingMessage is [Coach.BuildCoachingMessage] with the default templates.
func BuildCoachingMessage(r classify.Result, in Context) Message {
	return (*Coach)(nil).BuildCoachingMessage(r, in)
}

// BuildCoachingMessage words what to say to an agent that must go on. It does not decide whether the agent must go
// on: it has a message for every result and every context. The first of these tiers that has something to say wins:
//
//   - stage: in.Stage is set. The message names in.Skill.
//   - verify: in.Feedback is not blank. The message says its first line, and the others as far as they fit. It is
//     skipped if the guard refuses all lines.
//   - llm: r.CoachingMessage is not blank. The message is that text as one paragraph, cut to 600 characters. It is
//     skipped if r is not a status, or if the guard refuses it (see the package documentation).
//   - rejection: r.WasRejectedCompletion is set. See below.
//   - plan_criteria: in.Criteria has items. The message names the open ones in order, as far as they fit, and counts
//     the rest. If all are ticked, it asks to check them. Criteria without items are quoted as text.
//   - plan_pointer: in.PlanFile is not blank. The message names the file.
//   - skill: in.Skill has an evidence hint or a description. The message names them.
//   - repeat: in.Attempt is 2 or more.
//   - plain: the word "continue", the only message without [plaintext.Prefix].
//
// A rejection says what is known, asks for one check that fits the work, and says what to reply and what to do if the
// check fails or cannot be done. The first of these findings that holds is said; without one, nothing is:
//
//   - failed: the last check of its kind in in.Work or in.Evidence failed.
//   - unchecked: code was edited, and no check of the claimed kind (or no check at all) ran after that.
//   - hidden: such a check ran, but nobody saw its result.
//   - unchanged: no file was edited in the session, but the output claims a change.
//   - unable: the output says that the agent did not or could not run its check.
//   - gap: a sentence of the output admits that a part is open. The sentence is quoted.
//   - claim: a sentence of the output claims a result that it does not show: no number stands behind the claim in its
//     line, and no fence follows. The sentence is quoted. If it is not plain, the message says which check it claims, but
//     only where nothing makes the claim doubtful.
//
// The check asked for is the first of these that is known: the check that failed or whose result is hidden; a
// well-known command that only checks ("npm run build") and that the output or the request names, of the claimed kind
// first; such a command that the agent ran earlier in the session; the claimed kind; the first open criterion of the
// plan; the skill's evidence hint; the tests of a Go or Rust project; a check that fits the files. A named check that
// cannot check the changed files is left out.
//
// The files come from in.Work or else from the output. They are tests, interface, code, code for a compiler, scripts
// with effects or for another program, configuration or documents. What a person looks at is opened; what only its
// maker's tool opens is not. Without files, any check does. An output that is nothing but edits for another program to
// apply is asked to read the change and to name the one command that shows it. One that shows code and claims no
// change is asked to make the change if it was asked for. A file is named only if the host saw its edit.
//
// A quote is one whole sentence of the agent's own prose, of plain words, at most 110 characters long, and it passes
// the guard. Otherwise there is no quote.
//
// From attempt 2 on each tier says what was asked before, and asks for it in another, firmer way. No tier tells the
// agent to act without asking.
//
// The language is r.Language, or English if the templates do not have it. Chinese is answered in the script of the
// output. A tier whose template fails or prints nothing is skipped. Message.Skipped lists the tiers that had something
// to say and were skipped.
//
// Text of the agent, the plan, the verifier and the classifier is data: the guard checks it, and the finished message
// is cleaned. So a message is valid UTF-8, has one line, begins with the prefix once and contains no other. A message
// of the default templates has at most 350 characters; the tiers verify and llm have at most 600. A host's template may
// print 1,200.
func (c *Coach) BuildCoachingMessage(r classify.Result, in Context) Message {
	r.Signals = within(r.Signals, len(in.Text))
	f, refused := collect(r, in)
	saying := f.saying(r, in)
	var skipped []Skip
	for _, t := range tiers {
		why := refused[t]
		if why == "" && saying[t] {
			var text string
			if text, why = c.word(t, language(r, in), f); why == "" {
				return Message{Text: text, Tier: t, Skipped: skipped}
			}
		}
		if why != "" {
			skipped = append(skipped, Skip{Tier: t, Why: why})
		}
	}
	return Message{Text: plain, Tier: tierPlain, Skipped: skipped}
}

// within returns signals whose spans are inside a text of n bytes: those of another classifier may not be.
func within(signals []classify.Signal, n int) []classify.Signal {
	signals = slices.Clone(signals)
	for i := range signals {
		s := &signals[i]
		s.Start = min(max(s.Start, 0), n)
		s.End = min(max(s.End, s.Start), n)
	}
	return signals
}

// word prints the message of tier t, or says why there is none.
func (c *Coach) word(t Tier, language string, f *fields) (message, why string) {
	text, err := printed(c.templates(language), t, f)
	if err != nil {
		return "", "the template failed: " + quotable(err.Error(), maxQuoted)
	}
	max := maxMessage
	if t == tierLLM || t == tierVerify {
		max = maxForeign
	}
	const prefix = plaintext.Prefix + " "
	text = wideStops.Replace(plaintext.Line(text, max))
	body := plaintext.Line(plaintext.Disarm(plaintext.TrimPrefix(text)), max-len(prefix))
	if body == "" {
		return "", "the template printed nothing"
	}
	return prefix + body, ""
}

// wideStops removes the space after a wide full stop or comma, where Chinese and Japanese have none.
var wideStops = strings.NewReplacer("。 ", "。", "； ", "；", "、 ", "、", "， ", "，")
