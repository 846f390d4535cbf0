package verify

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

type verdict string // what a decision says

// The verdicts. Anything else counts as Feedback.
const (
	Approve  verdict = "approve"
	Feedback verdict = "feedback"
)

// Decision is a coach's decision about a report: a check by someone other than the agent.
// [ParseDecision] reads one, and [Review.Record] lowers it to what the facts allow.
type Decision struct {
	Verdict      verdict            `json:"decision"`
	TaskID       string             `json:"task_id"`
	Requirements []RequirementCheck `json:"requirements_verified"`
	Tests        testsCheck         `json:"tests_verified"`
	Items        []Item             `json:"feedback_items"`
	Rationale    string             `json:"rationale"`
	Contracts    contracts          `json:"contracts_honored"` // computed by [Review.Record], never read
}

// RequirementCheck is what was found about one requirement.
type RequirementCheck struct {
	ID          string `json:"id,omitempty"` // of the task's requirement; empty: Requirement is its ID or its words
	Requirement string `json:"requirement"`
	Status      Status `json:"status"`
	Evidence    string `json:"evidence,omitempty"` // what was seen that shows it; without it nothing is met
	Issue       string `json:"issue,omitempty"`    // what is wrong
}

// TestsCheck is what is known of the tests.
type testsCheck struct {
	Status   Status   `json:"status"` // computed by [Review.Record]
	Total    int      `json:"total"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures"`
	Missing  []string `json:"missing"` // tests that should exist and do not
}

type priority string // how much an item of feedback matters

// The priorities. Anything else counts as High. Only High blocks.
const (
	high   priority = "high"
	medium priority = "medium"
	low    priority = "low"
)

// rank is 0 for High and for anything that is not a priority.
func (p priority) rank() int { return max(0, slices.Index(priorities, p)) }

var priorities = []priority{high, medium, low}

// Item is one piece of feedback.
type Item struct {
	Severity   priority `json:"severity"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"` // from 1; 0 is the whole file
	Issue      string   `json:"issue"`
	Suggestion string   `json:"suggestion,omitempty"`
}

// Contracts says which parts of the procedure were kept.
type contracts struct {
	Validated   bool `json:"validate_implementation_called"` // the review was opened by [Begin]
	Recorded    bool `json:"record_decision_called"`         // the decision went through [Review.Record]
	Independent bool `json:"independent_verification"`       // witnesses saw something
}

// MarshalJSON writes empty lists as [], never as null.
func (d Decision) MarshalJSON() ([]byte, error) {
	type plain Decision
	d.Requirements, d.Items = append([]RequirementCheck{}, d.Requirements...), append([]Item{}, d.Items...)
	d.Tests.Failures, d.Tests.Missing = append([]string{}, d.Tests.Failures...), append([]string{}, d.Tests.Missing...)
	return json.Marshal(plain(d))
}

// ordered returns items worst first, those of one priority in their order. An item without a known priority is High.
func ordered(items []Item) []Item {
	items = slices.Clone(items)
	for i, it := range items {
		items[i].Severity = priorities[it.Severity.rank()]
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(a.Severity.rank(), b.Severity.rank()) })
	return items
}

// String is the item on one line: "auth.go:12: what is wrong. What to do."
func (it Item) String() string {
	s := clean(it.Issue)
	if it.File != "" {
		where := clean(it.File)
		if it.Line > 0 {
			where += fmt.Sprintf(":%d", it.Line)
		}
		s = where + ": " + s
	}
	if more := clean(it.Suggestion); more != "" {
		s = strings.TrimSuffix(s, ".") + ". " + more
	}
	return s
}

//go:embed agent/autobuild-coach.md
var agent string

// Agent returns the instructions of a coach that is an agent itself: Markdown with front matter.
func Agent() string { return agent }

const minIssue = 11 // characters of an issue that can say something

// Lint returns what makes feedback useless to the agent that gets it, a sentence each. Known are the requirements of
// the task. Lint finds
//
//   - feedback without an item,
//   - an issue that is vague ("the code has issues", "something is off here") or shorter than 11 characters,
//   - an item that names no place: not a file, a test, a requirement by its ID or its words, or anything in code
//     quotes,
//   - an item that is there twice.
func Lint(d Decision, known ...Requirement) []string {
	var list []string
	if d.Verdict != Approve && len(d.Items) == 0 {
		list = append(list, "it gives feedback without an item: say what is wrong, where, and what to do")
	}
	seen := map[string]int{}
	for i, it := range d.Items {
		problem := func(format string, args ...any) {
			list = append(list, fmt.Sprintf("item %d: ", i+1)+fmt.Sprintf(format, args...))
		}
		issue := strings.TrimSpace(it.Issue)
		switch {
		case utf8.RuneCountInString(issue) < minIssue:
			problem("the issue is too short to say something: name what is wrong")
		case vague(issue):
			problem("the issue is vague: name what is wrong, where, and how it shows")
		}
		said := it.Issue + " " + it.Suggestion
		if strings.TrimSpace(it.File) == "" && !lex("Names").Match(said) && !namesOne(said, d, known) {
			problem("it names neither a file nor a test nor a requirement: say where")
		}
		key := it.File + "\x00" + fold(strings.Trim(issue, ".!"))
		if first, ok := seen[key]; ok {
			problem("it says the same as item %d: leave it out", first+1)
		} else {
			seen[key] = i
		}
	}
	return list
}

