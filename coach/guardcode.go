package coach

import (
	"slices"
	"strings"
)

// inOrder reports whether inline code is no objection: a single name, a command that the request or the plan has, one that
// only looks, or one that the output names and that is neither of a dangerous kind nor has a dangerous word in it. Lead is
// what stands before it in the message.
func inOrder(inside, lead string, src *sources) bool {
	if isName(inside) && !before().MatchString(lead) {
		return true
	}
	ws := tokens(folded(inside))
	return len(ws) == 0 || src.haveTokens(ws) || onlyLooks(inside) || src.named(ws) && plainCommand(folded(inside), src) == "" && !harmful(ws)
}

// isName reports whether inline code is only a name: a file that is no script, a function, a type, a commit.
func isName(s string) bool {
	n, _ := longest(guard()["command"], tokens(folded(s)))
	return n == 0 && names().MatchString(s) && !script().MatchString(strings.ToLower(s))
}

var (
	operators = compiled("[|&;<>$(){}\\[\\]*?!\\\\\"'#~\n]") // of a shell: what they make of a command is not looked at
	argument  = compiled(`^(?:\.|(?:\./|\w)[\w./:-]*)$`)     // in the working tree, unless it leads out with ..
	number    = compiled(`^-?\d+$`)
	bare      = compiled(`^\w+$`)
)

// onlyLooks reports whether inline code is one command that only looks (guard.txt, "evidence"), with nothing after it but
// options of that list, files of the tree, names and numbers. A bare word may be a second target: make test deploy.
func onlyLooks(s string) bool {
	if operators().MatchString(s) {
		return false
	}
	raw := strings.Fields(s)
	ws := make([]word, len(raw))
	for i, f := range raw {
		ws[i].text = folded(f)
	}
	n, _ := longest(guard()["evidence"], ws)
	if k, _ := longest(guard()["command"], ws); n == 0 || k > n {
		return false
	}
	for i := n; i < len(ws); i++ {
		f := raw[i]
		path := strings.TrimSuffix(f, "...")
		switch last := ws[i-1].text; {
		case number().MatchString(f), strings.HasPrefix(f, "-") && evident(ws[i]):
		case !argument().MatchString(f), strings.Contains(path, ".."), script().MatchString(ws[i].text):
			return false
		case strings.ContainsAny(f, "./"), names().MatchString(f):
		case (last == "-k" || last == "-run" || last == "-bench") && bare().MatchString(f):
		default:
			return false
		}
	}
	return true
}

// evident reports whether an option is one of those in guard.txt, "evidence".
func evident(w word) bool {
	n, _ := longest(guard()["evidence"], []word{w})
	return n > 0
}

// harmful reports whether a word of a command is one of guard.txt, "harm": only the request or the plan can vouch for it.
func harmful(ws []word) bool {
	for _, w := range words(text(ws)) {
		if n, _ := longest(guard()["harm"], []word{w}); n > 0 {
			return true
		}
	}
	return false
}

// named reports whether the output has the command ws in inline code or on a line of a fence, in a clause that does not
// deny it.
func (s *sources) named(ws []word) bool {
	if s.commands == nil {
		s.commands = commandsIn(s.in.Text)
	}
	return slices.ContainsFunc(s.commands, func(c []word) bool { return same(c, ws) })
}

// commandsIn returns what stands in inline code and in fences in the last lines of an output, maxSource bytes of them.
func commandsIn(output string) [][]word {
	list := [][]word{}
	cut := max(0, len(output)-maxSource)
	fenced := strings.Count("\n"+output[:cut], "\n```")%2 == 1
	if cut > 0 {
		_, output, _ = strings.Cut(output[cut:], "\n")
	}
	for line := range strings.Lines(output) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case fenced:
			list = append(list, tokens(folded(strings.TrimPrefix(line, "$ "))))
		default:
			for _, at := range code().FindAllStringSubmatchIndex(line, -1) {
				if !denied(tokens(folded(line[max(0, at[0]-300):at[0]]))) {
					list = append(list, tokens(folded(line[at[2]:at[3]])))
				}
			}
		}
	}
	return list
}
