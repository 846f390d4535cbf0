package console

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/autocontinue/gate"
)

// suggestion is what a rule that always allows a call may say about each of its arguments. The first choice is
// exactly what the call has, or has no condition if that is too long. The last one is anything.
type suggestion struct {
	Exact string     `json:"exact"` // the condition for all arguments together, as they are
	Count string     `json:"count"` // the condition that there are no other arguments
	Args  []argument `json:"args"`
}

type argument struct {
	Key     string   `json:"key"`
	Choices []choice `json:"choices"`
}

type choice struct {
	Label     string `json:"label"`
	Condition string `json:"condition"` // JSON; empty asks the person to choose
}

const (
	maxPinned  = 4 << 10 // bytes of a value that a rule compares with
	maxPinning = 20      // arguments
)

// suggest returns what a rule about a call may say. No choice but "anything" accepts more than its label says.
func (c *Console) suggest(id string) (suggestion, error) {
	it, ok := c.cfg.Session.Item(id)
	list := members(it.Body)
	if !ok || it.Kind != gate.Tool || len(list) > maxPinning {
		return suggestion{}, problem{"input", "A rule cannot be suggested for this. Write it on the Rules page."}
	}
	out := suggestion{Count: fmt.Sprintf(`{"at": "", "count_under": %d}`, len(list)+1), Args: []argument{}}
	if len(it.Body) <= maxPinned {
		out.Exact = fmt.Sprintf(`{"at": "", "equals": %s}`, it.Body)
	}
	for _, m := range list {
		pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(m.key)
		arg, value := argument{Key: m.key}, string(m.value)
		add := func(label, test, value string) {
			condition := fmt.Sprintf(`{"at": %s, %q: %s}`, quoted(pointer), test, value)
			rule := fmt.Sprintf(`[{"tool": %s, "when": [%s], "then": "always"}]`, quoted(it.Tool), condition)
			if p, err := parse(rule); err == nil && c.allows(p, it) {
				arg.Choices = append(arg.Choices, choice{label, condition})
			}
		}
		switch {
		case len(value) > maxPinned:
			arg.Choices = []choice{{"too long to compare: choose", ""}}
		case len(value) > argsText:
			add("exactly "+line(value, argsText)+"…", "equals", value)
		default:
			add("exactly "+line(value, argsText), "equals", value)
		}
		var text string
		if json.Unmarshal(m.value, &text) == nil {
			if words := strings.Fields(text); plainWords.MatchString(text) {
				form := words[0] + " " + words[1] + " *"
				add("commands: "+form, "command", quoted(form))
			}
			if dir := path.Dir(text); dir != "." && dir != "/" {
				add("everything below "+line(dir, argsText), "path", quoted(dir))
			}
		}
		add("anything", "exists", "true")
		out.Args = append(out.Args, arg)
	}
	return out, nil
}

// plainWords matches a text that is probably a shell line: a program and a word that is not an option.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+ [A-Za-z0-9_./:=@%+,][A-Za-z0-9_./:=@%+, -]*$`)

func (c *Console) allows(p gate.Policy, it gate.Item) bool {
	then, _ := c.cfg.Session.Judge(p, it.Subject)
	return then == gate.Approved
}

// allow adds a rule that always allows calls like one that waits, and approves that call.
func (c *Console) allow(now time.Time, name string, cmd command) error {
	it, ok := c.cfg.Session.Item(cmd.Item)
	if !ok || it.Kind != gate.Tool {
		return problem{"unknown", "This call is not there any more."}
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
	err = c.rules.change(now, name, cmd.Version, add, func(p gate.Policy) error {
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
