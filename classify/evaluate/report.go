package evaluate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sidecoach/sidecoach/classify"
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
		Latency: percentiles(answers),
		Cost: cost{
			Calls:     len(answers),
			Errors:    count(answers, func(a answer) bool { return a.err != nil }),
			Fallbacks: count(answers, func(a answer) bool { return a.result.Fallback != "" }),
		},
	}
	for _, a := range answers {
		if u := a.result.Usage; u != nil {
			r.Cost.Metered++
			if u.Attempts == 0 {
				r.Cost.Kept++
			}
			r.Cost.Attempts += u.Attempts
			r.Cost.PromptTokens += u.PromptTokens
			r.Cost.CachedTokens += u.CachedTokens
			r.Cost.CompletionTokens += u.CompletionTokens
			r.Cost.CostUSD += u.CostUSD
		}
	}
	for i, c := range cases {
		r.Outcomes = append(r.Outcomes, outcome(c, answers[i*opts.Repeat:(i+1)*opts.Repeat], opts))
	}
	slices.SortFunc(r.Outcomes, func(a, b Outcome) int { return cmp.Compare(a.Name, b.Name) })
	r.summarize()
	return r
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

// Figure is one number of a report. A proportion is Count of Of and has its 95 % Wilson interval. Of is 0 if there was
// nothing to count; then Value means nothing. macro_f1 and ece have the number of cases in Of and no interval.
type Figure struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Count *int     `json:"count,omitempty"`
	Of    int      `json:"of"`
}

// figureNames returns the names of the figures in the order in which they are shown.
func figureNames() []string {
	return []string{"macro_f1", "accuracy", "continue_precision", "wrong_continues", "completions_continued", "caught",
		"rejected_precision", "rejected_recall", "ece", "asked", "message"}
}

// String is the value and its counts: "0.043 (2/47)", or "–" if there was nothing to measure.
func (f Figure) String() string {
	if f.Of == 0 || f.Count == nil {
		return f.short()
	}
	return fmt.Sprintf("%.3f (%d/%d)", f.Value, *f.Count, f.Of)
}

func (f Figure) short() string {
	if f.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", f.Value)
}

func (f Figure) interval() string {
	if f.Low == nil {
		return ""
	}
	return fmt.Sprintf("%.3f–%.3f", *f.Low, *f.High)
}

func proportion(count, n int) Figure {
	if n == 0 {
		return Figure{Count: &count}
	}
	low, high := wilson(count, n)
	return Figure{Value: float64(count) / float64(n), Low: &low, High: &high, Count: &count, Of: n}
}

