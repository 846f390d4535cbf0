package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/evaluate"
	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

// entry is a line of the journal: a decision or, with Notice, something beside one.
type entry struct {
	autocontinue.Event
	Transcript string          `json:"transcript,omitempty"` // why its facts lack some
	Host       string          `json:"host"`
	Shadow     bool            `json:"shadow,omitempty"` // decided only: the agent was not continued
	Notice     string          `json:"notice,omitempty"` // what happened beside a decision
	Input      *classify.Input `json:"input,omitempty"`  // what the classifier was asked; with --keep-text
}

// parseEntry reads a line. One that neither this program nor a newer one can have written is not ok.
func parseEntry(line []byte) (e entry, ok bool) {
	err := json.Unmarshal(line, &e)
	return e, err == nil && !e.Time.IsZero()
}

type logOptions struct {
	session, state, id string
	follow, json       bool
	want               choice
	unreadable         int // lines, so far
}

func newLog(t terminal) *cobra.Command {
	o := logOptions{want: choice{allowed: append(texts(classify.Types()), labelRejected)}}
	run := func(cmd *cobra.Command, _ []string) error { return o.run(cmd, t) }
	cmd := command("log [flags]", cobra.NoArgs, run, "session", &o.session, "follow", &o.follow, "json", &o.json,
		"case", &o.id, "want", &o.want, "state", &o.state)
	cmd.MarkFlagsRequiredTogether("case", "want")
	cmd.MarkFlagsMutuallyExclusive("case", "follow")
	cmd.MarkFlagsMutuallyExclusive("case", "json")
	return cmd
}

// read calls f for each line of the journal that was asked for, and counts the lines that cannot be read.
func (o *logOptions) read(ctx context.Context, dir string, f func(e entry, line []byte)) error {
	every := time.Duration(0)
	if o.follow {
		every = time.Second / 4
	}
	for line, err := range filestore.ReadJournal(ctx, dir, every) {
		if err != nil && !errors.Is(err, filestore.ErrTooLarge) {
			hint := "check the folder and its permissions, or name another with --state"
			return badInput(hint, "%s", withoutPackage(err))
		}
		if e, ok := parseEntry(line); !ok {
			o.unreadable++
		} else if o.session == "" || e.Session == masked(o.session) {
			f(e, line)
		}
	}
	return nil
}

// run prints what the journal has, and the totals when it ends or is interrupted.
func (o *logOptions) run(cmd *cobra.Command, t terminal) error {
	if err := notEmpty(cmd, "case", "want", "session"); err != nil {
		return err
	}
	dir, err := stateDir(o.state)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	stdout := cmd.OutOrStdout()
	if o.id != "" {
		return o.printCase(ctx, stdout, dir)
	}
	session, sums := "", newTotals()
	err = o.read(ctx, dir, func(e entry, line []byte) {
		if result := sums.add(e); o.json {
			fmt.Fprintln(stdout, plaintext.VisibleJSON(string(line)))
		} else {
			t.tell(stdout, entryText(e, result, &session))
		}
	})
	if err != nil {
		return err
	}
	if sums.Unreadable = o.unreadable; o.unreadable > 0 {
		complain(cmd.ErrOrStderr(), fmt.Sprintf("sidecoach: %s of the journal could not be read",
			plural(o.unreadable, "line")))
	}
	empty := sums.Decisions+sums.Replayed+sums.Notices == 0
	switch {
	case empty && o.session != "" && !o.follow:
		return badInput("sidecoach log shows all sessions", "nothing was journaled of session %q in %q", o.session, dir)
	case o.json:
		return writeJSON(stdout, map[string]totals{"totals": sums})
	case empty:
		return t.tell(stdout, "nothing was journaled yet in "+visible(dir)+"\n")
	}
	return t.tell(stdout, view("totals", sums))
}

// labelRejected is the label of a rejected completion, which has no type of its own.
const labelRejected = "rejected"

