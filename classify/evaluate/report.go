package evaluate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// version is the format of a report in JSON. It changes when an older program could misread a newer report.
const version = 2

// Report is how a classifier did on a set of cases. It is written with encoding/json and read with [ReadReport].
type Report struct {
	Version    int       `json:"version"`
	Classifier string    `json:"classifier"`
	About      []string  `json:"about,omitempty"` // what the cases are, a sentence each
	Threshold  float64   `json:"threshold"`       // -1 is no gate
	Repeat     int       `json:"repeat"`
	All        Summary   `json:"all"`
	Sure       Summary   `json:"sure"` // without the cases whose meta.sure is false
	Cost       cost      `json:"cost"`
	Latency    latency   `json:"latency"`
	Outcomes   []Outcome `json:"outcomes"` // by name

	Comparison *Comparison `json:"comparison,omitempty"` // with a baseline, see [Report.Compare]
}

// cost is what the calls of an evaluation used up, as far as the classifier said so.
type cost struct {
	Calls            int     `json:"calls"`
	Errors           int     `json:"errors"`    // calls that failed
	Fallbacks        int     `json:"fallbacks"` // calls that another classifier than the primary answered
	Metered          int     `json:"metered"`   // calls that said what they used: a model answered them
	Kept             int     `json:"kept"`      // metered calls whose answer was kept from before and cost nothing
	Attempts         int     `json:"attempts"`
	PromptTokens     int     `json:"prompt_tokens"`
	CachedTokens     int     `json:"cached_tokens"` // part of the prompt tokens
	CompletionTokens int     `json:"completion_tokens"`
	CostUSD          float64 `json:"cost_usd,omitempty"`
}

// PerVerdict is how many tokens an answer took, without those that were kept.
func (c cost) PerVerdict() int {
	return (c.PromptTokens + c.CompletionTokens) / max(1, c.Metered-c.Kept)
}

// latency is how long the calls took, failed ones included, by the nearest-rank method.
type latency struct {
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}

func newReport(cases []Case, answers []answer, opts Options) Report {
	r := Report{
		Version: version, Classifier: opts.Name, About: opts.About, Threshold: opts.Threshold, Repeat: opts.Repeat,
		Cost: costOf(answers), Latency: percentiles(answers),
	}
	for i, c := range cases {
		r.Outcomes = append(r.Outcomes, outcome(c, answers[i*opts.Repeat:(i+1)*opts.Repeat], opts))
	}
	slices.SortFunc(r.Outcomes, func(a, b Outcome) int { return cmp.Compare(a.Name, b.Name) })
	r.summarize()
	return r
}

func costOf(answers []answer) cost {
	c := cost{
		Calls:     len(answers),
		Errors:    count(answers, func(a answer) bool { return a.err != nil }),
		Fallbacks: count(answers, func(a answer) bool { return a.result.Fallback != "" }),
	}
	for _, a := range answers {
		if u := a.result.Usage; u != nil {
			c.Metered++
			if u.Attempts == 0 {
				c.Kept++
			}
			c.Attempts += u.Attempts
			c.PromptTokens += u.PromptTokens
			c.CachedTokens += u.CachedTokens
			c.CompletionTokens += u.CompletionTokens
			c.CostUSD += u.CostUSD
		}
	}
	return c
}

func percentiles(answers []answer) latency {
	took := make([]time.Duration, len(answers))
	for i, a := range answers {
		took[i] = a.took
	}
	slices.Sort(took)
	rank := func(percent int) time.Duration { return took[(len(took)*percent+99)/100-1] }
	return latency{P50: rank(50), P90: rank(90), P99: rank(99), Max: rank(100)}
}

// summarize fills in what follows from the outcomes.
func (r *Report) summarize() {
	r.All = Summarize(r.Outcomes)
	r.Sure = Summarize(slices.DeleteFunc(slices.Clone(r.Outcomes), func(o Outcome) bool { return !o.Sure }))
	if r.Cost.Metered > 0 {
		asked := proportion(min(r.Cost.Metered+r.Cost.Fallbacks, r.Cost.Calls), r.Cost.Calls)
		r.All.Figures["asked"], r.Sure.Figures["asked"] = asked, asked
	}
}

// group is a summary of the outcomes that share a value in meta.
type group struct {
	Value string `json:"value"` // empty for cases without
	Summary
}

// By returns a summary for each value that the cases have under a key of meta, such as "lang", the largest group first.
func (r Report) By(key string) []group {
	sets := make(map[string][]Outcome)
	for _, o := range r.Outcomes {
		value := ""
		if v := o.Meta[key]; v != nil {
			value = fmt.Sprint(v)
		}
		sets[value] = append(sets[value], o)
	}
	var groups []group
	for v, set := range sets {
		groups = append(groups, group{v, Summarize(set)})
	}
	slices.SortFunc(groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.Cases, a.Cases), cmp.Compare(a.Value, b.Value))
	})
	return groups
}

func (r Report) name() string { return cmp.Or(r.Classifier, "unnamed") }

// gate is the threshold in words: "0.80" or "no gate".
func (r Report) gate() string {
	if r.Threshold == noGate {
		return "no gate"
	}
	return fmt.Sprintf("%.2f", r.Threshold)
}

// ReadReport reads a report that was written as JSON, alone or in a [View]; of several it returns the last one. It
// refuses another version and senseless labels.
func ReadReport(r io.Reader) (Report, error) {
	var file struct {
		Report
		Runs []Report
	}
	dec := json.NewDecoder(r)
	err := dec.Decode(&file)
	rep := file.Report
	if n := len(file.Runs); n > 0 {
		rep = file.Runs[n-1]
	}
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("it is empty")
	case err != nil:
		err = inWords("a report", err)
	case rep.Version != version:
		err = fmt.Errorf("it has version %d; this program reads version %d", rep.Version, version)
	case len(rep.Outcomes) == 0:
		err = errors.New("it has no outcomes")
	case dec.More(): // a second report, added with >>
		err = errors.New("something follows the report; one file has one")
	}
	for _, o := range rep.Outcomes {
		if c := o.Verdict.Confidence; err == nil && (!o.Want.Type.Valid() || c < 0 || c > 1) {
			err = fmt.Errorf("%s has a label or a verdict that makes no sense", quoted(o.Name))
		}
	}
	if err != nil {
		return Report{}, fmt.Errorf("evaluate: read report: %w", err)
	}
	rep.Comparison = nil
	rep.summarize()
	return rep, nil
}
