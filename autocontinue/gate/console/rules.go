package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// byFile is whom the journal names when a file brought other rules than the session had.
const byFile = "policy file"

// settings are the rules as the page shows them.
type settings struct {
	Rules    string   `json:"rules"`
	Kept     bool     `json:"kept"` // in a file
	Audited  bool     `json:"audited"`
	Gates    []box    `json:"gates"`
	Tools    []box    `json:"tools"`
	Warnings []string `json:"warnings,omitempty"`
}

// box is one checkbox: what the policy says about a gate or a tool.
type box struct {
	Name   string      `json:"name"`
	Then   gate.Status `json:"then"` // by the rules without conditions
	Rule   string      `json:"rule"`
	Unless []string    `json:"unless,omitempty"` // the rules with conditions that are stricter
}

// rule is what the console reads of a rule; the gate reads all of it.
type rule struct {
	Tool string    `json:"tool,omitempty"`
	Gate gate.Kind `json:"gate,omitempty"`
	Then string    `json:"then"`
	raw  json.RawMessage
}

// listOf returns the rules of a policy.
func listOf(p gate.Policy) []rule {
	data, _ := p.MarshalJSON() // it does not fail
	var raws []json.RawMessage
	json.Unmarshal(data, &raws)
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

func parse(text string) (gate.Policy, error) {
	p, err := gate.ParsePolicy([]byte(text))
	if err != nil {
		return p, problem{"policy", line(err.Error(), noteText)}
	}
	return p, nil
}

// loadRules applies the file to the session, or writes the rules of the session to the file.
func (c *Console) loadRules() error {
	now := layOut(listOf(c.cfg.Session.Policy())...)
	data, err := os.ReadFile(c.cfg.PolicyFile)
	if errors.Is(err, fs.ErrNotExist) { // also without a name
		return c.keep(now)
	}
	var p gate.Policy
	if err == nil {
		p, err = parse(string(data))
	}
	if c.kept = string(data); err == nil && layOut(listOf(p)...) != now {
		err = c.cfg.Session.SetPolicy(c.cfg.Now(), byFile, p)
	}
	if err != nil {
		return fmt.Errorf("policy file %s: %w", c.cfg.PolicyFile, err)
	}
	return nil
}

func (c *Console) keep(rules string) error {
	if c.cfg.PolicyFile == "" {
		return nil
	}
	if err := replaceFile(c.cfg.PolicyFile, []byte(rules)); err != nil {
		return fmt.Errorf("write the policy file: %w", err)
	}
	c.kept = rules
	return nil
}

// replaceFile replaces a file as a whole and keeps its permissions. Without a name it does nothing.
func replaceFile(name string, data []byte) error {
	if name == "" {
		return nil
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	return filestore.WriteFile(name, data, mode)
}

// settings returns what holds now.
func (c *Console) settings() *settings {
	p := c.cfg.Session.Policy()
	list := listOf(p)
	look := func(kind gate.Kind, name, tool string) box {
		then, rule, unless := p.Overview(kind, tool)
		for i := range unless {
			unless[i] = line(unless[i], noteText)
		}
		return box{name, then, line(rule, noteText), unless}
	}
	out := &settings{
		Rules: layOut(list...), Kept: c.cfg.PolicyFile != "", Audited: c.cfg.Session.Audited(),
		Warnings: p.Warnings(),
	}
	for _, k := range []gate.Kind{gate.Context, gate.Response} {
		out.Gates = append(out.Gates, look(k, string(k), ""))
	}
	tools := slices.Clone(c.cfg.Tools)
	for _, one := range list {
		if one.Tool != "" && !strings.Contains(one.Tool, "*") {
			tools = append(tools, one.Tool)
		}
	}
	slices.Sort(tools)
	for _, t := range slices.Compact(tools) {
		out.Tools = append(out.Tools, look(gate.Tool, t, t))
	}
	return out
}

// change replaces the rules by those that put makes of them, if was are those that hold and check accepts the new
// policy: in the file, which a crash leaves old or new, and in the session.
func (c *Console) change(
	now time.Time, by, was string, put func([]rule) string, check func(gate.Policy) error,
) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	list := listOf(c.cfg.Session.Policy())
	old := layOut(list...)
	if was != old {
		return problem{"conflict", "The rules were changed meanwhile. Look at the new ones and make your change again."}
	}
	p, err := parse(put(list))
	if err == nil {
		err = check(p)
	}
	if err != nil {
		return err
	}
	if data, err := os.ReadFile(c.cfg.PolicyFile); err != nil && c.kept != "" || string(data) != c.kept {
		return problem{"conflict", "Somebody changed the policy file by hand. Restart the host to apply it, or undo that."}
	}
	if err := c.keep(layOut(listOf(p)...)); err != nil {
		return err
	}
	if err := c.cfg.Session.SetPolicy(now, by, p); err != nil {
		return errors.Join(err, c.keep(old))
	}
	return nil
}

// save replaces all rules.
func (c *Console) save(now time.Time, by string, cmd command) error {
	return c.change(now, by, cmd.Was, func([]rule) string { return cmd.Rules }, func(gate.Policy) error { return nil })
}

// ask makes a gate or a tool ask, or not, by the rule that names it and has nothing else. If a stricter rule stays, ask
// refuses: the box would not tell the truth.
func (c *Console) ask(now time.Time, by string, cmd command) error {
	want, status := rule{Tool: cmd.Tool, Gate: cmd.Gate, Then: "allow"}, gate.Approved
	if cmd.On {
		want.Then, status = "ask", gate.Pending
	}
	isTool := cmd.Tool != "" && cmd.Gate == "" && !strings.Contains(cmd.Tool, "*")
	if !isTool && (cmd.Tool != "" || cmd.Gate != gate.Context && cmd.Gate != gate.Response) {
		return problem{"input", "name a tool, or the context or response gate"}
	}
	want.raw, _ = json.Marshal(want) // texts do not fail
	put := func(list []rule) string {
		return layOut(append(slices.DeleteFunc(list, func(one rule) bool {
			return len(members(one.raw)) == 2 && one.Tool == want.Tool && one.Gate == want.Gate && one.Then != "deny"
		}), want)...)
	}
	return c.change(now, by, cmd.Was, put, func(p gate.Policy) error {
		if then, rule, _ := p.Overview(cmp.Or(cmd.Gate, gate.Tool), cmd.Tool); then != status {
			return otherRule(rule)
		}
		return nil
	})
}

func otherRule(rule string) error {
	return problem{"policy", fmt.Sprintf("Another rule still holds: %s. Change it in the list.", line(rule, noteText))}
}

// trial says what rules would have done to the last tool calls, the newest first.
type trial struct {
	Calls    []tried  `json:"calls"`
	Warnings []string `json:"warnings,omitempty"`
}

type tried struct {
	Item string      `json:"item"`
	Tool string      `json:"tool"`
	Args string      `json:"args"`
	Was  gate.Status `json:"was"` // by the rules that hold now
	Then gate.Status `json:"then"`
	Rule string      `json:"rule"`
}

const maxTried = 100

// try judges the last tool calls of the session by other rules.
func (c *Console) try(text string) (trial, error) {
	s := c.cfg.Session
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
	out := trial{Calls: []tried{}, Warnings: p.Warnings()}
	for _, it := range calls {
		was, _ := s.Judge(now, it.Subject)
		then, rule := s.Judge(p, it.Subject)
		out.Calls = append(out.Calls, tried{it.ID, it.Tool, showItem(it).Text, was, then, line(rule, noteText)})
	}
	return out, nil
}

func (c *Console) allows(p gate.Policy, it gate.Item) bool {
	then, _ := c.cfg.Session.Judge(p, it.Subject)
	return then == gate.Approved
}

// allow adds a rule that always allows calls like one that waits, and approves that call.
func (c *Console) allow(now time.Time, name string, cmd command) error {
	it, ok := c.cfg.Session.Item(cmd.Item)
	if !ok || it.Kind != gate.Tool {
		return problem{"illegal", "This call is not there any more."}
	}
	p, err := parse("[" + cmd.Rules + "]")
	switch list := listOf(p); {
	case err != nil:
		return err
	case len(list) != 1 || list[0].Then != "always":
		return problem{"policy", `Write one rule that says "then": "always".`}
	case !c.allows(p, it):
		return problem{"policy", "This rule does not match the call."}
	}
	add := func(list []rule) string { return layOut(append(list, listOf(p)...)...) }
	err = c.change(now, name, cmd.Was, add, func(p gate.Policy) error {
		if then, rule := c.cfg.Session.Judge(p, it.Subject); then != gate.Approved {
			return otherRule(rule)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = c.cfg.Session.Resolve(now, gate.Decision{Item: it.ID, Digest: cmd.Digest, Action: gate.Approve, By: name})
	if err != nil {
		return fmt.Errorf("the rule is saved, but this call is not approved: %w", err)
	}
	return nil
}
