package console

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// byFile is whom the journal names when a file brought other rules than the session had.
const byFile = "policy file"

const maxRules = 256 << 10 // bytes

// rules are the session's policy as a text that people edit, kept as they wrote it. The version of the text is its
// hash.
type rules struct {
	session *gate.Session
	file    string // "" is none
	tools   []string

	mu     sync.Mutex
	text   string
	policy gate.Policy // what text says
}

// settings are the rules as the page shows them.
type settings struct {
	Version  string   `json:"version"`
	Rules    string   `json:"rules"`
	Kept     bool     `json:"kept"` // in a file
	Audited  bool     `json:"audited"`
	Gates    []box    `json:"gates"`
	Tools    []box    `json:"tools"`
	Warnings []string `json:"warnings,omitempty"`
}

// box is one checkbox: what the policy says about a gate or a tool.
type box struct {
	Name   string    `json:"name"`
	Then   gate.Then `json:"then"` // by the rules without conditions
	Rule   string    `json:"rule"`
	Unless []string  `json:"unless,omitempty"` // the rules with conditions that are stricter
}

// rule is what the console reads of a rule; the gate reads all of it.
type rule struct {
	Tool   string          `json:"tool,omitempty"`
	Gate   gate.Kind       `json:"gate,omitempty"`
	Thread string          `json:"thread,omitempty"`
	When   json.RawMessage `json:"when,omitempty"`
	Then   gate.Then       `json:"then"`
	raw    json.RawMessage
}

// parseRules reads rules that the gate has read before.
func parseRules(text string) []rule {
	var raws []json.RawMessage
	json.Unmarshal([]byte(text), &raws)
	list := make([]rule, len(raws))
	for i, raw := range raws {
		json.Unmarshal(raw, &list[i])
		list[i].raw = raw
	}
	return list
}

// layOut writes rules one a line.
func layOut(list ...rule) string {
	if len(list) == 0 {
		return "[]\n"
	}
	lines := make([]string, len(list))
	for i, r := range list {
		lines[i] = "  " + string(r.raw)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}

func jsonOf(p gate.Policy) string {
	data, _ := p.MarshalJSON() // it does not fail
	return string(data)
}

// loadRules reads the file and applies it to the session, or writes the rules of the session to the file.
func loadRules(cfg Config) (*rules, error) {
	r := &rules{session: cfg.Session, file: cfg.PolicyFile, tools: cfg.Tools}
	held := r.follow()
	if r.file == "" {
		return r, nil
	}
	data, err := readFile(r.file, maxRules)
	if err != nil {
		return nil, fmt.Errorf("read the policy file: %w", err)
	}
	if data == nil {
		return r, r.write(r.text)
	}
	p, err := gate.ParsePolicy(data)
	if err != nil {
		return nil, fmt.Errorf("policy file %s: %w", r.file, err)
	}
	if jsonOf(p) == jsonOf(held) {
		p = held
	} else if err := r.session.SetPolicy(cfg.Now(), byFile, p); err != nil {
		return nil, fmt.Errorf("apply the policy file %s: %w", r.file, err)
	}
	r.text, r.policy = string(data), p
	return r, nil
}

// readFile returns the content of a file of at most limit bytes; nil if there is none.
func readFile(name string, limit int) ([]byte, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && len(data) > limit {
		err = fmt.Errorf("%s has more than %d KB", name, limit>>10)
	}
	return data, err
}

// replaceFile replaces a file as a whole and keeps its permissions.
func replaceFile(name string, data []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return filestore.WriteFile(name, data, mode)
}

// write keeps a text in the file, if there is one.
func (r *rules) write(text string) error {
	if r.file == "" {
		return nil
	}
	if err := replaceFile(r.file, []byte(text)); err != nil {
		return fmt.Errorf("write the policy file: %w", err)
	}
	return nil
}

// follow takes over the session's policy if the host changed it.
func (r *rules) follow() gate.Policy {
	if p := r.session.Policy(); r.text == "" || p != r.policy {
		r.text, r.policy = layOut(parseRules(jsonOf(p))...), p
	}
	return r.policy
}

func versionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// version changes with the settings.
func (r *rules) version() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow()
	return fmt.Sprint(versionOf(r.text), r.session.Audited())
}