func vague(issue string) bool {
	list := lex("IssueWord").Regexp().FindAllString(strings.ToLower(strings.ReplaceAll(issue, "’", "'")), -1)
	return !slices.ContainsFunc(list, func(w string) bool {
		w = strings.Trim(w, "'.-")
		return w != "" && !lex("Vague").Has(w)
	})
}

// namesOne reports whether a text names a missing test or a requirement.
func namesOne(said string, d Decision, known []Requirement) bool {
	list := slices.Clone(d.Tests.Missing)
	for _, q := range known {
		list = append(list, q.ID, q.Text)
	}
	said = fold(said)
	return slices.ContainsFunc(list, func(s string) bool { s = fold(s); return s != "" && strings.Contains(said, s) })
}

type objection struct {
	reason string // one line: the override
	item   Item   // what to do about it, high if it was seen in the work; without an issue another item says it already
}

// Record returns the decision as the facts allow it: the step record_decision of the contract. It also returns the
// overrides, the reasons why an approval became feedback, one line each. It changes neither d nor what was observed.
//
// Approve becomes Feedback when
//
//   - the review was not opened by Begin, the decision names another task, or it has an item of High priority,
//   - nothing was observed,
//   - tests are claimed by the report or required by the host, and what was seen of them is Unverified,
//   - tests were counted and none passed,
//   - a requirement is missing in the decision, not met, unverified, or met without evidence,
//   - a claim of the report is false,
//   - a test fails, and is not known to have failed at the baseline,
//   - a test is gone, disabled or changed, and the report does not mention it,
//   - files changed after the evidence was taken.
//
// Feedback never becomes Approve, and any other verdict is Feedback. If a command of the host shows a requirement,
// the lower status of the decision and the run counts. The tests are those that were observed, the contracts are
// computed, and each override that no item says adds an item. The items are ordered worst first.
func (r *Review) Record(d Decision) (Decision, []string) {
	f := r.seen()
	d.Requirements = r.requirementChecks(f, d.Requirements)
	d.Tests = r.testsCheck(f, d.Tests)
	d.Contracts = contracts{Validated: r.begun, Recorded: true, Independent: r.observed}
	d.Items = slices.Clone(d.Items)
	if d.TaskID == "" {
		d.TaskID = r.task.ID
	}
	var overrides []string
	if d.Verdict == Approve {
		for _, o := range r.objections(f, d) {
			overrides = append(overrides, o.reason)
			if o.item.Issue != "" && !slices.Contains(d.Items, o.item) {
				d.Items = append(d.Items, o.item)
			}
		}
	}
	if len(overrides) > 0 || d.Verdict != Approve {
		d.Verdict = Feedback
	}
	d.Items = ordered(d.Items)
	return d, overrides
}