// wilson returns the 95 % score interval of a proportion (Wilson 1927); n is above 0.
func wilson(count, n int) (low, high float64) {
	const z = 1.959963984540054 // the normal distribution's 0.975 quantile
	p, m := float64(count)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

// Summary is what a set of outcomes comes to. README.md says what each of the figures is.
type Summary struct {
	Cases      int               `json:"cases"`
	Unanswered int               `json:"unanswered"` // the classifier failed on them
	Unstable   int               `json:"unstable"`   // their runs do not agree on the label
	Figures    map[string]Figure `json:"figures"`
}

type predicate = func(Outcome) bool

func count[T any](list []T, is func(T) bool) (n int) {
	for _, item := range list {
		if is(item) {
			n++
		}
	}
	return n
}

func share(outcomes []Outcome, of, is predicate) Figure {
	return proportion(count(outcomes, func(o Outcome) bool { return of(o) && is(o) }), count(outcomes, of))
}

// wanted and named report whether the label, or the verdict, is one of the types.
func wanted(types ...classify.OutputType) predicate {
	return func(o Outcome) bool { return slices.Contains(types, o.Want.Type) }
}

func named(t classify.OutputType) predicate {
	return func(o Outcome) bool { return o.Verdict.Type == t }
}

// Summarize computes a summary of some outcomes of a report, such as those in one language.
func Summarize(outcomes []Outcome) Summary {
	of := func(of, is predicate) Figure { return share(outcomes, of, is) }
	continued := func(o Outcome) bool { return o.Verdict.Action == actionContinue }
	rejected := func(o Outcome) bool { return o.Want.WasRejectedCompletion }
	calledRejected := func(o Outcome) bool { return o.Verdict.WasRejectedCompletion }
	s := Summary{
		Cases:      len(outcomes),
		Unanswered: count(outcomes, named("")),
		Unstable:   count(outcomes, func(o Outcome) bool { return o.agree() < len(o.runs()) }),
		Figures: map[string]Figure{
			"accuracy":              of(func(Outcome) bool { return true }, Outcome.typeRight),
			"continue_precision":    of(continued, wanted(classify.Status)),
			"wrong_continues":       of(wanted(classify.Question, classify.Blocker, classify.Error), continued),
			"completions_continued": of(wanted(classify.Completion), continued),
			"caught":                of(wanted(classify.Status), continued),
			"rejected_precision":    of(calledRejected, rejected),
			"rejected_recall":       of(rejected, calledRejected),
		},
	}
	message := of(func(o Outcome) bool { return o.Want.Message != nil },
		func(o Outcome) bool { return o.Verdict.Type != "" && len(o.Verdict.Message) == 0 })
	if message.Of > 0 {
		s.Figures["message"] = message
	}
	sum, types := 0.0, 0
	for _, t := range classify.Types() {
		if f := f1(outcomes, t); f.Of > 0 {
			sum += f.Value
			types++
		}
	}
	if types > 0 {
		s.Figures["macro_f1"] = Figure{Value: sum / float64(types), Of: len(outcomes)}
	}
	s.Figures["ece"] = Figure{Value: calibrationError(outcomes), Of: len(outcomes) - s.Unanswered}
	return s
}

// calibrationError is the mean distance between confidence and accuracy over ten bins, weighted by the cases in them.
func calibrationError(outcomes []Outcome) float64 {
	var distance [10]float64 // between the sum of the confidences and the number of right types
	answered := 0
	for _, o := range outcomes {
		if o.Verdict.Type == "" {
			continue
		}
		answered++
		d := &distance[min(int(o.Verdict.Confidence*10), 9)]
		*d += o.Verdict.Confidence
		if o.typeRight() {
			*d--
		}
	}
	sum := 0.0
	for _, d := range distance {
		sum += math.Abs(d)
	}
	return sum / float64(max(1, answered))
}

// f1 is the harmonic mean of a type's precision and recall; Of is 0 if neither a label nor a verdict names it.
func f1(outcomes []Outcome, t classify.OutputType) Figure {
	n := count(outcomes, wanted(t)) + count(outcomes, named(t))
	right := *share(outcomes, wanted(t), named(t)).Count
	return Figure{Value: 2 * float64(right) / float64(max(1, n)), Of: n}
}

// Comparison sets a report against a baseline. A case is fixed if more of its label and action is right now, and broken
// if less is.
type Comparison struct {
	Baseline string `json:"baseline"` // for people
	// Mismatches say in what the two reports were not made alike, such as "threshold 0.80 before, 1.00 now". Such a
	// difference may explain the changes. Another classifier or prompt is listed, too.
	Mismatches []string `json:"mismatches,omitempty"`
	Cases      int      `json:"cases"` // that are the same in both
	// P is the two-sided p value of McNemar's exact test: the chance of fixed and broken cases at least as uneven, if both
	// are equally likely. It is 1 without any.
	P        float64  `json:"p"`
	Changes  []change `json:"changes,omitempty"`  // every case whose label or action is another now, by name
	Added    []string `json:"added,omitempty"`    // cases that the baseline does not have
	Removed  []string `json:"removed,omitempty"`  // cases that only the baseline has
	Differed []string `json:"differed,omitempty"` // cases with another input or label; they are not compared
}

// The ways in which a case can change.
const (
	fixed   = "fixed"
	broken  = "broken"
	changed = "changed" // as much is right as before
)

type change struct {
	Name   string  `json:"name"`
	Way    string  `json:"way"`
	Want   Want    `json:"want"`
	Before Verdict `json:"before"`
	After  Verdict `json:"after"`
	Agree  int     `json:"agree"` // how many of the runs agree with After
	Runs   int     `json:"runs"`
}

func (c Comparison) count(way string) int {
	return count(c.Changes, func(ch change) bool { return ch.Way == way })
}

// Regressed reports whether more cases broke than were fixed, even by chance.
func (c Comparison) Regressed() bool { return c.count(broken) > c.count(fixed) }

// word is what the changes come to: "no flips", "may be noise" if P is 0.05 or more, "better" or "worse".
func (c Comparison) word() string {
	switch {
	case c.count(fixed)+c.count(broken) == 0:
		return "no flips"
	case c.P >= 0.05:
		return "may be noise"
	case c.Regressed():
		return "worse"
	}
	return "better"
}

// String is the changes in a line: "3 fixed, 1 broken, p 0.625, may be noise".
func (c Comparison) String() string {
	return fmt.Sprintf("%d fixed, %d broken, p %.3f, %s", c.count(fixed), c.count(broken), c.P, c.word())
}

// Compare sets r against a baseline and returns it with its Comparison. Cases are matched by name and compared if input
// and label are the same. With repeats the majority counts. The name of the baseline is for people.
func (r Report) Compare(name string, baseline Report) Report {
	before := make(map[string]Outcome, len(baseline.Outcomes))
	for _, o := range baseline.Outcomes {
		before[o.Name] = o
	}
	c := Comparison{Baseline: name}
	for _, o := range r.Outcomes {
		b, ok := before[o.Name]
		delete(before, o.Name)
		switch {
		case !ok:
			c.Added = append(c.Added, o.Name)
			continue
		case b.Digest != o.Digest:
			c.Differed = append(c.Differed, o.Name)
			continue
		}
		c.Cases++
		if o.Verdict.Label() == b.Verdict.Label() && o.Verdict.Action == b.Verdict.Action {
			continue
		}
		way := map[int]string{1: fixed, 0: changed, -1: broken}[cmp.Compare(o.score(), b.score())]
		c.Changes = append(c.Changes, change{o.Name, way, o.Want, b.Verdict, o.Verdict, o.agree(), len(o.runs())})
	}
	c.Removed = slices.Sorted(maps.Keys(before))
	c.P = mcnemar(c.count(fixed), c.count(broken))

	mismatch := func(what, before, now string) {
		if before != now {
			c.Mismatches = append(c.Mismatches, fmt.Sprintf("%s %s before, %s now", what, before, now))
		}
	}
	mismatch("classifier", baseline.name(), r.name())
	mismatch("threshold", baseline.gate(), r.gate())
	mismatch("repeat", fmt.Sprint(baseline.Repeat), fmt.Sprint(r.Repeat))
	r.Comparison = &c
	return r
}

// mcnemar returns the p value of the exact test: twice the binomial tail of b+c tosses of a fair coin, at most 1.
func mcnemar(b, c int) float64 {
	n, k := b+c, min(b, c)
	tail := 0.0
	all, _ := math.Lgamma(float64(n + 1))
	for i := range k + 1 {
		in, _ := math.Lgamma(float64(i + 1))
		out, _ := math.Lgamma(float64(n - i + 1))
		tail += math.Exp(all - in - out - float64(n)*math.Ln2)
	}
	return math.Min(1, 2*tail)
}

// Requirement is a bound on a figure, or on how many cases a comparison found broken or fixed.
type Requirement struct {
	Figure string // as README.md names it, perhaps of the sure cases: "sure.caught"; "broken" or "fixed"
	Op     string // "<=", ">=", "<" or ">"
	Bound  float64
}

var counts = []string{broken, fixed}

// Set reads a requirement such as "wrong_continues<=0.06", "caught >= 70%", "sure.accuracy>0.8" or "broken<=0": a
// figure, after "sure." of the sure cases, one of <=, >=, < and >, and a number.
func (r *Requirement) Set(s string) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("evaluate: requirement %s: %w", quoted(s), fmt.Errorf(format, args...))
	}
	m := requirement.FindStringSubmatch(s)
	if m == nil {
		return fail("it is not a figure, one of <=, >=, < and >, and a number")
	}
	q := Requirement{Figure: m[1], Op: m[2]}
	if !q.NeedsBaseline() && !slices.Contains(figureNames(), strings.TrimPrefix(q.Figure, "sure.")) {
		return fail("the figures are %s, and with a baseline %s", join(figureNames()), join(counts))
	}
	number := m[3]
	if m[4] != "" {
		number += "e-2" // exactly: 2.9/100 is less than 0.029
	}
	var err error
	if q.Bound, err = strconv.ParseFloat(number, 64); err != nil || q.Bound > 1 && !q.NeedsBaseline() {
		return fail("every figure lies between 0 and 1")
	}
	*r = q
	return nil
}

var requirement = regexp.MustCompile(`^\s*((?:sure\.)?[a-z_0-9]+)\s*(<=|>=|<|>)\s*([0-9]*\.?[0-9]+)\s*(%?)\s*$`)

// String writes the requirement as [Requirement.Set] reads it.
func (r Requirement) String() string {
	return r.Figure + r.Op + strconv.FormatFloat(r.Bound, 'f', -1, 64)
}

// NeedsBaseline reports whether the requirement is about a comparison.
func (r Requirement) NeedsBaseline() bool { return slices.Contains(counts, r.Figure) }

// Met returns the figure that decides and reports whether it is as required. One without anything to measure is not.
func (r Requirement) Met(rep Report) (Figure, bool) {
	f := rep.All.Figures[r.Figure]
	if name, ok := strings.CutPrefix(r.Figure, "sure."); ok {
		f = rep.Sure.Figures[name]
	}
	if c := rep.Comparison; r.NeedsBaseline() && c != nil {
		f = Figure{Value: float64(c.count(r.Figure)), Of: c.Cases}
	}
	sign := map[int]string{-1: "<", 0: "=", 1: ">"}[cmp.Compare(f.Value, r.Bound)]
	return f, f.Of > 0 && strings.Contains(r.Op, sign)
}
