package console

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
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

// condition writes a condition on one argument.
func condition(key, test, value string) string {
	pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	return fmt.Sprintf(`{"at": %s, %s: %s}`, quoted(pointer), quoted(test), value)
}

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
		value := string(m.value)
		first := choice{"exactly " + line(value, argsText), condition(m.key, "equals", value)}
		if len(value) > maxPinned {
			first = choice{"too long to compare: choose", ""}
		} else if len(value) > argsText {
			first.Label += "…"
		}
		var wider []choice
		var text string
		if json.Unmarshal(m.value, &text) == nil {
			if form := formOf(text); form != "" {
				wider = append(wider, choice{"commands: " + form, condition(m.key, "command", quoted(form))})
			}
			if dir := path.Dir(text); dir != "." && dir != "/" {
				wider = append(wider, choice{"everything below " + line(dir, argsText), condition(m.key, "path", quoted(dir))})
			}
		}
		wider = slices.DeleteFunc(wider, func(one choice) bool { return !c.fits(it, one.Condition) })
		wider = append(wider, choice{"anything", condition(m.key, "exists", "true")})
		out.Args = append(out.Args, argument{m.key, append([]choice{first}, wider...)})
	}
	return out, nil
}

var plainWords = regexp.MustCompile(`^[A-Za-z0-9_./:=@%+,-]+( [A-Za-z0-9_./:=@%+,-]+)+$`)

// formOf returns a form of a shell line; empty for a text that is probably not one.
func formOf(text string) string {
	words := strings.Fields(text)
	if !plainWords.MatchString(text) || strings.HasPrefix(words[1], "-") {
		return ""
	}
	return words[0] + " " + words[1] + " *"
}

// fits reports whether a rule with one condition allows a call.
func (c *Console) fits(it gate.Item, condition string) bool {
	rule := fmt.Appendf(nil, `[{"tool": %s, "when": [%s], "then": "always"}]`, quoted(it.Tool), condition)
	p, err := gate.ParsePolicy(rule)
	return err == nil && c.allows(p, it)
}

func (c *Console) allows(p gate.Policy, it gate.Item) bool {
	then, _ := c.cfg.Session.Judge(p, it.Subject)
	return then == gate.Allow
}

// allow adds a rule that always allows calls like one that waits, and approves that call.
func (c *Console) allow(now time.Time, name string, cmd command) error {
	it, ok := c.cfg.Session.Item(cmd.Item)
	if !ok || it.Kind != gate.Tool {
		return problem{"unknown", "This call is not there any more."}
	}
	p, err := parse("[" + cmd.Rules + "]")
	list := parseRules("[" + cmd.Rules + "]")
	switch {
	case err != nil:
		return err
	case len(list) != 1 || list[0].Then != "always":
		return problem{"policy", `Write one rule that says "then": "always".`}
	case !c.allows(p, it):
		return problem{"policy", "This rule does not match the call."}
	}
	add := func(rules []rule) []rule { return append(rules, list[0]) }
	err = c.rules.edit(now, name, cmd.Version, add, func(p gate.Policy) error {
		if then, rule := c.cfg.Session.Judge(p, it.Subject); then != gate.Allow {
			return otherRule(then, rule)
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
