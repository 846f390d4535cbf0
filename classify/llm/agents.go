package llm

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"text/template"
)

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
		login := cmp.Or(geminiLogin().FindString(string(settings)), `"selectedType": null`)
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

var codexServer = lazy(`^\s*(?:\[\s*)?mcp_servers\s*\.\s*([A-Za-z0-9_-]+)`)

// withoutServers returns the arguments that switch off the MCP servers of a config.toml. If it names one in a form that
// is not understood, the file as a whole is not used.
func withoutServers(config string) (args []string) {
	for line := range strings.Lines(config) {
		if !strings.HasPrefix(strings.TrimLeft(line, "[ \t\"'"), "mcp_servers") {
			continue
		}
		m := codexServer().FindStringSubmatch(line)
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

var geminiLogin = lazy(`"selectedType"\s*:\s*"[a-z-]+"`)

// readAgent reads what Claude Code and Gemini CLI print, which is one object, and Codex, which is an event a line. If
// that is a failure, it returns what is said about it.
func readAgent(stdout []byte) (r reply, failure string) {
	events := [][]byte{stdout}
	if !json.Valid(stdout) {
		events = bytes.Split(stdout, []byte("\n"))
	}
	events = slices.DeleteFunc(events, func(event []byte) bool { return !json.Valid(event) })
	if len(events) == 0 {
		return r, lastLine(stdout)
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
			r.text = cmp.Or(string(e.StructuredOutput), e.Result, e.Response, e.Item.Text, r.text)
		}
		models := slices.Collect(maps.Keys(e.Models))
		for name, m := range e.Stats.Models {
			models = append(models, name)
			r.usage.PromptTokens += m.Tokens.Prompt
			r.usage.CachedTokens += m.Tokens.Cached
			r.usage.CompletionTokens += m.Tokens.Candidates + m.Tokens.Thoughts
		}
		slices.Sort(models)
		r.usage.Model = cmp.Or(strings.Join(models, "+"), r.usage.Model)
		r.usage.PromptTokens += e.Usage.Input + e.Usage.Creation + e.Usage.Read
		r.usage.CachedTokens += e.Usage.Read + e.Usage.Cached
		r.usage.CompletionTokens += e.Usage.Output
		r.usage.CostUSD += e.Cost
	}
	if r.text != "" {
		failure = ""
	}
	return r, failure
}
