package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
)

type keeperOptions struct {
	state    string
	keepText bool
}

func (o *keeperOptions) register(f *pflag.FlagSet) {
	bind(f, "state", &o.state, "keep-text", &o.keepText)
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
