package llm

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/sidecoach/sidecoach/classify"
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
func (c Command) send(ctx context.Context, request Request) (text string, used classify.Usage, err error) {
	name := filepath.Base(c.Program())
	fail := func(err error) (string, classify.Usage, error) {
		inner := cmp.Or(errors.Unwrap(err), err) // without the name of a temporary file
		return "", used, &Error{Why: "cannot run " + name + ": " + inner.Error(), Err: err, final: true}
	}
	if os.Getenv(JudgeMark) != "" {
		return fail(errors.New("this process is part of a judge, and a judge asks no other"))
	}
	dir, err := os.MkdirTemp("", "sidecoach-judge-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	stdout, stderr := &bounded{max: maxBody}, &bounded{max: 64 << 10}
	cmd := exec.CommandContext(ctx, c.Program(), c.Args[min(1, len(c.Args)):]...)
	if cmd.Path, err = filepath.Abs(cmd.Path); err != nil { // it runs in another folder
		return fail(err)
	}
	cmd.Args[0] = cmd.Path // some programs find their own files by it
	cmd.Dir, cmd.Stdout, cmd.Stderr = filepath.Join(dir, "empty"), stdout, stderr
	cmd.Env = append(slices.DeleteFunc(cmd.Environ(), isParentMark), JudgeMark+"=1")
	cmd.WaitDelay = time.Second // a process that left the group may hold the pipes
	ownGroup(cmd)
	cmd.Cancel = func() error {
		killGroup(cmd.Process)
		return nil
	}
	r := &run{Request: request, cmd: cmd, dir: dir}
	r.prepare(c.Agent)
	if err := cmp.Or(r.err, os.Mkdir(cmd.Dir, 0o700)); err != nil {
		return fail(err)
	}
	if err = cmd.Run(); cmd.Process != nil {
		killRest(cmd.Process)
	}
	if ctx.Err() != nil {
		return "", used, ended(ctx)
	}
	text, said := stdout.kept.String(), ""
	enveloped := c.Agent != "" && c.Agent != "copilot"
	if enveloped {
		text, used, said = readAgent(stdout.kept.Bytes())
	}
	used.Model = cmp.Or(used.Model, r.Model)
	exit := (*exec.ExitError)(nil)
	switch {
	case err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay):
		return fail(err)
	case stdout.full:
		return text, used, unparseable("it is larger than 1 MiB")
	case exit != nil || said != "":
		why := name + " reports an error"
		if exit != nil {
			why = fmt.Sprintf("%s ended with %s", name, exit)
		}
		said = r.quoted(cmp.Or(said, lastLine(stderr.kept.Bytes())))
		return text, used, &Error{Why: why, Server: said, final: true}
	case enveloped && text == "":
		return text, used, unparseable("no result in " + c.Agent + "'s JSON envelope")
	}
	return text, used, nil
}