// printCase prints the decision that was asked for as a line for eval: of several entries the last that has the text.
func (o *logOptions) printCase(ctx context.Context, stdout io.Writer, dir string) error {
	var found entry
	err := o.read(ctx, dir, func(e entry, _ []byte) {
		if strings.HasPrefix(e.Decision.ID, strings.ToLower(o.id)) && !e.Decision.Replayed &&
			(e.Input != nil || found.Input == nil) {
			found = e
		}
	})
	id := found.Decision.ID
	switch {
	case err != nil:
		return err
	case id == "":
		return badInput("sidecoach log shows the IDs of all decisions in the journal", "no decision %q in %q", o.id, dir)
	case found.Input == nil:
		hint := "use --keep-text from now on, which keeps texts of up to 1 MiB; older texts are gone"
		return badInput(hint, "decision %s was journaled without its text", id)
	}
	want := evaluate.Want{Type: classify.OutputType(o.want.value)}
	if o.want.value == labelRejected {
		want = evaluate.Want{Type: classify.Status, WasRejectedCompletion: true}
	}
	c := evaluate.Case{Name: id, Input: *found.Input, Want: want}
	if found.Host != shellHost {
		c.Meta = map[string]any{"agent": found.Host}
	}
	return writeJSON(stdout, c)
}

// entryText is one entry for a person. The row "result" is what the totals count. A line for the session stands above
// it, where before names another one.
func entryText(e entry, result string, before *string) string {
	session := e.Host + "\n" + e.Session
	shown := struct {
		entry
		Result        string
		First, Begins bool // the journal, the entries of a session
	}{e, result, *before == "", session != *before}
	*before = session
	return view("entry", shown)
}

type totals struct {
	Decisions  int            `json:"decisions"` // replays, which repeat one, not counted
	Sessions   int            `json:"sessions"`
	Continued  map[string]int `json:"continued"` // how often for each reason
	Stopped    map[string]int `json:"stopped"`
	Suppressed map[string]int `json:"suppressed"`
	Continues  outcomes       `json:"continues"`
	Judge      judgeTotals    `json:"judge"`
	Fallbacks  int            `json:"fallbacks"` // verdicts that were to be another classifier's
	Degraded   int            `json:"degraded"`  // decisions that something could not be used for
	Replayed   int            `json:"replayed"`
	Shadowed   int            `json:"shadowed"` // would have been continued
	Notices    int            `json:"notices"`
	Unreadable int            `json:"unreadable"` // lines, of whatever session

	chains map[[2]string]*chain
}

func counts(of map[string]int) string {
	mostFrequent := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b], of[a]), cmp.Compare(a, b))
	})
	sum, reasons := 0, make([]string, len(mostFrequent))
	for i, reason := range mostFrequent {
		reasons[i] = fmt.Sprint(visible(words(reason)), " ", of[reason])
		sum += of[reason]
	}
	return fmt.Sprint(sum, ": ", strings.Join(reasons, ", "))
}

// outcomes says what the continuations led to: the turn ended with an accepted completion, or with anything else.
type outcomes struct {
	Accepted    int `json:"accepted"`
	NotAccepted int `json:"not_accepted"`
	Open        int `json:"open"`
}

// judgeTotals are the verdicts of an LLM, and what they cost together.
type judgeTotals struct {
	Verdicts int `json:"verdicts"`
	classify.Usage
}

// chain is the continuations of a session's current turn that have no result yet. [autocontinue.Decision].Continues
// links them, for the hosts' names of turns change when a hook continues.
type chain struct {
	open int
	last int // Continues of the last one
}

func newTotals() totals {
	return totals{Continued: map[string]int{}, Stopped: map[string]int{}, Suppressed: map[string]int{},
		chains: map[[2]string]*chain{}}
}

