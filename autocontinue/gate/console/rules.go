package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// byFile is who the journal says changed the policy when a file brought other rules than the session had.
const byFile = "policy file"

// rules are the session's policy as a text that people edit. The text is kept as they wrote it; its version is its hash,
// so that a file changed by hand is another version too.
type rules struct {
	file  string // "" is none
	tools []string

	mu   sync.Mutex
	text string
	same []byte // the canonical form of text, to see that the session's policy is still this one

	seen  []byte   // the canonical form that boxes were made of
	boxes settings // Gates and Tools alone: every page asks for them at every event
}

// settings are the rules as the page shows them.
type settings struct {
	Version string `json:"version"`
	Rules   string `json:"rules"`
	Kept    bool   `json:"kept"` // in a file
	Audited bool   `json:"audited"`
	Gates   []box  `json:"gates"`
	Tools   []box  `json:"tools"`
}

// box is one checkbox: what the policy says about a gate or a tool.
type box struct {
	Name   string    `json:"name"`
	Then   gate.Then `json:"then"` // by the rules without conditions
	Rule   string    `json:"rule"`
	Unless []string  `json:"unless,omitempty"` // the rules with conditions that are stricter
}

func (s settings) stamp() string { return fmt.Sprint(s.Version, s.Audited) }

// loadRules reads the file and applies it to the session, or writes what the session has to the file.
func loadRules(file string, tools []string, s *gate.Session, now time.Time) (*rules, error) {
	r := &rules{file: file, tools: slices.Clone(tools)}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(s)
	if file == "" {
		return r, nil
	}
	data, err := readRules(file)
	if err != nil {
		return nil, fmt.Errorf("read the policy file: %w", err)
	}
	if data == nil {
		p, err := prepare(file, []byte(r.text))
		if err == nil {
			err = p.commit()
		}
		if err != nil {
			return nil, fmt.Errorf("write the policy file: %w", err)
		}
		return r, nil
	}
	p, err := gate.ParsePolicy(data)
	if err != nil {
		return nil, fmt.Errorf("policy file %s: %w", file, err)
	}
	if same := canonical(p); !bytes.Equal(same, r.same) {
		if err := s.SetPolicy(now, byFile, p); err != nil {
			return nil, fmt.Errorf("apply the policy file: %w", err)
		}
		r.same = same
	}
	r.text = string(data)
	return r, nil
}

func canonical(p gate.Policy) []byte {
	data, err := json.Marshal(p.Rules())
	if err != nil {
		return nil
	}
	return data
}

// follow takes over the session's policy when the host changed it.
func (r *rules) follow(s *gate.Session) gate.Policy {
	p := s.Policy()
	if same := canonical(p); r.text == "" || !bytes.Equal(same, r.same) {
		var each []json.RawMessage
		json.Unmarshal(same, &each)
		r.text, r.same = layOut(each), same
	}
	return p
}

// layOut writes rules one a line.
func layOut(each []json.RawMessage) string {
	if len(each) == 0 {
		return "[]\n"
	}
	lines := make([]string, len(each))
	for i, raw := range each {
		lines[i] = "  " + string(raw)
	}
	return "[\n" + strings.Join(lines, ",\n") + "\n]\n"
}

func versionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// settings returns what holds now.
func (r *rules) settings(s *gate.Session) settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.follow(s)
	if !bytes.Equal(r.seen, r.same) {
		r.seen, r.boxes = r.same, r.look(p)
	}
	out := r.boxes
	out.Version, out.Rules, out.Kept, out.Audited = versionOf(r.text), r.text, r.file != "", s.Audited()
	return out
}

// look returns what the checkboxes say about a policy.
func (r *rules) look(p gate.Policy) (out settings) {
	always, sometimes := parts(p)
	boxOf := func(name string, sub gate.Subject) box {
		v := always.Judge(sub)
		b := box{Name: name, Then: v.Then, Rule: line(v.Rule, noteText)}
		for _, one := range sometimes {
			if w := one.Judge(sub); strict[w.Then] > strict[v.Then] && w.Rule == one.Rules()[0].String() {
				b.Unless = append(b.Unless, line(w.Rule, noteText))
			}
		}
		return b
	}
	for _, k := range []gate.Kind{gate.Context, gate.Response} {
		out.Gates = append(out.Gates, boxOf(string(k), sample(k, "")))
	}
	tools := slices.Clone(r.tools)
	for _, rule := range p.Rules() {
		if rule.Tool != "" && !strings.Contains(rule.Tool, "*") {
			tools = append(tools, rule.Tool)
		}
	}
	slices.Sort(tools)
	for _, t := range slices.Compact(tools) {
		out.Tools = append(out.Tools, boxOf(t, sample(gate.Tool, t)))
	}
	return out
}

var strict = map[gate.Then]int{gate.Allow: 0, gate.Ask: 1, gate.Forbid: 2}

