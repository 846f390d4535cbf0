package llm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
)

// What the judge sees of each part, in characters.
const (
	maxRequest  = 400
	maxCriteria = 500 // of all together
	maxHint     = 200
	maxSkill    = 60
	maxSeen     = 80 // of one piece of host evidence
	maxQuote    = 60 // of one fact
	seenItems   = 5
	maxFacts    = 6
)

// maxBrief is the tokens, as estimated, that the variable part has at most: 900 by a tokenizer, and a margin.
const maxBrief = 870

// brief words the variable part of the prompt: the same input gives the same bytes. All that varies stands between markers.
//
// The parts have the sizes above and the output is whole up to maxWindow characters, as long as that makes no more than
// maxBrief tokens. Of a text with more tokens (most scripts but Latin and Cyrillic, dense code) first the other parts shrink,
// then the window.
//
// find returns the signals of a text; it is asked when something is left out of the output, which it is given cleaned.
func brief(in classify.Input, find func(text string) []classify.Signal) string {
	output := clean(in.Text)
	signals := sync.OnceValue(func() []classify.Signal { return find(output) })
	build := func(scale, chars int) string {
		w := windowOf(output, chars)
		return section("request", request(in.Request, scale)) +
			section("context", surroundings(in, w, output, signals, scale)) +
			section("output", w.String())
	}
	var s string
	for _, scale := range [...]int{4, 3, 2, 1} {
		if s = build(scale, maxWindow); estimate(s) <= maxBrief {
			return s
		}
	}
	low, high := 0, maxWindow // low fits
	for high-low > 10 {
		mid := (low + high) / 2
		if estimate(build(1, mid)) <= maxBrief {
			low = mid
		} else {
			high = mid
		}
	}
	return build(1, low)
}

// section encloses text in markers that carry its hash, which no text can contain. A part without text has none, but for
// the output.
func section(name, text string) string {
	if text == "" && name != "output" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	id := hex.EncodeToString(sum[:8])
	return "<" + name + " " + id + ">\n" + text + "\n</" + name + " " + id + ">\n"
}

// request is the human's words; a message of ours is none of theirs.
func request(s string, scale int) string {
	if len(s) > 16*maxRequest {
		s = s[:16*maxRequest]
	}
	s = strings.TrimSpace(clean(s))
	if strings.HasPrefix(s, "[System Coach]") {
		return ""
	}
	return short(s, maxRequest*scale/4)
}

// surroundings is what is known beside request and output, a line each.
func surroundings(in classify.Input, w window, output string, signals func() []classify.Signal, scale int) string {
	var lines []string
	if s := line(in.Skill, maxSkill); s != "" {
		lines = append(lines, "skill: "+s)
	}
	if s := line(in.SkillHint, maxHint*scale/4); s != "" {
		lines = append(lines, "evidence the skill asks for: "+s)
	}
	lines = append(lines, criteria(in.Criteria, maxCriteria*scale/4)...)
	if in.Coached > 0 {
		lines = append(lines, "coached already in this turn: "+strconv.Itoa(in.Coached))
	}
	lines = append(lines, seen(in.Evidence, scale)...)
	if w.left > 0 {
		lines = append(lines, facts(output, w, signals(), scale)...)
	}
	return strings.Join(lines, "\n")
}

// criteria lists the open ones as far as max characters go.
func criteria(items []string, max int) []string {
	var lines []string
	for i, item := range items {
		item = line(item, max)
		if item == "" {
			continue
		}
		n := len([]rune(item))
		if n > max {
			return append(lines, fmt.Sprintf("and %d more", len(items)-i))
		}
		if lines == nil {
			lines = append(lines, "open criteria of the plan:")
		}
		max -= n
		lines = append(lines, "- "+item)
		if max < 10 && i+1 < len(items) {
			return append(lines, fmt.Sprintf("and %d more", len(items)-i-1))
		}
	}
	return lines
}

// seen lists what the host saw last.
func seen(evidence []classify.Evidence, scale int) []string {
	var lines []string
	if n := len(evidence) - max(1, seenItems*scale/4); n > 0 {
		lines = append(lines, fmt.Sprintf("the host saw %d things before these:", n))
		evidence = evidence[n:]
	}
	for _, e := range evidence {
		s := "the host saw " + line(string(e.Kind), 20)
		if e.Failed {
			s += " fail"
		}
		if text := line(e.Text, maxSeen*scale/4); text != "" {
			s += ": " + text
		}
		lines = append(lines, s)
	}
	return lines
}

// distinct leaves out signals that say the same as one before, and puts one of each kind and name first, so that many of
// one sort hide none of another.
func distinct(in []classify.Signal, output string) []classify.Signal {
	type sort struct {
		kind classify.SignalKind
		name string
	}
	sorts, said := make(map[sort]bool), make(map[string]bool)
	var first, rest []classify.Signal
	for _, s := range in {
		words := string(s.Kind) + " " + s.Name + " " + line(output[s.Start:s.End], maxQuote)
		if said[words] {
			continue
		}
		said[words] = true
		if k := (sort{s.Kind, s.Name}); !sorts[k] {
			sorts[k] = true
			first = append(first, s)
		} else {
			rest = append(rest, s)
		}
	}
	return append(first, rest...)
}

// facts lists the claims and the evidence in the part of the output that is left out, the weightiest if there are many.
func facts(output string, w window, signals []classify.Signal, scale int) []string {
	var in []classify.Signal
	for _, s := range signals {
		if (s.Kind == classify.SignalClaim || s.Kind == classify.SignalEvidence) && s.End > w.from && s.Start < w.to &&
			s.Start >= 0 && s.Start < s.End && s.End <= len(output) {
			in = append(in, s)
		}
	}
	slices.SortStableFunc(in, func(a, b classify.Signal) int {
		return cmp.Or(-cmp.Compare(a.Weight, b.Weight), -cmp.Compare(a.Kind, b.Kind)) // evidence before claims
	})
	in = distinct(in, output)
	more := max(0, len(in)-max(1, maxFacts*scale/4))
	in = in[:len(in)-more]
	slices.SortFunc(in, func(a, b classify.Signal) int { return a.Start - b.Start })
	var lines []string
	for _, s := range in {
		l := "in the part left out: " + string(s.Kind)
		if s.Name != "" {
			l += " (" + strings.ReplaceAll(s.Name, "_", " ") + ")"
		}
		lines = append(lines, l+`: "`+line(output[s.Start:s.End], maxQuote)+`"`)
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("in the part left out: %d more claims or pieces of evidence", more))
	}
	return lines
}
