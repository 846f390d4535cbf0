package llm

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// Verdict is what a model answered.
type Verdict struct {
	Type            classify.OutputType
	Confidence      float64 // 0 to 1
	Reason          string  // on one line, at most 200 characters; for people
	CoachingMessage string  // at most 1,000 characters; only with a status
}

const (
	maxReason   = 200
	maxCoaching = 1000
)

// Parse reads a verdict from what a model wrote, by the last complete JSON object in it that has a type, whatever stands
// around that; an object inside another one, be that half of one, is no verdict.
//
//   - type, in any case, must be one of the five; anything else is a [ParseError], the only error;
//   - confidence is clamped to 0 and 1; a number in a string counts as one; missing or anything else, NaN too, is 0.5;
//   - a reason that is missing or no string is empty;
//   - a coaching message that is missing, null, no string, blank, a dash or a word for nothing ("null", "nil", "none",
//     "N/A", in any case) is none, and so is one beside another type than status;
//   - of a key that stands there twice the last value counts, other keys are ignored.
//
// Control characters and what is invisible are taken out of both texts.
func Parse(content string) (Verdict, error) {
	object, ok := lastObject(content, typed)
	if !ok {
		return Verdict{}, ParseError{"no JSON object in it"}
	}
	return parseVerdict(object)
}

// typed reports whether an object has a type, be it a wrong one.
func typed(object json.RawMessage) bool {
	return strings.TrimSpace(text(fields(object)["type"])) != ""
}

func parseVerdict(object json.RawMessage) (Verdict, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err != nil {
		return Verdict{}, ParseError{"no JSON object in it"}
	}
	v := Verdict{
		Type:       classify.OutputType(strings.ToLower(strings.TrimSpace(text(fields["type"])))),
		Confidence: confidence(fields["confidence"]),
		Reason:     line(text(fields["reason"]), maxReason),
	}
	if !v.Type.Valid() {
		return Verdict{}, ParseError{"its type is none of the five"}
	}
	if v.Type == classify.Status {
		v.CoachingMessage = coaching(text(fields["coaching_message"]))
	}
	return v, nil
}

// text is a JSON string, or "".
func text(raw json.RawMessage) (s string) {
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func confidence(raw json.RawMessage) float64 {
	s := string(raw)
	if t := text(raw); t != "" {
		s = strings.TrimSpace(t)
	}
	f, err := strconv.ParseFloat(s, 64)
	if math.IsNaN(f) || math.IsInf(f, 0) == (err == nil) { // what is out of float64's range is out of ours too
		return 0.5
	}
	return min(max(f, 0), 1)
}

func coaching(s string) string {
	s = strings.TrimSpace(short(strings.TrimSpace(clean(s)), maxCoaching))
	switch strings.ToLower(strings.Trim(s, " \t\n\"'`.()[]<>")) {
	case "", "null", "nil", "none", "n/a", "na", "-", "--", "–", "—":
		return ""
	}
	return s
}
