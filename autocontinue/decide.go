package autocontinue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach"
	"github.com/sidecoach/sidecoach/skills"
)

// Decide decides about an output that was classified. The first row that holds wins. Rows 1 to 6 are those of [Known].
//
//	 #  when                                               action    outcome      reason
//	 1  a decision is recorded for this non-empty ID       as recorded, Replayed; a continue whose turn is over:
//	                                                       deliver, needs_human, superseded, the same decision ID
//	 2  run closed, not Failed, and the run reported       suppress  duplicate    run_closed
//	    this text before
//	2a  run closed, not Failed, and the text is another    deliver   needs_human  run_reused           Degraded; not read
//	 3  this run already delivered the same bytes          suppress  duplicate    same_text
//	 4  the turn is over                                   deliver   needs_human  superseded
//	 5  Failed                                             deliver   failed       crash_guard          hands over
//	 6  Hold                                               deliver   needs_human  hold
//	 7  type error                                         deliver   failed       crash_guard          hands over
//	    type question                                      deliver   needs_human  question             hands over
//	    type blocker                                       deliver   needs_human  blocker              hands over
//	8a  a completion that row 8 would deliver, a further   continue  continuing   next_stage           closes the run
//	    stage, and continues used < Policy.MaxContinues
//	 8  completion, unless its claim was rejected before   deliver   completed    completion           closes the run
//	 9  confidence below Policy.MinConfidence              deliver   needs_human  low_confidence       hands over
//	10  the turn was already handed over                   deliver   needs_human  waiting
//	11  the same gap for the third time in this turn;      deliver   stalled      repeat               hands over
//	    a blank output for the second time
//	12  continues used ≥ Policy.MaxContinues,              deliver   capped       cap                  hands over
//	    or the limit of the goal is reached
//	13  otherwise: a blank output                          continue  continuing   empty                closes the run
//	    otherwise: a rejected completion                   continue  continuing   rejected_completion  closes the run
//	    otherwise                                          continue  continuing   progress             closes the run
//	 –  a type that is not one of the five, or a rejected  deliver   needs_human  error                not recorded
//	    completion of another type than status
//
// A closed run is not continued again. After a hand-over nothing more is continued in this turn. Texts of rows 2 and 2a
// are the same if they differ only in white space, invisible characters and terminal escape sequences.
//
// The turn of an output: if Facts.Resets is neither 0 nor the number of the state, the turn is over. Otherwise an empty
// Turn is the current one, and a remembered other Turn is over. An unknown Turn opens a new turn, unless the Request is
// ours: it begins with "[System Coach]", or equals the message sent last. Then it is the current turn, whose name it
// becomes if that has none.
//
// Facts before words: a rejected completion is a completion if its Verification is Verified, or is Unverified and has
// Checked set. The evidence that the words lack was seen by the host, unless a goal is open.
//
// Goals: with Verification.Goal, a status is a completion if the goal is met, and a completion is a rejected completion
// if something is open and no further stage is ahead. Two outputs then have the same gap if the checks saw the same.
//
// Row 8a: it holds only if the confidence is enough for row 9, the turn was not handed over, and no limit of the goal
// was reached. If only the cap, a limit or the hand-over stands against it, the completion still ends its stage. The
// count of stages that are done stays over turns. A turn with Facts.OnlyAsked ends no stage. The gaps of the turn are
// forgotten with the stage, the continues are not.
//
// Row 8: a claim was rejected before if an output of this turn with the same fingerprint was a rejected completion, and
// the output now has no kind of evidence that this rejection lacked, and no Verification is Verified. The rejection
// lacked the kinds that [classify.Result.Missing] named then. It lacked all kinds that it did not show if Missing named
// none then, or names none now. To the next rows it is a rejected completion, as one whose Verification is Rejected.
//
// Row 9: a confidence that is not from 0 to 1 counts as 0. The row does not apply to a claim to be done that a
// Verification rejected, or if something of the goal is open.
//
// Row 11: two outputs have the same gap if they have the same fingerprint, which ignores white space, case,
// punctuation, times, durations, hashes, line numbers and generated IDs, but keeps counts. Two rejected completions
// have it also if they lack the same kinds of evidence (at least one), or have the same first line of feedback.
//
// Continues used is the larger of Output.Continues and State.Continues. Decision.Result is the classification as it was
// judged: lowered where row 8 or a verification lowered it.
//
// In row 13 Policy.Coach words the message from f.Coach. Decide sets its Attempt, takes Text, Request, Evidence and
// Work from the output without a request that is ours, and takes Feedback from a Verification that is Rejected. Secrets
// in the message are masked, see [plaintext.Redact].
//
// It is pure: nothing that it is given is changed, and the same arguments give the same result. It runs Known first, so
// it is right on a state that has changed since the caller asked Known. An invalid result leaves the state as it is.
func Decide(p Policy, s State, f Facts) (Decision, State) {
	o, r, before := f.Output, cleanConfidence(f.Result), s
	d, s, ok := s.known(o, f.Resets)
	if ok {
		if !d.Replayed {
			d.Result = r
		}
		return d, s
	}
	judged := r
	if judged.Signals = nil; judged.ValidateFor("") != nil { // a signal may stand outside the text
		return failure(o, s, r), before
	}
	v, goal := f.Verification, f.Verification.goal()
	d = Decision{
		Continues: s.used(o), Result: r, Stage: s.stageOf(f.Stages).Done, Goal: shown(goal.Counts, maxHold),
	}
	d.degrade(f.Degraded...)
	if r.WasRejectedCompletion && !goal.open() && (v.Status == Verified || v.Status == Unverified && v.Checked) {
		d.reclassify(classify.Completion, false, "the checks were run")
	}

	// Row 7.
	switch reason := Reason(d.Result.Type); d.Result.Type {
	case classify.Error: // a failed run of the host's is row 5
		note := d.checked(errorNote, v)
		return s.handOver(o, d, "crash_guard", note)
	case classify.Question, classify.Blocker:
		note := d.checked(verdicts[reason].note, v)
		return s.handOver(o, d, reason, note)
	}

	// Rows 8a and 8.
	switch v.Status {
	case "", Rejected: // for a rejected claim the reason says it
	case Verified:
		d.Verified = Verified
	default:
		d.Verified = Unverified
	}
	if goal.Met && v.Status != Rejected {
		d.Verified = cmp.Or(d.Verified, Verified)
		if d.Result.Type == classify.Status {
			d.reclassify(classify.Completion, false, "the goal is met")
		}
	}
	if d.Result.Type == classify.Completion {
		why := ""
		switch {
		case v.Status == Rejected:
			why = "the verification rejected the claim"
		case goal.open() && d.Stage+1 >= len(f.Stages):
			why = "the goal is not reached"
		case d.Verified != Verified && v.Goal == nil && s.wasRejected(o, d.Result):
			why = "the same claim was rejected before, and there is no new evidence"
		default:
			return s.complete(p, f, d)
		}
		d.reclassify(classify.Status, true, why)
	}

	r = d.Result
	found, _ := f.feedback()
	g := gapOf(o, r, found, goal)
	times := s.seen(g)
	s.history.Gaps = push(s.history.Gaps, g, maxGaps)
	stop := func(reason Reason, note string) (Decision, State) {
		return s.handOver(o, d, reason, goalNote(note, reason, goal))
	}
	switch {
	case p.unsure(r.Confidence) && v.Status != Rejected && !(g.Rejected && goal.open()): // row 9
		note := fmt.Sprintf("It is not clear what the agent wants, so it was not continued (confidence %.2f, needed %.2f).",
			r.Confidence, p.minConfidence())
		return stop("low_confidence", verifiedNote(note, d.Verified, v.Note))
	case s.HandedOver: // row 10
		return stop("waiting", "")
	case g.isBlank() && times > 0: // row 11
		return stop("repeat", "The agent printed nothing again despite coaching.")
	case times > 1: // row 11
		return stop("repeat", "")
	case d.Continues >= p.maxContinues(): // row 12
		return stop("cap", capNote(p.maxContinues(), goal))
	case goal.Limit != "": // row 12
		return stop("cap", shown(goal.Limit, maxVerified))
	case g.isBlank(): // row 13
		return s.carryOn(p, f, d, "empty", times+1)
	case g.Rejected:
		return s.carryOn(p, f, d, "rejected_completion", times+1)
	}
	return s.carryOn(p, f, d, "progress", times+1)
}

