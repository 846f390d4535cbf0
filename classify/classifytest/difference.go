package classifytest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// linesOf counts the lines of all texts in a body.
func linesOf(v any) map[string]int {
	count := map[string]int{}
	rewrite(v, func(v any) any {
		if s, ok := v.(string); ok {
			for l := range strings.SplitSeq(s, "\n") {
				count[l]++
			}
		}
		return v
	})
	return count
}

// similarity is the share of lines that two bodies have in common.
func similarity(a, b map[string]int) float64 {
	var common, all int
	for l, n := range a {
		common += min(n, b[l])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 1
	}
	return float64(2*common) / float64(all)
}

// maxDifferences is how many changed places an error names.
const maxDifferences = 4

// differences says where two requests differ and shows the lines. Those of another case differ in the user's message, which
// says nothing.
func differences(old, now cassetteRequest, otherCase bool) []string {
	var all []string
	if old.Method != now.Method || old.Path != now.Path {
		all = append(all, fmt.Sprintf("the request is %s %s, and was %s %s", now.Method, now.Path, old.Method, old.Path))
	}
	walk("", old.Body, now.Body, func(at string, a, b any) {
		if at == "" {
			at = "body"
		}
		x, xText := a.(string)
		y, yText := b.(string)
		if !xText || !yText {
			all = append(all, at+" changed:", "\t- "+clip(show(a), 0), "\t+ "+clip(show(b), 0))
			return
		}
		if at = label(at, now.Body); otherCase && strings.HasSuffix(at, "(user)") {
			return
		}
		all = append(all, textDifference(at, x, y)...)
	})
	if len(all) > 3*maxDifferences {
		all = append(all[:3*maxDifferences:3*maxDifferences], "and more")
	}
	return all
}

// show writes a value on one line; a value that is not there is "(absent)".
func show(v any) string {
	if v == nil {
		return "(absent)"
	}
	return strings.TrimSpace(encode(v, ""))
}

// label adds to the place of a message's content whose message it is.
func label(at string, body any) string {
	var i int
	if _, err := fmt.Sscanf(at, "messages[%d].content", &i); err == nil {
		m, _ := body.(map[string]any)
		if list, _ := m["messages"].([]any); i < len(list) {
			message, _ := list[i].(map[string]any)
			return fmt.Sprintf("%s (%v)", at, message["role"])
		}
	}
	return at
}

// walk calls f for every place where a and b differ, in order.
func walk(at string, a, b any, f func(at string, a, b any)) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := []string{}
			for k := range x {
				keys = append(keys, k)
			}
			for k := range y {
				keys = append(keys, k)
			}
			slices.Sort(keys)
			for _, k := range slices.Compact(keys) {
				walk(strings.TrimPrefix(at+"."+k, "."), x[k], y[k], f)
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			for i := range max(len(x), len(y)) {
				var p, q any
				if i < len(x) {
					p = x[i]
				}
				if i < len(y) {
					q = y[i]
				}
				walk(fmt.Sprintf("%s[%d]", at, i), p, q, f)
			}
			return
		}
	default:
		if a == b {
			return
		}
	}
	f(at, a, b)
}

// textDifference shows the first lines in which two texts differ.
func textDifference(at, old, now string) []string {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	start := 0
	for start < min(len(a), len(b)) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	a, b = a[start:len(a)-end], b[start:len(b)-end]
	from := 0 // where the first changed lines part
	if len(a) > 0 && len(b) > 0 {
		for from < min(len(a[0]), len(b[0])) && a[0][from] == b[0][from] {
			from++
		}
	}
	all := []string{fmt.Sprintf("%s changed at line %d:", at, start+1)}
	for i, l := range a[:min(len(a), 2)] {
		all = append(all, "\t- "+clip(l, from*(1-i)))
	}
	for i, l := range b[:min(len(b), 2)] {
		all = append(all, "\t+ "+clip(l, from*(1-i)))
	}
	return all
}

// clip shortens a line to some 100 bytes around a place.
func clip(s string, around int) string {
	const before, size = 40, 100
	if len(s) <= size {
		return s
	}
	start := min(max(0, around-before), len(s)-size)
	for start > 0 && !utf8.RuneStart(s[start]) {
		start--
	}
	end := min(len(s), start+size)
	for end < len(s) && !utf8.RuneStart(s[end]) {
		end++
	}
	out := s[start:end]
	if start > 0 {
		out = "…" + out
	}
	if end < len(s) {
		out += "…"
	}
	return out
}
