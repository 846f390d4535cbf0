package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sidecoach/sidecoach/autocontinue"
	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/hook"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/classify/llm"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

const (
	stays     = "the agent stops" // of a hook
	showHuman = "show the agent's output to the human"
)

// run answers one event. Whatever goes wrong, it prints the answer with which the host goes on.
func (o *hookOptions) run(cmd *cobra.Command, h hook.Host, args []string, t terminal) error {
	var answered atomic.Bool
	print := func(answer []byte) error {
		if len(answer) == 0 || answered.Swap(true) {
			return nil
		}
		_, err := cmd.OutOrStdout().Write(answer)
		return err
	}
	if os.Getenv(llm.JudgeMark) != "" { // a judge paused: to judge it would have no end
		_, _ = io.Copy(io.Discard, cmd.InOrStdin())
		return print(h.Pass())
	}
	k, err := o.open(h, cmd.ErrOrStderr())
	if err != nil {
		_ = print(h.Pass())
		return letStop(err)
	}
	w := watchdog{limit: hookSeconds*time.Second - hookMargin, more: k.verifies.Load, parent: os.Getppid}
	w.exit = func() {
		go func() {
			defer func() { _ = recover(); os.Exit(exitFailure) }()
			_ = print(h.Pass())
			k.note("no decision: the hook did not end in time")
		}()
		time.Sleep(hookGrace / 4) // printing may hang
		os.Exit(exitFailure)
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	return w.run(ctx, func(ctx context.Context) error {
		defer func() {
			if p := recover(); p != nil {
				k.note("internal error: no decision")
				_ = print(h.Pass())
				panic(p) // run says the rest
			}
		}()
		answer, err := o.answer(ctx, h, args, cmd.InOrStdin(), t, k)
		if err != nil {
			err = letStop(err)
			if !k.failed {
				k.note(err.Error())
			}
		}
		if err := print(answer); err != nil {
			return err
		}
		k.tell(ctx)
		return err
	})
}

func (o *hookOptions) answer(
	ctx context.Context, h hook.Host, args []string, stdin io.Reader, t terminal, k *keeper,
) ([]byte, error) {
	payload, err := readEvent(h, args, stdin, t.keyboard)
	if err != nil {
		return h.Pass(), err
	}
	projects, ignored := project.Open(k.store, string(h), time.Now), ""
	answer, err := hook.Run(ctx, h, payload, hook.Config{
		Sessions: k, Secrets: ownSecrets(),
		Prompted: func(ctx context.Context, session, folder string, first bool) {
			dir := folderOf(folder)
			s, why := o.in(ctx, projects, dir)
			if first {
				if why != nil {
					k.note(why.Error())
				}
				if err := projects.Begin(ctx, session, dir); err != nil {
					k.warn(err)
				}
			}
			if s.verify.words != nil || s.judging.asks() {
				// A baseline of the agent's work. If there is none, the verifier says so when the agent is done.
				ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
				defer cancel()
				_ = verifier.Remember(ctx, k.dir, session, dir)
			}
		},
		Notice: func(context.Context) string {
			if k.judge != nil {
				return strings.Trim(k.judge.notice+"\n"+ignored, "\n")
			}
			return ignored
		},
		Loop: func(ctx context.Context, p *hook.Pause) (cfg autocontinue.Config, err error) {
			k.lacks = p.Lack
			o, why := o.in(ctx, projects, folderOf(p.Began))
			if why != nil && !errors.Is(why, project.ErrNotAllowed) {
				ignored = "sidecoach: " + why.Error()
				k.note(why.Error())
			}
			k.shadow, p.Shadow, k.keepText = o.shadow, o.shadow, o.keeper.keepText
			cfg.Policy, cfg.Skills = o.policy.policy(), o.registry()
			cfg.Policy.Coach = o.coach
			dir := folderOf(p.Folder)
			if o.plan != "" {
				if tree, plan, err := openPlan(dir, o.plan); err == nil { // the end of the process closes the tree
					cfg.Plans, p.Output.PlanFile = tree.FS(), plan
				} else { // the agent may have changed its folder: that costs the criteria only
					cfg.Plans, p.Output.PlanFile = noPlan{err}, filepath.Base(o.plan)
				}
			}
			if cfg.Classifier, err = o.judging.classifier(k, o.phrases...); err != nil {
				return cfg, err
			}
			cfg.Verifier = o.verifier(k.dir, p.Output.Session, dir, cfg.Plans)
			cfg.Observer, k.notify, k.folder = k.observer(), o.notify.words, dir
			if unbound := o.pursue(ctx, h, projects, k, p, &cfg); unbound != nil {
				k.warn(unbound)
			}
			k.verifies.Store(cfg.Verifier != nil)
			return cfg, err
		},
	})
	if errors.Is(err, hook.ErrEvent) {
		return answer, badInput(stays+"; does "+h.Product()+" run this?", "%v", err)
	}
	return answer, storeFailure(err, stays)
}

// document returns the file of a session, which holds the loop's state and the hook's memory.
func (k *keeper) document(session string) (*filestore.Document[filestore.Session], error) {
	k.session = session
	return k.store.Session(session)
}

func (k *keeper) Load(ctx context.Context, session string) (autocontinue.State, hook.Memory, error) {
	doc, err := k.document(session)
	if err != nil {
		return autocontinue.State{}, hook.Memory{}, err
	}
	v, err := doc.Load(ctx)
	return v.State, memoryOf(v), err
}

func (k *keeper) Update(
	ctx context.Context, session string, fn func(autocontinue.State, hook.Memory) (autocontinue.State, hook.Memory, error),
) error {
	doc, err := k.document(session)
	if err != nil {
		return err
	}
	return doc.Update(ctx, func(v filestore.Session) (filestore.Session, error) {
		state, m, err := fn(v.State, memoryOf(v))
		if err == nil {
			v.State = state
			v.Extra, err = json.Marshal(m)
		}
		return v, err
	})
}

// memoryOf returns the hook's memory. One that cannot be read is empty.
func memoryOf(v filestore.Session) (m hook.Memory) {
	if json.Unmarshal(v.Extra, &m) != nil {
		return hook.Memory{}
	}
	return m
}

func letStop(err error) error {
	if f, ok := errors.AsType[*failure](err); ok {
		return &failure{exitFailure, f.what, f.hint}
	}
	return badInput(stays, "no decision: %s", withoutPackage(err))
}

// readEvent returns what the host says on stdin.
func readEvent(h hook.Host, args []string, stdin io.Reader, keyboard bool) ([]byte, error) {
	hint := "sidecoach hook install " + string(h) + " sets it up"
	switch {
	case len(args) > 0:
		return nil, misuse(hint, "hook %s takes one event, from standard input", h)
	case keyboard:
		return nil, misuse(hint, "no event: %s runs this and pipes one in", h.Product())
	}
	payload, err := io.ReadAll(io.LimitReader(stdin, hook.MaxEvent+1))
	if err != nil {
		return nil, badInput(stays, "cannot read the event: %v", cause(err))
	}
	_, _ = io.Copy(io.Discard, stdin) // some hosts report a failure if they cannot write all of it
	return payload, nil
}

// folderOf returns the folder that the agent works in: the one that the host names, if it is one, else the one that it
// runs the hook in. Cursor runs a user's hook in its own folder below the home.
func folderOf(name string) string {
	if filepath.IsAbs(name) && isFolder(name) {
		return name
	}
	return "."
}

// noPlan is the working tree of a plan that cannot be opened.
type noPlan struct{ err error }

func (n noPlan) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: n.err}
}