// Known decides about an output whose text need not be read: rows 1 to 6 of the table, see [Decide]. The bool says
// whether one of them held. If so, keep the returned state and act on the decision, whose Result is zero. If not,
// classify the output and call [Decide], with the returned state or the one given here. The returned state then differs
// from s only in the turn that o may have opened or named.
//
// It is pure: s is not changed, and the same arguments give the same result. A replay (row 1) leaves the state as it
// is, unless its unknown turn ends that of a recorded continuation.
func Known(s State, o Output) (Decision, State, bool) { return s.known(o, 0) }

// known is [Known] with Facts.Resets.
func (s State) known(o Output, resets int) (Decision, State, bool) {
	before := s
	s.history.Turns = slices.Clone(s.history.Turns) // push copies the other lists
	over := s.enterTurn(o, resets)

	// Row 1.
	if r, ok := s.recorded(o.ID); ok {
		if was, _ := before.recorded(o.ID); over {
			r = r.superseded()
		} else if was.Reason != r.Reason {
			before = s // opening the turn superseded it
		}
		d := r.Decision
		d.Replayed, d.Degraded = true, slices.Clone(d.Degraded)
		if r.Text != foldedDigest(o.Text) {
			d.Degraded = append(d.Degraded, "output ID: it came with another text; this is the decision about the first one")
		}
		return d, before, true
	}

	d := Decision{Continues: s.used(o)}
	closed, reported, delivered := s.earlier(o)
	switch {
	case closed && !o.Failed && reported:
		d.Reason = "run_closed" // row 2
	case closed && !o.Failed:
		d.Reason = "run_reused" // row 2a
		d.degrade("run: it is closed and reported another text, which was not read; give every run its own Output.Run")
	case delivered:
		d.Reason = "same_text" // row 3
	case over:
		d.Reason = "superseded" // row 4
	case o.Failed:
		d.Reason = "crash_guard" // row 5
		s.HandedOver = true
	case o.Hold != "":
		d.Reason = "hold" // row 6
		if why := shown(o.Hold, maxHold); why != "" {
			d.Note = "The agent must not be continued now: " + why + "."
		}
	default:
		return Decision{}, s, false
	}
	return s.settle(o, d), s, true
}

