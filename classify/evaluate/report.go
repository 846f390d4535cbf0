package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Version is the format of a report in JSON. It changes when an older program could misread a newer report.
const Version = 1

// Report is how a classifier did on a set of cases. It is written with encoding/json and read with [ReadReport].
type Report struct {
	Version    int       `json:"version"`
	Classifier string    `json:"classifier"`
	About      []string  `json:"about,omitempty"` // what the cases are, a sentence each
	Threshold  float64   `json:"threshold"`       // -1 is no gate
	Repeat     int       `json:"repeat"`
	All        Summary   `json:"all"`
	Sure       Summary   `json:"sure"`           // without the cases whose meta.sure is false
	Runs       []Figures `json:"runs,omitempty"` // of all cases in each run, the first answer of every case in the first: the spread
	Cost       Cost      `json:"cost"`
	Latency    Latency   `json:"latency"`
	Outcomes   []Outcome `json:"outcomes"` // by name
}

// Cost is what the calls of an evaluation used up, as far as the classifier said so.
type Cost struct {
	Calls            int `json:"calls"`
	Errors           int `json:"errors"`    // calls that failed
	Fallbacks        int `json:"fallbacks"` // calls that another classifier than the primary answered
	Metered          int `json:"metered"`   // calls that said what they used: the rest counts below as nothing
	Attempts         int `json:"attempts"`
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"` // part of the prompt tokens
	CompletionTokens int `json:"completion_tokens"`
}

// Latency is how long the calls took, failed ones included, by the nearest-rank method.
type Latency struct {
	P50 time.Duration `json:"p50_ns"`
	P90 time.Duration `json:"p90_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}

func cost(answers []answer) Cost {
	c := Cost{Calls: len(answers)}
	for _, a := range answers {
		if a.err != nil {
			c.Errors++
		}
		if a.result.Fallback != "" {
			c.Fallbacks++
		}
		if u := a.result.Usage; u != nil {
			c.Metered++
			c.Attempts += u.Attempts
			c.PromptTokens += u.PromptTokens
			c.CachedTokens += u.CachedTokens
			c.CompletionTokens += u.CompletionTokens
		}
	}
	return c
}

func percentiles(answers []answer) Latency {
	took := make([]time.Duration, len(answers))
	for i, a := range answers {
		took[i] = a.took
	}
	slices.Sort(took)
	rank := func(percent int) time.Duration { return took[(len(took)*percent+99)/100-1] }
	return Latency{P50: rank(50), P90: rank(90), P99: rank(99), Max: rank(100)}
}

// summarize fills in what follows from the outcomes.
func (r *Report) summarize() {
	r.All = Summarize(r.Outcomes)
	r.Sure = Summarize(slices.DeleteFunc(slices.Clone(r.Outcomes), func(o Outcome) bool { return !o.Sure }))
	r.Runs = nil
	if r.Repeat < 2 {
		return
	}
	for i := range r.Repeat {
		once := slices.Clone(r.Outcomes)
		for j, o := range once {
			once[j].Verdict, once[j].Runs = o.Runs[i], nil
		}
		r.Runs = append(r.Runs, Summarize(once).Figures)
	}
}

// Spread returns the least and the greatest value that a figure of all cases has in a single run; both are the figure itself
// when there was only one.
func (r Report) Spread(name string) (least, greatest float64) {
	f, _ := r.All.Figures.Lookup(name)
	least, greatest = f.Value, f.Value
	for i, run := range r.Runs {
		f, _ := run.Lookup(name)
		if i == 0 {
			least, greatest = f.Value, f.Value
		}
		least, greatest = min(least, f.Value), max(greatest, f.Value)
	}
	return least, greatest
}

// Group is a summary of the outcomes that share a value in meta.
type Group struct {
	Value string `json:"value"` // empty for cases without
	Summary
}

// By returns a summary for each value that the cases have under a key of meta, such as "lang" or "agent", the largest group
// first.
func (r Report) By(key string) []Group {
	sets := make(map[string][]Outcome)
	for _, o := range r.Outcomes {
		v := metaString(o.Meta, key)
		sets[v] = append(sets[v], o)
	}
	var groups []Group
	for v, set := range sets {
		groups = append(groups, Group{v, Summarize(set)})
	}
	slices.SortFunc(groups, func(a, b Group) int {
		if a.Cases != b.Cases {
			return b.Cases - a.Cases
		}
		return strings.Compare(a.Value, b.Value)
	})
	return groups
}

// metaString returns a value of meta as text, "" when it is absent.
func metaString(meta map[string]any, key string) string {
	switch v := meta[key].(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}