// objections returns the objections to approving d, whose requirements and tests are already those of the facts.
func (r *Review) objections(f Facts, d Decision) (all []objection) {
	object := func(holds bool, it Item, format string, args ...any) {
		reason := fmt.Sprintf(format, args...)
		if it.Severity != "" && it.Issue == "" {
			it.Issue = Sentence(reason)
		}
		if holds {
			all = append(all, objection{reason, it})
		}
	}
	object(!r.begun, unbegun, "the review was never begun")
	object(d.TaskID != r.task.ID, Item{Severity: medium, Suggestion: "Decide about this task."},
		"the decision is about another task, %s", code(d.TaskID))
	object(slices.ContainsFunc(d.Items, func(it Item) bool { return it.Severity.rank() == 0 }), Item{},
		"the decision approves beside an item of high priority")
	r.objectToTests(f, object)
	object(!r.observed, Item{Severity: medium, Suggestion: "Let a witness look at the files, the commits and the tests."},
		"nothing was observed")
	for _, c := range d.Requirements {
		it, why := Item{Severity: medium, Suggestion: "Show with a command, its output or the code that it holds."}, ""
		if c.Issue != "" {
			why = ": " + clean(c.Issue)
		}
		switch {
		case c.Status == NotMet:
			it, why = Item{Severity: high, Suggestion: "Meet it, or say what stands in the way."}, "not met"+why
		case c.Status != Met && c.Issue == leftOut:
			why = "missing in the decision"
		case c.Status != Met:
			why = "unverified" + why
		default:
			why = "met without evidence"
		}
		object(c.Status != Met || strings.TrimSpace(c.Evidence) == "", it, "requirement %s %s is %s", c.ID,
			code(c.Requirement), why)
	}
	for _, x := range compare(r.report, f).Discrepancies {
		silent := x.Kind == TestsTampered && (x.Severity == critical || x.Claimed == notMentioned)
		object(silent, x.item(), "%s and the report does not say so", x.Found)
		object(!silent && x.Severity == critical, x.item(), "critical discrepancy %s: %s: %s", x.Kind, x.Claimed, x.Found)
	}
	object(len(r.moved) > 0, Item{Severity: medium, Suggestion: "Look again, and decide about what is there now."},
		"files changed after the evidence was taken: %s", firstThree(r.moved))
	return all
}

var unbegun = Item{Severity: medium, Issue: "The review was never begun.",
	Suggestion: "Begin the review before deciding."}

func (r *Review) objectToTests(f Facts, object func(holds bool, it Item, format string, args ...any)) {
	claimed := slices.ContainsFunc(r.report.Claims,
		func(c Claim) bool { return c.Kind == runClaim && c.Run == runTests && c.Result != NotMet })
	required := len(r.task.Commands) > 0 ||
		slices.ContainsFunc(r.requirements, func(q Requirement) bool { return q.Command != "" })
	status, why := r.tests(f)
	object((claimed || required) && status == Unverified,
		Item{Severity: medium, Suggestion: "Run them and show what they print."}, "tests are %s but unverified: %s",
		map[bool]string{true: "required", false: "claimed"}[required], why)
	seen := f.sum(f.Runs)
	fails := func(names []string, severity priority, fix, format string) {
		admitted := r.report.admits(names)
		object(len(names) > 0 && admitted, Item{Severity: medium, Suggestion: unbroken},
			"tests fail, as the report says: %s", firstThree(names))
		object(len(names) > 0 && !admitted, Item{Severity: severity, Suggestion: fix}, format, firstThree(names))
	}
	fails(seen.fresh, high, unbroken, "new failures: %s")
	fails(seen.unknown, medium, "Make them pass, or show that they failed before.",
		"tests fail, and whether they did before is not known: %s")
	object(len(f.Runs) > 0 && seen.Counted && seen.Passed == 0 && len(seen.fresh) == 0 && status != NotMet,
		Item{Severity: high, Suggestion: "Make the tests run: none may be skipped or left out."}, "no test passed: %s", why)
}

const unbroken = "Make them pass, without taking tests away."

const leftOut = "the decision says nothing about it" // the issue of a requirement

// requirementChecks returns a check for each requirement, in their order. Checks of anything else follow.
func (r *Review) requirementChecks(f Facts, given []RequirementCheck) []RequirementCheck {
	var all []RequirementCheck
	used := make([]bool, len(given))
	for _, q := range r.requirements {
		c := RequirementCheck{ID: q.ID, Requirement: q.Text, Status: Unverified, Issue: leftOut}
		found := false
		for i, s := range given {
			if used[i] || !s.about(q) {
				continue
			}
			used[i] = true
			if !found || And(s.Status, c.Status) != c.Status {
				c.Status, c.Evidence, c.Issue = And(s.Status), s.Evidence, s.Issue
			}
			found = true
		}
		if fact, ok := r.require(f, q); ok && And(fact.Status, c.Status) != c.Status {
			c.Status, c.Issue = fact.Status, fact.Issue
		}
		all = append(all, c)
	}
	for i, s := range given {
		if !used[i] {
			s.Status = And(s.Status)
			all = append(all, s)
		}
	}
	return all
}

// about reports whether a check is about the requirement q: by its ID or its words.
func (c RequirementCheck) about(q Requirement) bool {
	if c.ID != "" {
		return strings.EqualFold(strings.TrimSpace(c.ID), q.ID)
	}
	name, id := fold(c.Requirement), strings.ToLower(q.ID)
	if name == id || name == fold(q.Text) {
		return true
	}
	rest, ok := strings.CutPrefix(name, id)
	return ok && rest != "" && strings.ContainsRune(" :.)", rune(rest[0]))
}