// settle completes d, which has a reason, and takes it into the state.
func (s *State) settle(o Output, d Decision) Decision {
	s.Seq++
	v := verdicts[d.Reason]
	d.ID, d.Action, d.Outcome, d.Note = decisionID(o, s.Seq), v.action, v.outcome, cmp.Or(d.Note, v.note)
	switch d.Action {
	case Suppress:
		return d
	case Continue:
		s.Continues = d.Continues
		s.history.Sent = digestOf("message", strings.TrimSpace(d.Message))
	}
	if o.Run != "" {
		t, r := s.turn(), reportOf(o)
		if d.Action == Deliver {
			t.Shown = push(t.Shown, r, maxShown)
		}
		if d.Action == Continue || d.Reason == "completion" { // the run is closed
			s.HandedOver = s.HandedOver || len(t.Closed) == maxClosed
			r.Bytes = 0
			t.Closed = push(t.Closed, r, maxClosed)
		}
	}
	if o.ID != "" {
		r := record{Output: digestOf("output", o.ID), Text: foldedDigest(o.Text), Decision: d}
		r.Decision.Result, r.Degraded = classify.Result{}, slices.Clone(d.Degraded)
		s.history.Records = push(s.history.Records, r, maxRecords)
	}
	return d
}

// checked adds to a note, and to d, what was found about the claims of an output that is delivered whatever they are.
func (d *Decision) checked(note string, v Verification) string {
	switch v.Status {
	case Rejected:
		d.Verified = Unverified
		note += " A check of its report found: " + shown(v.Feedback, maxVerified)
	case Unverified:
		d.Verified = Unverified
		note = verifiedNote(note+" Its report was checked.", d.Verified, v.Note)
	}
	return note
}

