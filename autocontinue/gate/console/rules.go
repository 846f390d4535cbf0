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

func parse(text string) (gate.Policy, error) {
	p, err := gate.ParsePolicy([]byte(text))
	if err != nil {
		return p, problem{"policy", line(err.Error(), noteText)}
	}
	return p, nil
}

// loadRules applies the file to the session, or writes the rules of the session to the file.
func (c *Console) loadRules() error {
	now := c.cfg.Session.Policy().String()
	data, err := os.ReadFile(c.cfg.PolicyFile)
	if errors.Is(err, fs.ErrNotExist) { // also without a name
		return c.keep(now)
	}
	var p gate.Policy
	if err == nil {
		p, err = parse(string(data))
	}
	if c.kept = string(data); err == nil && p.String() != now {
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
	look := func(kind gate.Kind, tool string) box {
		then, rule, unless := p.Overview(kind, tool)
		return box{cmp.Or(tool, string(kind)), then, rule, unless}
	}
	out := &settings{
		Rules: p.String(), Kept: c.cfg.PolicyFile != "", Audited: c.cfg.Session.Audited(), Warnings: p.Warnings(),
		Gates: []box{look(gate.Context, ""), look(gate.Response, "")},
	}
	tools := slices.Clone(c.cfg.Tools)
	var rules []struct {
		Tool string `json:"tool"`
	}
	json.Unmarshal([]byte(p.String()), &rules) // they are JSON
	for _, r := range rules {
		if r.Tool != "" && !strings.Contains(r.Tool, "*") {
			tools = append(tools, r.Tool)
		}
	}
	slices.Sort(tools)
	for _, t := range slices.Compact(tools) {
		out.Tools = append(out.Tools, look(gate.Tool, t))
	}
	return out
}

// save replaces all rules: in the file, which a crash leaves old or new, and in the session. cmd.Was must be the rules
// that hold. If cmd names a call, the new rules must allow it; if it names a gate or a tool, they must ask as cmd.On says.
func (c *Console) save(now time.Time, by string, cmd command) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	old := c.cfg.Session.Policy().String()
	if cmd.Was != old {
		return problem{"conflict", "The rules were changed meanwhile. Look at the new ones and make your change again."}
	}
	p, err := parse(cmd.Rules)
	if err != nil {
		return err
	}
	want := map[bool]gate.Status{true: gate.Pending, false: gate.Approved}[cmd.On]
	then, rule := want, ""
	if it, ok := c.cfg.Session.Item(cmd.Item); ok {
		then, rule = c.cfg.Session.Judge(p, it.Subject)
	} else if cmd.Item != "" {
		return problem{"illegal", "This call is not there any more."}
	} else if cmd.Gate != "" || cmd.Tool != "" {
		then, rule, _ = p.Overview(cmp.Or(cmd.Gate, gate.Tool), cmd.Tool)
	}
	if then != want {
		return problem{"policy", "Another rule still holds: " + rule + ". Change that rule, or yours."}
	}
	if data, err := os.ReadFile(c.cfg.PolicyFile); err != nil && c.kept != "" || string(data) != c.kept {
		return problem{"conflict", "Somebody changed the policy file by hand. Restart the host to apply it, or undo that."}
	}
	if err := c.keep(p.String()); err != nil {
		return err
	}
	if err := c.cfg.Session.SetPolicy(now, by, p); err != nil {
		return errors.Join(err, c.keep(old))
	}
	return nil
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
		out.Calls = append(out.Calls, tried{it.ID, it.Tool, showItem(it).Text, was, then, rule})
	}
	return out, nil
}