const (
	hookMargin  = 5 * time.Second        // the hook gives up this long before its host does
	hookGrace   = time.Second            // after that, the process ends
	parentCheck = 100 * time.Millisecond // how often a hook looks whether its host is still there
)

var (
	errTooLate  = errors.New("the time for a hook is over")
	errHostGone = errors.New("the host has gone")
)

// watchdog ends a hook that takes too long, whatever it is doing. Hosts such as Gemini CLI wait for a hook even after
// they have sent it a signal. The context of the hook ends first, and with it the commands that the hook has started.
type watchdog struct {
	limit  time.Duration
	more   func() bool // reports whether verifySeconds are added to the limit
	parent func() int  // the ID of the process that waits for the hook
	exit   func()      // ends the process
}

// run calls do and returns its error. It calls w.exit if do has not returned [hookGrace] after its context has ended.
func (w watchdog) run(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan struct{})
	defer close(done)
	go func() {
		defer func() { _ = recover() }() // the runtime's exit status means "block" to a host
		for start, host := time.Now(), w.parent(); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-time.After(parentCheck):
			}
			limit := w.limit
			if w.more() {
				limit += verifySeconds * time.Second
			}
			if time.Since(start) >= limit {
				cancel(errTooLate)
			} else if w.parent() != host {
				cancel(errHostGone)
			}
		}
		select {
		case <-done:
		case <-time.After(hookGrace):
			w.exit()
		}
	}()
	err := do(ctx)
	if cause := context.Cause(ctx); err != nil && (cause == errTooLate || cause == errHostGone) {
		return letStop(cause)
	}
	return err
}
