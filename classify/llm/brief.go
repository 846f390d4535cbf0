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
	"github.com/sidecoach/sidecoach/classify/llm/internal/o200k"
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

// maxBrief is the tokens that the variable part has at most, as o200k_base counts them.
const maxBrief = 900

// The parts beside the output shrink by scale, in sixteenths of their sizes.
const (
	fullScale  = 16
	leastScale = 4 // for the sake of the output
)

// brief words the variable part of the prompt: the same input gives the same bytes. All that varies stands between markers.
//
// The parts have the sizes above and the output is whole up to maxWindow characters, as long as that makes no more than
// maxBrief tokens. Where it makes more (scripts that take half a token a character, dense code) the other parts shrink
// first, to a quarter; an output that does not fit beside that is cut. Only where a quarter of the other parts takes more
// than half of the tokens, as rare characters do, they shrink on, to nothing.
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
	scale := fullScale
	for ; scale >= leastScale; scale -= leastScale {
		if s := build(scale, maxWindow); fits(s, maxBrief) {
			return s
		}
	}
	for scale = leastScale; scale > 0 && !fits(build(scale, 0), maxBrief/2); {
		scale /= 2
		if s := build(scale, maxWindow); fits(s, maxBrief) {
			return s
		}
	}
	s, low, high := build(scale, 0), 0, maxWindow
	for high-low > 10 {
		mid := (low + high) / 2
		if t := build(scale, mid); fits(t, maxBrief) {
			s, low = t, mid
		} else {
			high = mid
		}
	}
	return s
}

// fits reports whether a text has at most max tokens.
func fits(s string, max int) bool {
	return len(s) <= max || o200k.Count(s) <= max // no token is shorter than a byte
}

// scaled is a size at a scale.
func scaled(size, scale int) int { return size * scale / fullScale }

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
	return short(s, scaled(maxRequest, scale))
}

// surroundings is what is known beside request and output, a line each; nothing at scale 0.
func surroundings(in classify.Input, w window, output string, signals func() []classify.Signal, scale int) string {
	if scale == 0 {
		return ""
	}
	var lines []string
	if s := line(in.Skill, min(maxSkill, scaled(4*maxSkill, scale))); s != "" {
		lines = append(lines, "skill: "+s)
	}
	if s := line(in.SkillHint, scaled(maxHint, scale)); s != "" {
		lines = append(lines, "evidence the skill asks for: "+s)
	}
	lines = append(lines, criteria(in.Criteria, scaled(maxCriteria, scale))...)
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
	if n := len(evidence) - max(1, scaled(seenItems, scale)); n > 0 {
		lines = append(lines, fmt.Sprintf("the host saw %d things before these:", n))
		evidence = evidence[n:]
	}
	for _, e := range evidence {
		s := "the host saw " + line(string(e.Kind), 20)
		switch {
		case e.Absent:
			s = "the host looked for " + line(string(e.Kind), 20) + " and saw none"
		case e.Failed:
			s += " fail"
		}
		if text := line(e.Text, scaled(maxSeen, scale)); text != "" {
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
	more := max(0, len(in)-max(1, scaled(maxFacts, scale)))
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