// parts returns the rules that hold whatever the body, as one policy, and each of the others as one of its own.
func parts(p gate.Policy) (always gate.Policy, sometimes []gate.Policy) {
	var plain []gate.Rule
	for _, rule := range p.Rules() {
		if len(rule.When) == 0 {
			plain = append(plain, rule)
			continue
		}
		if one, err := policyOf(rule); err == nil {
			sometimes = append(sometimes, one)
		}
	}
	always, err := policyOf(plain...)
	if err != nil {
		return p, nil
	}
	return always, sometimes
}

func policyOf(list ...gate.Rule) (gate.Policy, error) {
	if list == nil {
		list = []gate.Rule{}
	}
	data, err := json.Marshal(list)
	if err != nil {
		return gate.Policy{}, err
	}
	return gate.ParsePolicy(data)
}

// sample is a subject of which nothing but the gate and the tool is known. Conditions on its body can't be read, and then
// hold for what asks and denies.
func sample(k gate.Kind, tool string) gate.Subject {
	sub := gate.Subject{Kind: k, Thread: "t", Run: "r", Body: json.RawMessage("{}")}
	switch k {
	case gate.Tool:
		sub.Tool, sub.Call = tool, "c"
	case gate.Response:
		sub.Body = json.RawMessage(`{"text":""}`)
	}
	return sub
}

// save replaces the rules, if version is the one that holds: in the file, which a crash leaves old or new, and in the
// session.
func (r *rules) save(now time.Time, by string, s *gate.Session, version, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replace(now, by, s, version, text)
}

func (r *rules) replace(now time.Time, by string, s *gate.Session, version, text string) error {
	old := r.follow(s)
	if version != versionOf(r.text) {
		return refusal{"conflict", "The rules were changed meanwhile. Look at the new ones and make your change again."}
	}
	if len(text) > maxRules {
		return refusal{"policy", fmt.Sprintf("the rules have more than %d KB", maxRules>>10)}
	}
	p, err := gate.ParsePolicy([]byte(text))
	if err != nil {
		return refusal{"policy", line(err.Error(), noteText)}
	}
	if r.file == "" {
		if err := s.SetPolicy(now, by, p); err != nil {
			return err
		}
		r.text, r.same = text, canonical(p)
		return nil
	}
	switch data, err := readRules(r.file); {
	case err != nil:
		return fmt.Errorf("read the policy file: %w", err)
	case data != nil && string(data) != r.text:
		if _, err := gate.ParsePolicy(data); err != nil {
			return refusal{"conflict", "The policy file was changed by hand and can't be read: " + line(err.Error(), noteText)}
		}
		return refusal{"conflict", "The policy file was changed by hand. Restart the host to apply that, or put it back."}
	}
	file, err := prepare(r.file, []byte(text))
	if err != nil {
		return fmt.Errorf("write the policy file: %w", err)
	}
	if err := s.SetPolicy(now, by, p); err != nil {
		file.drop()
		return err
	}
	if err := file.commit(); err != nil {
		return errors.Join(fmt.Errorf("write the policy file: %w", err), s.SetPolicy(now, by, old))
	}
	r.text, r.same = text, canonical(p)
	return nil
}

// ask makes a gate or a tool ask, or not, by the rule that names it and nothing else. A rule that is stricter stays, and
// then the change is refused: it would not do what the box says.
func (r *rules) ask(now time.Time, by string, s *gate.Session, cmd command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow(s)
	plain := map[string]string{"then": string(gate.Allow)}
	sub := sample(gate.Tool, cmd.Tool)
	switch {
	case cmd.Tool != "" && cmd.Gate == "" && !strings.Contains(cmd.Tool, "*"):
		plain["tool"] = cmd.Tool
	case cmd.Tool == "" && (cmd.Gate == gate.Context || cmd.Gate == gate.Response):
		plain["gate"] = string(cmd.Gate)
		sub = sample(cmd.Gate, "")
	default:
		return refusal{"input", "name a tool, or the context or response gate"}
	}
	want := gate.Allow
	if cmd.On {
		want = gate.Ask
		plain["then"] = string(gate.Ask)
	}
	var each []json.RawMessage
	if err := json.Unmarshal([]byte(r.text), &each); err != nil {
		return fmt.Errorf("read the rules: %w", err)
	}
	each = slices.DeleteFunc(each, func(raw json.RawMessage) bool {
		var rule map[string]json.RawMessage
		if json.Unmarshal(raw, &rule) != nil || len(rule) != 2 {
			return false
		}
		for key, v := range plain {
			if key != "then" && string(rule[key]) != quoted(v) {
				return false
			}
		}
		then := string(rule["then"])
		return then == quoted(string(gate.Ask)) || then == quoted(string(gate.Allow))
	})
	rule, err := json.Marshal(plain)
	if err != nil {
		return err
	}
	text := layOut(append(each, rule))
	p, err := gate.ParsePolicy([]byte(text))
	if err != nil {
		return refusal{"policy", line(err.Error(), noteText)}
	}
	always, _ := parts(p)
	if v := always.Judge(sub); v.Then != want {
		return refusal{"policy", fmt.Sprintf("Another rule still says %s: %s. Change it in the list.", v.Then, line(v.Rule, noteText))}
	}
	return r.replace(now, by, s, cmd.Version, text)
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}
