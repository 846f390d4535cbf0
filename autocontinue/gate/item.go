package gate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Bounds in bytes of what a subject and a decision carry beside bodies.
const (
	maxID     = 256 // of a thread, run or call
	maxTool   = 128
	maxLabel  = 1 << 10
	maxName   = 256 // of a person
	maxReason = 4 << 10

	maxCompared = 64 << 10 // of a body whose value is compared with that of earlier calls
)

// Kind is one of the three gates.
type Kind string

// The gates, in the order in which a run meets them.
const (
	Context  Kind = "context"  // the payload of a run, before it is sent to the agent
	Tool     Kind = "tool"     // one call of a tool, before it is executed
	Response Kind = "response" // the answer of the agent, before it is shown or stored
)

// Subject is what a host proposes. The digest of an item covers Kind, Thread, Run, Call, Tool and Body.
type Subject struct {
	Kind   Kind   `json:"kind"`
	Thread string `json:"thread"`         // the conversation; required
	Run    string `json:"run"`            // one execution of the agent, unique in the session; required
	Call   string `json:"call,omitempty"` // unique in the run; required for a tool, otherwise empty
	Tool   string `json:"tool,omitempty"` // required for a tool, otherwise empty

	// Label is one line for people, written by the host. It decides nothing.
	Label string `json:"label,omitempty"`

	// Body is one JSON object: the payload of a context, the arguments of a tool, or a response. A response has text, a
	// string, and may have a2ui, any JSON. The session removes white space between tokens and writes the text of a
	// response in one way. Keys keep their order and numbers keep their digits.
	Body json.RawMessage `json:"body"`

	// Within is how long an item may wait for an answer; the shorter time of this and the rule's holds. Escalate is who is
	// asked after that, with the same time again, in place of whom the rule names. Without a name the item expires.
	Within   time.Duration `json:"-"`
	Escalate string        `json:"-"`
}

func (k Kind) check() error {
	if k != Context && k != Tool && k != Response {
		return fmt.Errorf("%w: the kind must be context, tool or response", ErrInput)
	}
	return nil
}

// check refuses a subject that lacks a field or has one too many. It does not read the body.
func (sub Subject) check() error {
	err := cmp.Or(sub.Kind.check(), checkName("thread ID", sub.Thread, maxID), checkName("run ID", sub.Run, maxID),
		checkText("label", sub.Label, maxLabel), checkText("name to escalate to", sub.Escalate, maxName))
	switch {
	case err != nil:
		return err
	case sub.Within < 0:
		return fmt.Errorf("%w: Within is below zero", ErrInput)
	case sub.Kind == Tool:
		return cmp.Or(checkName("call ID", sub.Call, maxID), checkTool(sub.Tool))
	case sub.Call != "" || sub.Tool != "":
		return fmt.Errorf("%w: a %s has no call and no tool", ErrInput, sub.Kind)
	}
	return nil
}

// checkName refuses an empty text, and one that hides something.
func checkName(field, name string, limit int) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("%w: the %s is empty", ErrInput, field)
	case hides(name):
		return fmt.Errorf("%w: the %s has a character that cannot be seen", ErrInput, field)
	}
	return checkText(field, name, limit)
}

// hides reports whether a person would overlook something in a text of one line.
func hides(s string) bool {
	return plaintext.Visible(s) != s || strings.ContainsFunc(s, plaintext.IsInvisible)
}

func checkText(field, text string, limit int) error {
	if len(text) > limit || !utf8.ValidString(text) {
		return fmt.Errorf("%w: the %s must be UTF-8 of at most %d bytes", ErrInput, field, limit)
	}
	return nil
}

// toolName matches names of tools. They are ASCII, so that no two look alike.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.:/-]{1,128}$`)

func checkTool(name string) error {
	if !toolName.MatchString(name) {
		return fmt.Errorf("%w: a tool's name has 1 to %d letters a-z, A-Z, digits and _ - . : /", ErrInput, maxTool)
	}
	return nil
}