// settings returns what holds now.
func (r *rules) settings() settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.follow()
	always, sometimes := split(p)
	look := func(name string, sub gate.Subject) box {
		then, rule := always.Judge(sub)
		b := box{Name: name, Then: then, Rule: line(rule, noteText)}
		for _, one := range sometimes {
			// A condition of which nothing is known holds for a rule that asks or denies.
			if w, rule := one.Judge(sub); strictness[w] > strictness[then] && strings.Contains(rule, " when ") {
				b.Unless = append(b.Unless, line(rule, noteText))
			}
		}
		return b
	}
	out := settings{
		Version: versionOf(r.text), Rules: r.text, Kept: r.file != "", Audited: r.session.Audited(), Warnings: p.Warnings(),
	}
	for _, k := range []gate.Kind{gate.Context, gate.Response} {
		out.Gates = append(out.Gates, look(string(k), sample(k, "")))
	}
	tools := slices.Clone(r.tools)
	for _, one := range parseRules(jsonOf(p)) {
		if one.Tool != "" && !strings.Contains(one.Tool, "*") {
			tools = append(tools, one.Tool)
		}
	}
	slices.Sort(tools)
	for _, t := range slices.Compact(tools) {
		out.Tools = append(out.Tools, look(t, sample(gate.Tool, t)))
	}
	return out
}

var strictness = map[gate.Then]int{gate.Allow: 0, gate.Ask: 1, gate.Forbid: 2}

// split returns the rules that hold whatever the body, as one policy, and each of the others as a policy.
func split(p gate.Policy) (always gate.Policy, sometimes []gate.Policy) {
	var plain []rule
	for _, one := range parseRules(jsonOf(p)) {
		if len(one.When) == 0 && one.Thread == "" {
			plain = append(plain, one)
		} else if q, err := gate.ParsePolicy([]byte(layOut(one))); err == nil {
			sometimes = append(sometimes, q)
		}
	}
	always, _ = gate.ParsePolicy([]byte(layOut(plain...))) // a part of a policy is one
	return always, sometimes
}

// sample is a subject of which only the gate and the tool are known.
func sample(k gate.Kind, tool string) gate.Subject {
	sub := gate.Subject{Kind: k, Tool: tool, Body: json.RawMessage("{}")}
	if k == gate.Response {
		sub.Body = json.RawMessage(`{"text":""}`)
	}
	return sub
}

// save replaces the rules if version is the one that holds: in the file, which a crash leaves old or new, and in the
// session.
func (r *rules) save(now time.Time, by string, version, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow()
	return r.replace(now, by, version, text)
}

func (r *rules) replace(now time.Time, by string, version, text string) error {
	if version != versionOf(r.text) {
		return problem{"conflict", "The rules were changed meanwhile. Look at the new ones and make your change again."}
	}
	p, err := parse(text)
	if err != nil {
		return err
	}
	if r.file != "" {
		data, err := readFile(r.file, maxRules)
		if err != nil {
			return fmt.Errorf("read the policy file: %w", err)
		}
		if data != nil && string(data) != r.text {
			return problem{"conflict", "Somebody changed the policy file by hand. Restart the host to apply it, or undo that."}
		}
	}
	if err := r.write(text); err != nil {
		return err
	}
	if err := r.session.SetPolicy(now, by, p); err != nil {
		return errors.Join(err, r.write(r.text))
	}
	r.text, r.policy = text, p
	return nil
}

func parse(text string) (gate.Policy, error) {
	if len(text) > maxRules {
		return gate.Policy{}, problem{"policy", fmt.Sprintf("The rules have more than %d KB.", maxRules>>10)}
	}
	p, err := gate.ParsePolicy([]byte(text))
	if err != nil {
		return p, problem{"policy", line(err.Error(), noteText)}
	}
	return p, nil
}