// add counts an entry and says what it shows about the continuations before it; "" is nothing.
func (t *totals) add(e entry) (result string) {
	d := e.Decision
	switch {
	case e.Notice != "":
		t.Notices++
		return ""
	case d.Replayed:
		t.Replayed++
		return ""
	}
	t.Decisions++
	if len(d.Degraded) > 0 {
		t.Degraded++
	}
	if d.Result.Fallback != "" {
		t.Fallbacks++
	}
	t.Judge.add(d.Result.Usage)
	session := [2]string{e.Host, e.Session}
	c := t.chains[session]
	if c == nil {
		c = &chain{}
		t.chains[session] = c
		t.Sessions++
	}
	if e.Shadow && d.Action == autocontinue.Continue {
		t.Shadowed++ // not continued
		return ""
	}
	map[autocontinue.Action]map[string]int{autocontinue.Suppress: t.Suppressed, autocontinue.Continue: t.Continued,
		autocontinue.Deliver: t.Stopped}[d.Action][string(d.Reason)]++
	isNew := d.Continues < c.last || d.Continues == c.last && d.Action == autocontinue.Continue // the human has spoken
	outcome, text := &t.Continues.NotAccepted, " not accepted"
	switch {
	case d.Action == autocontinue.Suppress, d.Reason == "superseded" && !isNew: // it belongs to an older turn
		return ""
	case isNew:
		text = " of the turn before not accepted"
	case d.Reason == "completion":
		outcome, text = &t.Continues.Accepted, " accepted"
	case d.Action == autocontinue.Continue:
		outcome = nil // of the continuations so far
	}
	if outcome != nil {
		if c.open > 0 {
			result = plural(c.open, "continue") + text
		}
		*outcome += c.open
		t.Continues.Open -= c.open
		*c = chain{}
	}
	if d.Action == autocontinue.Continue {
		c.open, c.last = c.open+1, d.Continues
		t.Continues.Open++
	}
	return result
}

func (j *judgeTotals) add(u *classify.Usage) {
	if u == nil {
		return
	}
	j.Verdicts++
	j.Attempts += u.Attempts
	j.PromptTokens += u.PromptTokens
	j.CachedTokens += u.CachedTokens
	j.CompletionTokens += u.CompletionTokens
	j.CostUSD += u.CostUSD
	j.Latency += u.Latency
}

// waitsAtMost is how long a session is listed. Nobody tells the hook that a session was closed.
const waitsAtMost = 24 * time.Hour

// newStatus returns a command that shows the last decision of each session that waits for the human, the oldest first.
func newStatus(t terminal) *cobra.Command {
	var state string
	return command("status [flags]", cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		k, err := keeperOptions{state: state}.open(filestore.Options{}, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		last := map[string]entry{}
		err = new(logOptions).read(cmd.Context(), k.dir, func(e entry, _ []byte) {
			if e.Notice == "" && e.Host != "" && !strings.Contains(e.Session, "/") && !e.Decision.Replayed &&
				e.Decision.Action != autocontinue.Suppress {
				last[e.Host+"/"+e.Session] = e
			}
		})
		var list []entry
		for _, e := range last {
			if err == nil && time.Since(e.Time) < waitsAtMost {
				var kept hook.Kept
				k.host = e.Host
				if kept, err = k.Load(cmd.Context(), e.Session); kept.Memory.Waits() {
					list = append(list, e)
				}
			}
		}
		if err != nil {
			return err
		}
		slices.SortFunc(list, func(a, b entry) int {
			return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Host+"/"+a.Session, b.Host+"/"+b.Session))
		})
		return t.tell(cmd.OutOrStdout(), view("waiting", list))
	}, "state", &state)
}

type keeperOptions struct {
	state    string
	keepText bool
}

// stateDir returns the folder that a --state names, else the one where this user's programs keep what they remember:
// $XDG_STATE_HOME (not a relative one: XDG Base Directory Specification 0.8), else what the system has for it.
func stateDir(flag string) (dir string, err error) {
	if flag != "" {
		return flag, nil
	}
	switch dir = os.Getenv("XDG_STATE_HOME"); {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows":
		dir, err = os.UserCacheDir() // %LocalAppData%
	case runtime.GOOS == "darwin":
		dir, err = os.UserConfigDir() // Application Support
	default:
		dir, err = os.UserHomeDir()
		dir = filepath.Join(dir, ".local", "state")
	}
	if err != nil {
		return "", badInput("name one: --state DIR; or set HOME", "there is no folder to remember things in: %v", err)
	}
	return filepath.Join(dir, "sidecoach"), nil
}