// reclassify changes what the output is judged as.
func (d *Decision) reclassify(to classify.OutputType, rejected bool, why string) {
	r := &d.Result
	was := string(r.Type)
	if r.WasRejectedCompletion {
		was = "a rejected completion"
	}
	r.Type, r.WasRejectedCompletion, r.Reason = to, rejected, why+"; was "+was+": "+r.Reason
}

// complete settles a completion that nothing speaks against. It counts the stage as done if the completion is sure. It
// continues with the next stage if there is one and nothing forbids that (row 8a), and delivers otherwise (row 8).
func (s State) complete(p Policy, f Facts, d Decision) (Decision, State) {
	at, goal := s.stageOf(f.Stages), f.Verification.goal()
	var next *skills.Skill
	if at.Done < len(f.Stages) && !f.OnlyAsked && !p.unsure(d.Result.Confidence) {
		at.Done++
		s.history.Stage, d.Stage = at, at.Done
		if at.Done < len(f.Stages) {
			next = &f.Stages[at.Done]
		}
	}
	if next != nil && !s.HandedOver && d.Continues < p.maxContinues() && goal.Limit == "" {
		s.history.Gaps = nil
		f.Coach.Skill, f.Coach.Stage = next, true
		return s.carryOn(p, f, d, "next_stage", 1)
	}
	d.Reason = "completion"
	note := "The agent answers you, or reports what it found."
	if d.Verified == Verified || len(d.Result.Shown(f.Output.Evidence)) > 0 {
		note = verdicts["completion"].note
	}
	note = verifiedNote(note, d.Verified, f.Verification.Note)
	if next != nil {
		note += fmt.Sprintf(" Stage %d of %d comes next: %s.", d.Stage+1, len(f.Stages), shown(next.Name, maxHold))
	}
	d.Note = goalNote(note, d.Reason, goal)
	return s.settle(f.Output, d), s
}

// carryOn settles d as a continuation for reason.
func (s State) carryOn(p Policy, f Facts, d Decision, reason Reason, attempt int) (Decision, State) {
	d.Reason, d.Attempt = reason, attempt
	d.Continues++
	msg := p.Coach.BuildCoachingMessage(d.Result, f.coach(s, attempt))
	d.Message, d.Tier = plaintext.Redact(msg.Text), msg.Tier
	for _, skip := range msg.Skipped {
		d.degrade(string(skip.Tier) + ": " + skip.Why)
	}
	return s.settle(f.Output, d), s
}

// handOver settles d for reason and continues nothing more in this turn.
func (s State) handOver(o Output, d Decision, reason Reason, note string) (Decision, State) {
	s.HandedOver = true
	d.Reason, d.Note = reason, note
	return s.settle(o, d), s
}

// stageOf returns how many of the stages are done.
func (s State) stageOf(stages []skills.Skill) stage {
	var names []string
	for _, k := range stages {
		names = append(names, k.Name, k.Trigger, k.Phase)
	}
	of := stage{Of: digestOf("stages", fmt.Sprintf("%q", names))}
	if s.history.Stage.Of == of.Of {
		of.Done = s.history.Stage.Done
	}
	return of
}

// failure is the decision after an error of ours, in state s. It is not recorded.
func failure(o Output, s State, r classify.Result) Decision {
	v := verdicts["error"]
	d := Decision{
		Action: v.action, Outcome: v.outcome, Reason: "error", Note: v.note, Continues: s.used(o), Result: cleanConfidence(r),
	}
	if o.ID != "" {
		d.ID = decisionID(o, 0)
	}
	return d
}