// readBody reads the body of a subject of that kind or, without a kind, the result of a tool. It returns the text that
// the session keeps, of at most limit bytes, and its value.
func readBody(kind Kind, data []byte, limit int) (body json.RawMessage, v any, err error) {
	if len(data) <= limit {
		v, err = readJSON(data)
	}
	object, isObject := v.(map[string]any)
	_, isText := object["text"].(string)
	isOther := func(key string) bool { return key != "text" && key != "a2ui" }
	switch body = data; {
	case len(data) > limit, err != nil:
	case kind != "" && !isObject:
		err = &bodyError{0, "the body is not a JSON object"}
	case kind != Response:
		body = compact(data)
	case slices.ContainsFunc(slices.Collect(maps.Keys(object)), isOther):
		err = &bodyError{0, "a response has only text and a2ui"}
	case !isText:
		err = &bodyError{0, "a response needs text, a string"}
	default: // control characters become escapes
		body = joinResponse(splitResponse(data))
	}
	if err == nil && len(body) > limit {
		err = fmt.Errorf("%w: the body has %d bytes; the limit is %d", ErrInput, len(body), limit)
	}
	return body, v, err
}

// answer is the body of a response, which an event holds in two parts.
type answer struct {
	Text string          `json:"text"`
	A2UI json.RawMessage `json:"a2ui,omitempty"`
}

func joinResponse(text string, a2ui json.RawMessage) json.RawMessage {
	return bytes.TrimSuffix(marshal(answer{text, a2ui}), []byte("\n"))
}

func splitResponse(body json.RawMessage) (text string, a2ui json.RawMessage) {
	var a answer
	json.Unmarshal(body, &a) // the body was read before
	return a.Text, a.A2UI
}

// marshal returns a value as a line. The value is made of JSON that was read, so that it cannot fail.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.Encode(v)
	return b.Bytes()
}

