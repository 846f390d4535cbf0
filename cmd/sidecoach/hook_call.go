package main

import (
	"context"
	"errors"
	"fmt"
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
)

const stays = "the agent is let stop" // what follows from a failure

// run answers one event. Whatever goes wrong, it prints the answer with which the host goes on.
func (o *hookOptions) run(cmd *cobra.Command, h hook.Host, args []string, t terminal) error {
	k, err := o.open(h, cmd)
	if err != nil {
		_, _ = cmd.OutOrStdout().Write(h.Pass())
		return letStop(err)
	}
	var answered atomic.Bool
	w := watchdog{limit: o.limit(), parent: os.Getppid}
	if len(args) > 0 { // Codex does not wait for its program for notify
		w.parent = nil
	}
	w.exit = exitWith(func() {
		if !answered.Swap(true) {
			_, _ = cmd.OutOrStdout().Write(h.Pass())
		}
		k.note(context.Background(), "no decision: the hook did not end in time")
	})
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	return w.run(ctx, func(ctx context.Context) error {
		defer func() {
			if p := recover(); p != nil {
				k.note(context.Background(), "internal error: no decision")
				_, _ = cmd.OutOrStdout().Write(h.Pass())
				panic(p) // run says the rest
			}
		}()
		answer, err := o.answer(ctx, h, args, cmd.InOrStdin(), t, k)
		if err != nil {
			err = letStop(err)
			if !k.told {
				k.note(context.WithoutCancel(ctx), err.Error())
			}
		}
		if len(answer) > 0 && !answered.Swap(true) {
			if _, err := cmd.OutOrStdout().Write(answer); err != nil {
				return err
			}
		}
		return err
	})
}

// limit is how long the hook may take: a little less than the host waits, as install writes it.
func (o *hookOptions) limit() time.Duration {
	seconds := hookSeconds
	if o.verify.words != nil {
		seconds += verifySeconds
	}
	return time.Duration(seconds)*time.Second - hookMargin
}

// answer reads an event and returns what to print.
func (o *hookOptions) answer(
	ctx context.Context, h hook.Host, args []string, stdin io.Reader, t terminal, k *keeper,
) ([]byte, error) {
	e, err := readEvent(h, args, stdin, t.keyboard)
	if err != nil && t.keyboard && len(args) == 0 {
		return nil, err // a person reads it
	}
	if err != nil {
		return h.Pass(), err
	}
	k.session = e.SessionKey()
	d, err := o.decide(ctx, k, e)
	if err != nil {
		d = autocontinue.Decision{}
	}
	return e.Answer(d), err
}

// open returns the keeper of a host's sessions. A hook is waited for: it saves the time of a sync, and what a loss of
// power takes is held like any state that is lost.
func (o *hookOptions) open(h hook.Host, cmd *cobra.Command) (*keeper, error) {
	k, err := o.keeper.open(filestore.Options{Host: string(h), NoSync: true}, cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	k.shadow, k.next = o.shadow, stays
	return k, nil
}

// letStop puts a failure into words: its status is 1, whatever it was.
func letStop(err error) error {
	f, ok := errors.AsType[*failure](err)
	if !ok {
		return badInput(stays, "no decision: %s", withoutPackage(err))
	}
	return badInput(f.hint, "%s", f.what)
}

// readEvent reads what the host says: from stdin or, of Codex's notify, from the last argument.
func readEvent(h hook.Host, args []string, stdin io.Reader, keyboard bool) (hook.Event, error) {
	payload := []byte(nil)
	switch {
	case len(args) > 1 && h == hook.Codex:
		return hook.Event{}, misuse("notify gives it as one argument", "hook codex takes one event, not %d", len(args))
	case len(args) > 0 && h != hook.Codex:
		return hook.Event{}, misuse("sidecoach hook "+string(h)+" reads the event from standard input; sidecoach hook install sets it up", "hook %s takes no arguments", h)
	case len(args) == 1:
		payload = []byte(args[0])
	case keyboard:
		return hook.Event{}, misuse("sidecoach hook install "+string(h)+" prints the settings that make it do so", "no event: %s runs this and pipes one in", h.Product())
	default:
		var err error
		if payload, err = io.ReadAll(io.LimitReader(stdin, hook.MaxPayload+1)); err != nil {
			return hook.Event{}, badInput(stays, "cannot read the event: %v", cause(err))
		}
		_, _ = io.Copy(io.Discard, stdin) // a host that cannot write all of it takes that for a failure
	}
	e, err := h.Read(payload)
	if err != nil {
		return e, badInput(stays+"; is it "+h.Product()+" that runs this?", "the event cannot be used: %s", strings.TrimPrefix(err.Error(), fmt.Sprintf("hook: %s: %v: ", h, hook.ErrPayload)))
	}
	return e, nil
}

// decide takes an event into the session and returns what to do about it: nothing, unless the agent paused, and
// nothing in the shadow.
func (o *hookOptions) decide(ctx context.Context, k *keeper, e hook.Event) (autocontinue.Decision, error) {
	var none autocontinue.Decision
	s, err := openHookSession(k, e)
	if err != nil {
		return none, err
	}
	if !e.Kind.IsPause() {
		if e.Kind == hook.Prompt || e.Kind == hook.Said {
			err = s.heard(ctx)
		}
		return none, storeFailure(err, k.next)
	}
	memory, err := s.read(ctx)
	if err != nil {
		return none, storeFailure(err, k.next)
	}
	trace, memory, err := e.Await(ctx, memory, func() (hook.Memory, error) { return s.read(ctx) })
	if err != nil {
		return none, storeFailure(err, k.next)
	}
	s.seen = memory.Transcript
	if e.Transcript.Value != "" && e.Kind != hook.Notify {
		k.lacks = trace.Lack()
	}
	out := e.Output(trace, memory)
	cfg := autocontinue.Config{Policy: autocontinue.Policy{MaxContinues: o.most.policy(), MinConfidence: o.threshold.policy()}, Store: s}
	dir := folder(e)
	if o.plan != "" {
		tree, plan, err := openPlan(dir, o.plan)
		if err != nil {
			cfg.Plans, out.PlanFile = noPlan{err}, filepath.Base(o.plan) // the agent may have changed its folder: that costs the criteria only
		} else {
			defer tree.Close()
			cfg.Plans, out.PlanFile = tree.FS(), plan
		}
	}
	if cfg.Classifier, err = o.judging.classifier(ctx, k); err != nil {
		return none, err
	}
	if cfg.Verifier, err = o.verify.verifier(dir, cfg.Plans); err != nil {
		return none, err
	}
	s.out = out
	d, err := k.decide(ctx, cfg, out)
	if err != nil {
		return none, err
	}
	if o.shadow {
		return none, nil
	}
	return d, storeFailure(s.sent(ctx, d), k.next)
}

// folder returns the folder that the agent works in: the one that the host names, where that is one, else the one
// that it runs the hook in. A hook of the user's is run by Cursor in its own folder below the home.
func folder(e hook.Event) string {
	if dir := e.WorkDir.Value; filepath.IsAbs(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
	}
	return "."
}

// noPlan is the working tree of a plan that cannot be opened.
type noPlan struct{ err error }

func (n noPlan) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: n.err}
}