// keeper remembers sessions and keeps the journal, for one decision.
type keeper struct {
	dir      string // the state folder
	host     string
	keepText bool
	shadow   bool // the decision is only journaled
	store    *filestore.Store
	stderr   io.Writer
	session  string
	lacks    string              // why facts of the transcript are missing
	notify   []string            // the command that tells the human; nil is none
	folder   string              // where the agent works
	last     *autocontinue.Event // the decision; nil before it
	lost     bool                // the state could not be read and was set aside
	failed   bool                // the journal has a decision with an error
}

// open returns the keeper of a host's sessions. Nothing is read or made yet.
func (o keeperOptions) open(opts filestore.Options, stderr io.Writer) (*keeper, error) {
	dir, err := stateDir(o.state)
	if err != nil {
		return nil, err
	}
	k := &keeper{dir: dir, host: opts.Host, keepText: o.keepText, stderr: stderr}
	opts.OnSetAside = k.setAside
	k.store, err = filestore.New(dir, opts)
	return k, err
}

func (k *keeper) observer() autocontinue.Observer {
	return autocontinue.ObserverFunc(func(_ context.Context, e autocontinue.Event) error {
		line := entry{Event: e, Host: k.host, Shadow: k.shadow, Transcript: k.lacks}
		k.failed, k.last = k.failed || e.Err != "", &e
		if k.keepText && max(len(e.Input.Text), len(e.Input.Request)) <= maxKept {
			line.Input = &e.Input
		}
		k.journal(line)
		return nil
	})
}

// journal appends a line. A failure is printed, and changes no decision.
func (k *keeper) journal(line any) {
	if err := writeJSON(k.store.Journal(), line); err != nil {
		complain(k.stderr, "sidecoach: not journaled: "+withoutPackage(err))
	}
}

func (k *keeper) setAside(kind, what string) {
	if kind == "sessions" || kind == hookSessions {
		what += "; the session starts afresh"
		k.lost = true
	}
	complain(k.stderr, "sidecoach: "+what)
	k.note(what)
}

func (k *keeper) note(what string) {
	k.journal(map[string]any{"time": time.Now(), "host": k.host, "session": k.session, "notice": what})
}

// noDecision words an error that is not worded yet: what could not be done, and what follows from that.
func noDecision(err error, next string) error {
	const folder = checkFolder + ", or name another with --state"
	if _, worded := errors.AsType[*failure](err); worded || err == nil {
		return err
	}
	for known, hint := range map[error]string{
		autocontinue.ErrConflict:     "another sidecoach held the session for too long: is one of them suspended?",
		autocontinue.ErrUnavailable:  folder,
		filestore.ErrTooLarge:        folder,
		autocontinue.ErrStateVersion: "a newer sidecoach wrote the state of this session: use that one, or another session",
	} {
		if errors.Is(err, known) {
			next += "; " + hint
		}
	}
	return badInput(next, "no decision: %s", withoutPackage(err))
}

// withoutPackage is what an error says, without the names of the packages it went through.
func withoutPackage(err error) string {
	text := strings.NewReplacer("autocontinue: ", "", "filestore: ", "").Replace(err.Error())
	return strings.TrimPrefix(strings.TrimPrefix(text, "load: "), "update: ")
}

// tell runs the human's command, if the human is next. A failure is journaled and changes nothing else.
func (k *keeper) tell(ctx context.Context) {
	if k.notify == nil || k.last == nil || k.last.Decision.Action != autocontinue.Deliver ||
		k.last.Decision.Replayed || strings.Contains(k.session, "/") {
		return
	}
	var text bytes.Buffer
	_ = writeJSON(&text, struct { // nothing in it can fail
		autocontinue.Decision
		Host    string `json:"host"`
		Session string `json:"session"`
		Folder  string `json:"folder,omitempty"`
	}{k.last.Decision, k.host, k.session, k.folder})
	r, err := cmdwitness.Run(ctx, cmdwitness.Command{
		Args: k.notify, Dir: k.folder, Env: os.Environ(), Timeout: 5 * time.Second, Stdin: &text,
	})
	if err == nil && (r.Exit != 0 || r.Why != "") {
		err = fmt.Errorf("exit status %d %s", r.Exit, r.Why)
	}
	if err != nil {
		k.note("notify failed: " + strings.TrimSpace(err.Error()))
	}
}

const maxKept = 1 << 20 // bytes of an output, and of a request, that the journal keeps