// digest names a subject. It hashes each field after its length, so that no two subjects have the same bytes.
func digest(sub Subject) string {
	b := []byte("sidecoach gate subject 1\n")
	for _, field := range []string{string(sub.Kind), sub.Thread, sub.Run, sub.Call, sub.Tool, string(sub.Body)} {
		b = appendText(b, field)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// requestKey is equal for items of one run that ask for the same: calls of the same tool with arguments of the same
// value. It is called with the session locked, so it compares the bytes of a large body.
func (it *Item) requestKey() [sha256.Size]byte {
	var body any = string(it.Body)
	if len(it.Body) <= maxCompared {
		body, _ = readJSON(it.Body) // it was read before
	}
	return sum([]any{string(it.Kind) + it.Tool, body}, asIs)
}

// Action is what a person decides about an item.
type Action string

// The actions. Approve, Edit, Deny and Stop are for every kind.
const (
	Approve Action = "approve" // it may go on as it is
	Edit    Action = "edit"    // it may go on with Decision.Body as its body
	Deny    Action = "deny"    // it may not go on; its run can read Decision.Reason (a denied context ends its run)
	Respond Action = "respond" // for a tool: it is not executed, and Decision.Body is its result
	Stop    Action = "stop"    // it may not go on and its run ends; every other open item of the run is withdrawn
)

// Decision is one answer to one item.
type Decision struct {
	Item   string          `json:"item"`
	Digest string          `json:"digest"` // Item.Digest as the person saw it; another one is [ErrStale]
	Action Action          `json:"action"`
	By     string          `json:"by"`               // who decided, from the host's own authentication; required
	Reason string          `json:"reason,omitempty"` // with deny and stop the model may read it
	Body   json.RawMessage `json:"body,omitempty"`   // edit: the new body; respond: the result, any JSON; otherwise empty
}

// Status is the state of an item.
type Status string

// The statuses. Only a pending item waits for a person. Only an approved item can be redeemed.
const (
	Pending   Status = "pending"
	Approved  Status = "approved"  // by a person, by the policy, or because the session is not audited; not yet redeemed
	Denied    Status = "denied"    // by a person or the policy
	Expired   Status = "expired"   // nobody answered, or nobody redeemed, in time; counts as denied by nobody
	Redeemed  Status = "redeemed"  // handed out: a tool executes, a run was started, a response was shown
	Done      Status = "done"      // the call has a result: of the tool or, with Item.Action Respond, of a person
	Withdrawn Status = "withdrawn" // its run ended before it was answered or redeemed
)

// Item is one proposal and what became of it. It is a copy: a change of it changes nothing.
type Item struct {
	ID      string `json:"id"`  // letters and digits, unique in the session's journal
	Seq     uint64 `json:"seq"` // of the event that proposed it first: the order of items
	Subject        // as proposed; an edit does not change it
	Digest  string `json:"digest"` // of the subject as proposed, hexadecimal
	Status  Status `json:"status"`
	Rule    string `json:"rule"` // why the policy asked, allowed or denied, for people

	Proposed time.Time `json:"proposed"`
	Expires  time.Time `json:"expires,omitzero"`   // when an open item expires, or escalates; zero is never
	Approver string    `json:"approver,omitempty"` // who is asked since it escalated; empty before
	Escalate string    `json:"escalate,omitempty"` // who is asked when Expires is over; empty: it expires
	Decided  time.Time `json:"decided,omitzero"`   // when it was no longer pending

	Action Action          `json:"action,omitempty"` // of the person; empty when the policy decided, or nobody
	By     string          `json:"by,omitempty"`     // a person, "policy" or "unaudited"; empty for an expired item
	Reason string          `json:"reason,omitempty"`
	Edited json.RawMessage `json:"edited,omitempty"` // the body that replaces the proposed one
	Final  string          `json:"final,omitempty"`  // digest of what was approved
	Result json.RawMessage `json:"result,omitempty"` // of a tool: what it returned, or what a person gave in its place

	asked time.Time // since when the present approver has been asked
}

func (it *Item) isOpen() bool   { return it.Status == Pending || it.Status == Approved }
func (it *Item) executes() bool { return it.Status == Redeemed && it.Kind == Tool }

func (it *Item) due(now time.Time) bool {
	return it.isOpen() && !it.Expires.IsZero() && !now.Before(it.Expires)
}

// copied returns an item that shares nothing with the session.
func (i Item) copied() Item {
	i.Body, i.Edited, i.Result = slices.Clone(i.Body), slices.Clone(i.Edited), slices.Clone(i.Result)
	return i
}

func copies(list []*Item) []Item {
	items := make([]Item, len(list))
	for i, it := range list {
		items[i] = it.copied()
	}
	return items
}

// ApprovedBody returns the body that Redeem hands out: the edited one, or the proposed one.
func (i Item) ApprovedBody() json.RawMessage {
	if i.Edited != nil {
		return i.Edited
	}
	return i.Body
}

// Names in Item.By and Event.By for decisions that no person made.
const (
	ByPolicy    = "policy"
	ByUnaudited = "unaudited"
)

// Phase is the state of a run, as the package documentation lists them. It is empty for a run that the session does not
// know. A run that is "finished" or "denied" has ended.
type Phase string

const (
	noRun            Phase = ""
	staged           Phase = "staged"            // its context is pending, or approved and not yet redeemed
	running          Phase = "running"           // the agent works; nothing is open
	toolProposed     Phase = "tool_proposed"     // at least one call is open
	toolExecuting    Phase = "tool_executing"    // at least one call executes and none is open
	responseProposed Phase = "response_proposed" // a response is open
	finished         Phase = "finished"          // a response was redeemed, or the host said so
	stopped          Phase = "denied"            // the context was denied or expired, or the run was stopped
)

// Run is one run as the session knows it.
type Run struct {
	ID     string    `json:"id"`
	Thread string    `json:"thread"`
	Phase  Phase     `json:"phase"`
	Staged time.Time `json:"staged"`           // when its first item was proposed
	Reason string    `json:"reason,omitempty"` // why it ended
}
