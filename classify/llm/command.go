package llm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Command is a program that judges: the command line of an agent, which uses that agent's login, or any other program.
// It runs in an empty folder. Its time is limited, and at the limit its whole process group ends.
//
// A program that is not an agent reads the prompt on its standard input and prints an answer. The last JSON object of
// the answer counts. A program in place of an agent prints the answer in the JSON envelope of that agent.
type Command struct {
	Agent string   // one of [Agents]: its arguments are known
	Args  []string // the program and its arguments; with Agent, they stand in for the name of the agent's program
}

// JudgeMark is the name of a variable in the environment of each program that judges. A process with this variable
// judges nothing: otherwise a judge that pauses would be judged in turn.
const JudgeMark = "SIDECOACH_JUDGE"

func (c Command) isSet() bool { return c.Agent != "" || len(c.Args) > 0 }

// Program returns the name of the program, to look for it.
func (c Command) Program() string {
	if len(c.Args) > 0 {
		return c.Args[0]
	}
	return c.Agent
}

func (c Command) check() error {
	if _, known := agents()[c.Agent]; c.Agent != "" && !known {
		return fmt.Errorf("no agent %q; the agents are %s", c.Agent, strings.Join(Agents(), ", "))
	}
	if c.Program() == "" {
		return errors.New("the name of the program is empty")
	}
	return nil
}

// run is one run of the program.
type run struct {
	Request
	cmd *exec.Cmd
	dir string // private, with the files that the program needs; removed afterwards
	err error  // of a file
}

// File writes a file for the program and returns its name. The first error stays in r.
func (r *run) File(name, text string) string {
	path := filepath.Join(r.dir, filepath.FromSlash(name))
	r.err = cmp.Or(r.err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	return path
}

// send runs the program to its end, or to the end of ctx, and ends every process that it started.
func (c Command) send(ctx context.Context, request Request) (reply, error) {
	name := filepath.Base(c.Program())
	fail := func(err error) (reply, error) {
		inner := cmp.Or(errors.Unwrap(err), err) // without the name of a temporary file
		return reply{}, &Error{Why: "cannot run " + name + ": " + inner.Error(), Err: err, final: true}
	}
	if os.Getenv(JudgeMark) != "" {
		return fail(errors.New("this process is part of a judge, and a judge asks no other"))
	}
	path, err := exec.LookPath(c.Program())
	if err != nil {
		return fail(err)
	}
	path, pathErr := filepath.Abs(path)
	dir, err := os.MkdirTemp("", "sidecoach-judge-")
	if err := cmp.Or(pathErr, err); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	stdout, stderr := &bounded{max: maxBody}, &bounded{max: 64 << 10}
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(dir, "empty"), stdout, stderr
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), ofParent), JudgeMark+"=1")
	cmd.WaitDelay = time.Second // a process that left the group may hold the pipes
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	if len(c.Args) > 0 {
		cmd.Args = append(cmd.Args, c.Args[1:]...)
	}
	r := &run{Request: request, cmd: cmd, dir: dir}
	r.prepare(c.Agent)
	if err := cmp.Or(r.err, os.Mkdir(cmd.Dir, 0o700)); err != nil {
		return fail(err)
	}
	if err = cmd.Run(); cmd.Process != nil {
		_ = killGroup(cmd.Process) // what is left of it
	}
	if ctx.Err() != nil {
		return reply{}, ended(ctx)
	}
	answer, said := reply{text: stdout.kept.String()}, ""
	enveloped := c.Agent != "" && c.Agent != "copilot"
	if enveloped {
		answer, said = readAgent(stdout.kept.Bytes())
	}
	answer.usage.Model = cmp.Or(answer.usage.Model, r.Model)
	exit := (*exec.ExitError)(nil)
	switch {
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return fail(err)
	case stdout.full:
		return answer, unparseable("it is larger than 1 MiB")
	case exit != nil || said != "":
		why := name + " reports an error"
		if exit != nil {
			why = fmt.Sprintf("%s ended with %s", name, exit)
		}
		said = r.quoted(cmp.Or(said, lastLine(stderr.kept.Bytes())))
		return answer, &Error{Why: why, Server: said, final: true}
	case enveloped && answer.text == "":
		return answer, unparseable("no result in " + c.Agent + "'s JSON envelope")
	}
	return answer, nil
}

// ofParent reports whether a variable tells a program that an agent started it. Some agents refuse to run then.
func ofParent(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.Contains([]string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR",
		"CLAUDE_ENV_FILE", "GEMINI_CLI", "COPILOT_ALLOW_ALL"}, name)
}

func lastLine(b []byte) string {
	b = bytes.TrimSpace(b)
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}

// bounded keeps the first max bytes that are written to it.
type bounded struct {
	kept bytes.Buffer
	max  int
	full bool
}

func (b *bounded) Write(p []byte) (int, error) {
	keep := p[:min(len(p), b.max-b.kept.Len())]
	b.full = b.full || len(keep) < len(p)
	b.kept.Write(keep)
	return len(p), nil
}
