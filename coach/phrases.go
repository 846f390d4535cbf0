package coach

import (
	"slices"
	"strings"
	"text/template/parse"
)

// Phrases returns the fixed wording of the default messages in pieces, longest first, without a piece twice. It is for those
// who keep many messages: what differs from one message to the next is what is not in a phrase. Each has 12 bytes at least,
// is valid UTF-8 and holds no control characters. The phrases of another version may be others.
func Phrases() []string {
	var all []string
	for _, t := range tiers {
		if t != TierPlain {
			all = appendTexts(all, defaults[t]().Root)
		}
	}
	for _, k := range kinds {
		all = append(all, k.proof)
	}
	all = append(all, strings.TrimSpace(Prefix))
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < 12 })
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(all)
}

// appendTexts appends what list prints as it is, with its white space as in a message.
func appendTexts(texts []string, list *parse.ListNode) []string {
	if list == nil {
		return texts
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			texts = append(texts, strings.Join(strings.Fields(string(n.Text)), " "))
		case *parse.IfNode:
			texts = appendTexts(appendTexts(texts, n.List), n.ElseList)
		}
	}
	return texts
}