// ask makes a gate or a tool ask, or not, by the rule that names it and has nothing else. If a stricter rule stays, ask
// refuses: the box would not tell the truth.
func (r *rules) ask(now time.Time, by string, cmd command) error {
	want := rule{Tool: cmd.Tool, Gate: cmd.Gate, Then: gate.Allow}
	if cmd.On {
		want.Then = gate.Ask
	}
	sub := sample(cmd.Gate, "")
	switch {
	case cmd.Tool != "" && cmd.Gate == "" && !strings.Contains(cmd.Tool, "*"):
		sub = sample(gate.Tool, cmd.Tool)
	case cmd.Tool == "" && (cmd.Gate == gate.Context || cmd.Gate == gate.Response):
	default:
		return problem{"input", "name a tool, or the context or response gate"}
	}
	raw, err := json.Marshal(want)
	if err != nil {
		return err
	}
	want.raw = raw
	put := func(list []rule) []rule {
		return append(slices.DeleteFunc(list, func(one rule) bool {
			return len(members(one.raw)) == 2 && one.Tool == want.Tool && one.Gate == want.Gate && one.Then != gate.Forbid
		}), want)
	}
	return r.edit(now, by, cmd.Version, put, func(p gate.Policy) error {
		always, _ := split(p)
		if then, rule := always.Judge(sub); then != want.Then {
			return otherRule(then, rule)
		}
		return nil
	})
}

// edit changes the list of rules, if check accepts the policy that they make.
func (r *rules) edit(
	now time.Time, by, version string, change func([]rule) []rule, check func(gate.Policy) error,
) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow()
	text := layOut(change(parseRules(r.text))...)
	p, err := parse(text)
	if err == nil {
		err = check(p)
	}
	if err != nil {
		return err
	}
	return r.replace(now, by, version, text)
}

func otherRule(then gate.Then, rule string) error {
	message := fmt.Sprintf("Another rule still says %s: %s. Change it in the list.", then, line(rule, noteText))
	return problem{"policy", message}
}

// trial says what rules would have done to the last tool calls.
type trial struct {
	Calls    int               `json:"calls"`
	Would    map[gate.Then]int `json:"would"`
	Changes  []change          `json:"changes"` // calls that would have been judged otherwise, the newest first
	Warnings []string          `json:"warnings,omitempty"`
}

type change struct {
	Item string    `json:"item"`
	Tool string    `json:"tool"`
	Args string    `json:"args"`
	Was  gate.Then `json:"was"` // by the rules that hold now
	Then gate.Then `json:"then"`
	Rule string    `json:"rule"`
}

// Bounds of a trial.
const (
	maxTried   = 100
	maxChanges = 20
)

// try judges the last tool calls of a session by other rules.
func try(s *gate.Session, text string) (trial, error) {
	p, err := parse(text)
	if err != nil {
		return trial{}, err
	}
	var calls []gate.Item
	for _, r := range s.Runs() {
		calls = append(calls, s.Items(r.ID)...)
	}
	calls = slices.DeleteFunc(calls, func(it gate.Item) bool { return it.Kind != gate.Tool })
	slices.SortFunc(calls, func(a, b gate.Item) int { return cmp.Compare(b.Seq, a.Seq) })
	calls = calls[:min(len(calls), maxTried)]
	now := s.Policy()
	out := trial{Calls: len(calls), Would: make(map[gate.Then]int), Changes: []change{}, Warnings: p.Warnings()}
	for _, it := range calls {
		was, _ := s.Judge(now, it.Subject)
		then, rule := s.Judge(p, it.Subject)
		out.Would[then]++
		if was != then && len(out.Changes) < maxChanges {
			args := showItem(it, nil).Text
			out.Changes = append(out.Changes, change{it.ID, it.Tool, args, was, then, line(rule, noteText)})
		}
	}
	return out, nil
}