// isParentMark reports whether a variable tells a program that an agent started it. Some agents refuse to run then.
func isParentMark(variable string) bool {
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

// agent is how to put one question to the command line of a coding agent: one turn, without tools, hooks, MCP servers,
// project settings and a session file. agents.json has the flags of Claude Code 2.1.197, Codex 0.169.0, Gemini CLI
// 0.61.0 and Copilot CLI 1.0.102. The login of a subscription stays in use: Claude Code keeps the user's settings (its
// --bare would ignore the login), and Codex the user's home, because a login with rotating tokens cannot be copied, and
// config.toml, which may name the provider. The others get a home with a copy of the login, because no flag keeps them
// from writing a session file. Copilot CLI has no structured output and no system prompt of ours.
//
// The strings are templates over a [run]. An empty argument at the end of a group leaves the group out, and an empty
// variable is left out.
type agent struct {
	Model string // a small one; empty is the one that the user configured
	Args  [][]string
	Env   []string
	Stdin string
	Home  struct { // of the agent; a temporary one takes its place
		Variable, Folder string
		Copy             []string // files of the login
	}
}

//go:embed agents.json
var agentsJSON []byte

var agents = sync.OnceValue(func() (known map[string]agent) {
	if err := json.Unmarshal(agentsJSON, &known); err != nil { // a test reads it
		panic(err)
	}
	return known
})

// Agents returns the names of the agents whose command line can judge, sorted.
func Agents() []string { return slices.Sorted(maps.Keys(agents())) }

// prepare gives the command the arguments, the environment, the input and the files that an agent needs. A program that
// is not an agent reads the prompt.
func (r *run) prepare(name string) {
	fill := func(text string) string {
		var b strings.Builder
		t := template.Must(template.New(name).Funcs(template.FuncMap{"env": os.Getenv}).Parse(text)) // a test fills all
		r.err = cmp.Or(r.err, t.Execute(&b, r))
		return b.String()
	}
	a, isAgent := agents()[name]
	if !isAgent {
		a.Stdin = "{{.System}}\n{{.User}}"
	}
	home := homeOf(a.Home.Variable, a.Home.Folder)
	switch name {
	case "codex":
		config, _ := os.ReadFile(filepath.Join(homeOf("CODEX_HOME", ".codex"), "config.toml")) // or nothing
		a.Args = slices.Insert(slices.Clone(a.Args), 1, withoutServers(string(config)))
	case "gemini":
		settings, _ := os.ReadFile(filepath.Join(home, ".gemini", "settings.json"))
		login := cmp.Or(geminiLogin.FindString(string(settings)), `"selectedType": null`)
		r.File("home/.gemini/settings.json", strings.Replace(geminiSettings, `"selectedType": null`, login, 1))
	}
	for _, file := range a.Home.Copy {
		if b, err := os.ReadFile(filepath.Join(home, file)); err == nil {
			r.File("home/"+file, string(b))
		}
	}
	if a.Home.Variable != "" {
		r.cmd.Env = append(r.cmd.Env, a.Home.Variable+"="+filepath.Join(r.dir, "home"))
	}
	r.Model = cmp.Or(r.Model, fill(a.Model))
	for _, group := range a.Args {
		var args []string
		for _, arg := range group {
			args = append(args, fill(arg))
		}
		if len(args) > 0 && args[len(args)-1] != "" {
			r.cmd.Args = append(r.cmd.Args, args...)
		}
	}
	for _, variable := range a.Env {
		if variable = fill(variable); variable != "" {
			r.cmd.Env = append(r.cmd.Env, variable)
		}
	}
	r.cmd.Stdin = strings.NewReader(fill(a.Stdin))
}

func homeOf(variable, name string) string {
	user, _ := os.UserHomeDir()
	return cmp.Or(os.Getenv(variable), filepath.Join(user, name))
}

var codexServer = regexp.MustCompile(`^\s*(?:\[\s*)?mcp_servers\s*\.\s*([A-Za-z0-9_-]+)`)

// withoutServers returns the arguments that switch off the MCP servers of a config.toml. If it names one in a form that
// is not understood, the file as a whole is not used.
func withoutServers(config string) (args []string) {
	for line := range strings.Lines(config) {
		if !strings.HasPrefix(strings.TrimLeft(line, "[ \t\"'"), "mcp_servers") {
			continue
		}
		m := codexServer.FindStringSubmatch(line)
		if m == nil {
			return []string{"--ignore-user-config"}
		}
		if arg := "mcp_servers." + m[1] + ".enabled=false"; !slices.Contains(args, arg) {
			args = append(args, "-c", arg)
		}
	}
	return args
}

// geminiSettings switches off what Gemini CLI has no flag for, and has it think little.
//
//go:embed gemini.json
var geminiSettings string

var geminiLogin = regexp.MustCompile(`"selectedType"\s*:\s*"[a-z-]+"`)

// readAgent reads what Claude Code and Gemini CLI print, which is one object, and Codex, which is an event a line. If
// that is a failure, it returns what is said about it.
func readAgent(stdout []byte) (text string, used classify.Usage, failure string) {
	events := [][]byte{stdout}
	if !json.Valid(stdout) {
		events = bytes.Split(stdout, []byte("\n"))
	}
	events = slices.DeleteFunc(events, func(event []byte) bool { return !json.Valid(event) })
	if len(events) == 0 {
		return "", used, lastLine(stdout)
	}
	for _, event := range events {
		var e struct {
			Type, Message, Result, Response string

			IsError          bool            `json:"is_error"`
			StructuredOutput json.RawMessage `json:"structured_output"`
			Error            struct{ Message string }
			Item             struct{ Type, Text string }

			Cost  float64 `json:"total_cost_usd"`
			Usage struct {
				Input    int `json:"input_tokens"` // of Claude Code, without those of the cache
				Creation int `json:"cache_creation_input_tokens"`
				Read     int `json:"cache_read_input_tokens"`
				Cached   int `json:"cached_input_tokens"`
				Output   int `json:"output_tokens"`
			}
			Models map[string]any `json:"modelUsage"`
			Stats  struct {
				Models map[string]struct {
					Tokens struct{ Prompt, Cached, Candidates, Thoughts int }
				}
			}
		}
		_ = json.Unmarshal(event, &e) // a field of another type is not one of ours
		switch {
		case e.IsError || e.Type == "error" || e.Type == "turn.failed" || e.Error.Message != "":
			failure = cmp.Or(e.Error.Message, e.Message, e.Result, "it does not say why")
		case e.Item.Type == "agent_message" || e.Item.Type == "":
			text = cmp.Or(string(e.StructuredOutput), e.Result, e.Response, e.Item.Text, text)
		}
		models := slices.Collect(maps.Keys(e.Models))
		for name, m := range e.Stats.Models {
			models = append(models, name)
			used.PromptTokens += m.Tokens.Prompt
			used.CachedTokens += m.Tokens.Cached
			used.CompletionTokens += m.Tokens.Candidates + m.Tokens.Thoughts
		}
		slices.Sort(models)
		used.Model = cmp.Or(strings.Join(models, "+"), used.Model)
		used.PromptTokens += e.Usage.Input + e.Usage.Creation + e.Usage.Read
		used.CachedTokens += e.Usage.Read + e.Usage.Cached
		used.CompletionTokens += e.Usage.Output
		used.CostUSD += e.Cost
	}
	if text != "" {
		failure = ""
	}
	return text, used, failure
}