// cleanConfidence returns r with 0 for a confidence that is not from 0 to 1.
func cleanConfidence(r classify.Result) classify.Result {
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		r.Confidence = 0
	}
	return r
}

// feedback returns what does not hold, and the human's words in it.
func (f Facts) feedback() (text string, human []string) {
	v, goal := f.Verification, f.Verification.goal()
	switch {
	case v.Status == Rejected && v.Feedback != "":
		return v.Feedback, v.Human
	case goal.open():
		return goal.Open, goal.Human
	}
	return f.Coach.Feedback, f.Coach.Human
}

// coach returns what the message may use.
func (f Facts) coach(s State, attempt int) coach.Context {
	in, o := f.Coach, f.Output
	in.Attempt, in.Work, in.Evidence = attempt, o.Work, o.Evidence
	in.Request = s.humans(o.Request)
	in.Text = plaintext.Redact(o.Text) // spans of it stay valid
	in.Feedback, in.Human = f.feedback()
	goal := f.Verification.goal()
	in.Goal = in.Goal || goal.open() && in.Feedback == goal.Open
	return in
}

// Action is what the host does with an output. In JSON and as text it is "deliver", "continue" or "suppress".
type Action int

// The three actions. The zero value shows the output to the human.
const (
	Deliver  Action = iota // show the output to the human
	Continue               // send Decision.Message to the agent
	Suppress               // do nothing: this pause was already handled
)

var actions = [...]string{Deliver: "deliver", Continue: "continue", Suppress: "suppress"}

// String returns the action's text, or "Action(n)" for another value.
func (a Action) String() string {
	if a < 0 || int(a) >= len(actions) {
		return fmt.Sprintf("Action(%d)", int(a))
	}
	return actions[a]
}

// MarshalText returns the action's text. Another value is an error.
func (a Action) MarshalText() ([]byte, error) {
	if a < 0 || int(a) >= len(actions) {
		return nil, fmt.Errorf("autocontinue: unknown action %d", int(a))
	}
	return []byte(actions[a]), nil
}

// UnmarshalText accepts the three texts and nothing else.
func (a *Action) UnmarshalText(text []byte) error {
	i := slices.Index(actions[:], string(text))
	if i < 0 {
		return fmt.Errorf("autocontinue: unknown action %.20q", text)
	}
	*a = Action(i)
	return nil
}

// Outcome is how a pause ended, for people and dashboards:
//
//   - completed: the work is done, and the output shows it
//   - needs_human: the human must read the output and act
//   - failed: the run broke
//   - stalled: the same gap again, despite coaching
//   - capped: the turn has used all its continuations
//   - continuing: the agent is continued
//   - duplicate: this pause was already handled
type Outcome string

// Reason is the code of the row of the table that held, see [Decide]: "cap". It determines action and outcome.
type Reason string

// verdict is what a reason means. The note is for the human; only a delivered output has one.
type verdict struct {
	action  Action
	outcome Outcome
	note    string
}

const notContinued = ", so the agent was not continued."

// errorNote is for an output that is an error. It is true of a crash, and of a failure that the agent only reports.
const errorNote = "The output reports a failure" + notContinued

// verdicts has every reason, in the order of the table.
var verdicts = map[Reason]verdict{
	"run_closed":          {Suppress, "duplicate", ""},
	"run_reused":          {Deliver, "needs_human", "This run was already handled. Its new text was not checked."},
	"same_text":           {Suppress, "duplicate", ""},
	"superseded":          {Deliver, "needs_human", "You wrote something after this output" + notContinued},
	"crash_guard":         {Deliver, "failed", "The run broke. A broken run is never continued."},
	"hold":                {Deliver, "needs_human", "The agent must not be continued now."},
	"question":            {Deliver, "needs_human", "The agent asks you something."},
	"blocker":             {Deliver, "needs_human", "The agent needs something from you to go on."},
	"next_stage":          {Continue, "continuing", ""},
	"completion":          {Deliver, "completed", "The agent is done and shows it."},
	"low_confidence":      {Deliver, "needs_human", "It is not clear what the agent wants" + notContinued},
	"waiting":             {Deliver, "needs_human", "This turn already waits for you" + notContinued},
	"repeat":              {Deliver, "stalled", "The agent stopped at the same gap again despite coaching."},
	"cap":                 {Deliver, "capped", "The agent was continued as often as one turn allows."},
	"rejected_completion": {Continue, "continuing", ""},
	"progress":            {Continue, "continuing", ""},
	"empty":               {Continue, "continuing", ""},
	"error":               {Deliver, "needs_human", "The output could not be judged" + notContinued},
}