// testsCheck returns what was observed of the tests, with the missing tests of a decision.
func (r *Review) testsCheck(f Facts, given testsCheck) testsCheck {
	c := testsCheck{Missing: slices.Clone(given.Missing)}
	c.Status, _ = r.tests(f)
	seen := f.sum(f.Runs)
	c.Total, c.Passed, c.Failed = seen.Total, seen.Passed, seen.Failed
	for _, run := range f.Runs {
		c.Failures = append(c.Failures, run.Failures...)
	}
	return c
}

type eventName string // what an event of a trace is

const (
	validateStart eventName = "coach_validate_start" // a review was begun
	decisionMade  eventName = "coach_decision"       // a decision was recorded
	feedbackGiven eventName = "coach_feedback"       // the agent got feedback
)

// Event is one event of a trace. Name says which of the fields after Task is set.
type Event struct {
	Time time.Time `json:"time"` // by the host's clock
	Name eventName `json:"event"`
	Task string    `json:"task_id"`

	Start    *started  `json:"start,omitempty"`    // coach_validate_start
	Decision *recorded `json:"decision,omitempty"` // coach_decision
	Items    []Item    `json:"items,omitempty"`    // coach_feedback: worst first
}

// Started is what a review was begun with and what was seen until then. Another process can resume it.
type started struct {
	Task         Task          `json:"task"`
	Requirements []Requirement `json:"requirements"`
	Report       Report        `json:"report"`
	Facts        Facts         `json:"facts"`
}

// Recorded is a decision as it was recorded.
type recorded struct {
	Decision  Decision `json:"decision"`
	Overrides []string `json:"overrides,omitempty"`
	Honesty   Honesty  `json:"honesty"`
}

// Started returns the event that a review was begun.
func (r *Review) Started(at time.Time) Event {
	return Event{Time: at, Name: validateStart, Task: r.task.ID,
		Start: &started{Task: r.task, Requirements: r.Requirements(), Report: r.report, Facts: r.facts}}
}

// Recorded returns the event that a decision was recorded. With feedback, a second event says that the agent gets it.
// D and overrides are what Record returned.
func (r *Review) Recorded(at time.Time, d Decision, overrides []string) []Event {
	events := []Event{{Time: at, Name: decisionMade, Task: r.task.ID,
		Decision: &recorded{Decision: d, Overrides: overrides, Honesty: r.Honesty()}}}
	if d.Verdict != Approve {
		events = append(events, Event{Time: at, Name: feedbackGiven, Task: r.task.ID, Items: ordered(d.Items)})
	}
	return events
}

// Resume returns the review that was begun.
func (s started) Resume() *Review {
	r := Begin(s.Task, s.Requirements, s.Report)
	r.Observe(s.Facts)
	return r
}

// Trace is a list of events, in the order of time.
type Trace []Event

// ReadTrace reads JSON Lines as [Trace.Lines] writes them. The error names the first line that is not an event.
func ReadTrace(text []byte) (Trace, error) {
	var t Trace
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var e Event
		if json.Unmarshal(line, &e) != nil || e.Name == "" {
			return nil, fmt.Errorf("verify: trace, line %d: it is not an event", n)
		}
		t = append(t, e)
	}
	return t, nil
}

// Lines returns the events as JSON Lines.
func (t Trace) Lines() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, e := range t {
		if err := enc.Encode(e); err != nil {
			return nil, fmt.Errorf("verify: trace: %w", err)
		}
	}
	return b.Bytes(), nil
}

// History returns the events of one task.
func (t Trace) History(task string) Trace {
	return slices.DeleteFunc(slices.Clone(t), func(e Event) bool { return e.Task != task })
}

// Stalled reports whether the last n decisions of a task gave the same feedback. N below 2 is 2.
func Stalled(history Trace, n int) bool {
	n = max(n, 2)
	var rounds [][]string
	for _, e := range history {
		if e.Decision != nil {
			rounds = append(rounds, issues(e.Decision.Decision))
		}
	}
	if len(rounds) < n || len(rounds[len(rounds)-1]) == 0 {
		return false
	}
	return len(slices.CompactFunc(rounds[len(rounds)-n:], slices.Equal)) == 1
}

// issues returns the feedback of a decision, sorted, and which requirements it found to be met. An approval has none.
func issues(d Decision) (all []string) {
	if d.Verdict == Approve {
		return nil
	}
	for _, c := range d.Requirements {
		if c.Status == Met {
			all = append(all, "met\x00"+cmp.Or(c.ID, c.Requirement))
		}
	}
	for _, it := range d.Items {
		all = append(all, cleanPath(it.File)+"\x00"+fold(it.Issue))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