// Decision is what to do with one output, and why.
type Decision struct {
	// ID is the host's key to act once: a hash of session, run and output ID, 32 hexadecimal digits. Without an output
	// ID, the state's sequence number takes its place; the ID is then unique until the store forgets the session. After
	// an error for an output without ID it is empty: nothing was recorded.
	ID      string  `json:"id"`
	Action  Action  `json:"action"`
	Outcome Outcome `json:"outcome"`
	Reason  Reason  `json:"reason"`            // code of the table
	Note    string  `json:"note,omitempty"`    // with deliver: one sentence for the human, why the loop stopped here
	Message string  `json:"message,omitempty"` // with continue: send exactly this

	Tier      coach.Tier         `json:"tier,omitempty"`     // with continue: where the message comes from
	Attempt   int                `json:"attempt,omitempty"`  // with continue: number of this coaching for the same gap
	Continues int                `json:"continues"`          // used in this turn, this one included
	Verified  VerificationStatus `json:"verified,omitempty"` // Verified, Unverified, or "" when nothing was verified
	Goal      string             `json:"goal,omitempty"`     // how far the session's goal is: "1 of 3 met"
	Stage     int                `json:"stage,omitempty"`    // how many of Output.Stages are done
	Replayed  bool               `json:"replayed,omitempty"` // recorded earlier for the same output ID; Result is zero
	// Degraded says what could not be used and why, in the form "plan: …": a plan, a judge, a verifier, a message, a
	// reused run, an output ID that came with another text. It is for the host's log; the decision stands.
	Degraded []string        `json:"degraded,omitempty"`
	Result   classify.Result `json:"classification"` // zero when the text was not read
}

const (
	maxDegraded  = 200 // characters of one entry of Decision.Degraded
	manyDegraded = 8   // entries
	maxHold      = 120 // characters of Output.Hold in a note
	maxVerified  = 250 // characters of Verification.Note in a note
	maxGoal      = 600 // characters of Goal.Note in a note
)

func (d *Decision) degrade(why ...string) {
	for _, w := range why {
		if len(d.Degraded) < manyDegraded {
			d.Degraded = append(d.Degraded, shown(w, maxDegraded))
		}
	}
}

// shown returns foreign words for a note: on one line, without secrets and without a forged prefix of ours.
func shown(s string, most int) string {
	return plaintext.Disarm(plaintext.MaskedLine(s, most))
}

// verifiedNote adds to a note what a verifier said.
func verifiedNote(note string, status VerificationStatus, said string) string {
	switch status {
	case Unverified:
		note += " It could not be verified."
	case Verified:
		note += " It was verified."
	}
	if said = shown(said, maxVerified); said != "" && status != "" {
		note += " " + said
	}
	return note
}

// goalNote returns note, or the reason's note if it is empty, and how far the goal is.
func goalNote(note string, reason Reason, g Goal) string {
	return strings.TrimSpace(cmp.Or(note, verdicts[reason].note) + " " + shown(g.Note, maxGoal))
}

func capNote(limit int, goal Goal) string {
	whose := "for one turn"
	if goal.Cap != "" {
		whose = "of " + shown(goal.Cap, maxHold)
	}
	switch limit {
	case 0:
		return "Continuing the agent is switched off."
	case 1:
		return "The agent was continued once, which is the limit " + whose + "."
	}
	return fmt.Sprintf("The agent was continued %d times, which is the limit %s.", limit, whose)
}
