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
)

// agent is how to put one question to the command line of a coding agent: one turn, without tools, hooks, MCP servers,
// project settings and a session file. agents.json has the flags of Claude Code 2.1.197, Codex 0.169.0, Gemini CLI
// 0.61.0 and Copilot CLI 1.0.102. The login of a subscription stays in use: Claude Code keeps the user's settings (its
// --bare would ignore the login), and Codex the user's home, because a login with rotating tokens cannot be copied, and
// config.toml, which may name the provider. The others get a home with a copy of the login, because no flag keeps them
// from writing a session file. Copilot CLI has no structured output and no system prompt of ours.
type agent struct {
	Model string     // a small one; empty is the one that the user configured
	Args  [][]string // groups; one whose last {value} is empty is left out
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

// prepare makes the arguments, the environment, the input and the files that an agent needs.
func (r *run) prepare(name string, a agent) {
	home := homeOf(a.Home.Variable, a.Home.Folder)
	values := map[string]string{
		"{system}": r.System, "{user}": r.User, "{schema}": string(r.Schema), "{model}": r.Model,
		"{effort}": r.Effort, "{effort or low}": cmp.Or(r.Effort, "low"),
		"{system file}": r.file("system.md", r.System), "{schema file}": "",
	}
	if r.Schema != nil {
		values["{schema file}"] = r.file("schema.json", string(r.Schema))
	}
	groups := a.Args
	switch name {
	case "claude":
		if r.Effort == "" {
			r.env = append(r.env, "MAX_THINKING_TOKENS=0")
		}
	case "codex":
		config, _ := os.ReadFile(filepath.Join(homeOf("CODEX_HOME", ".codex"), "config.toml")) // or nothing
		groups = slices.Insert(slices.Clone(groups), 1, withoutServers(string(config)))
	case "gemini":
		settings, _ := os.ReadFile(filepath.Join(home, ".gemini", "settings.json"))
		login := "null"
		if m := geminiLogin().FindSubmatch(settings); m != nil {
			login = string(m[1])
		}
		r.file("home/.gemini/settings.json", strings.Replace(geminiSettings, "TYPE", login, 1))
		values["{policy file}"] = r.file("policy.toml",
			"[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n")
	case "copilot":
		// Without a model Copilot CLI would take a large one. A provider of the user's own has only the user's model.
		if r.Model == "" && os.Getenv("COPILOT_MODEL") == "" && os.Getenv("COPILOT_PROVIDER_BASE_URL") == "" {
			r.Model = "gpt-5-mini"
			values["{model}"] = r.Model
		}
	}
	for _, file := range a.Home.Copy {
		if b, err := os.ReadFile(filepath.Join(home, file)); err == nil {
			r.file("home/"+file, string(b))
		}
	}
	if a.Home.Variable != "" {
		r.env = append(r.env, a.Home.Variable+"="+filepath.Join(r.dir, "home"))
	}
	var pairs []string
	for value, text := range values {
		pairs = append(pairs, value, text)
	}
	filled := strings.NewReplacer(pairs...)
	for _, group := range groups {
		if n := len(group); n > 0 {
			if text, isValue := values[group[n-1]]; isValue && text == "" {
				continue
			}
		}
		for _, arg := range group {
			r.args = append(r.args, filled.Replace(arg))
		}
	}
	for _, variable := range a.Env {
		r.env = append(r.env, filled.Replace(variable))
	}
	r.stdin = filled.Replace(a.Stdin)
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

var geminiLogin = lazy(`"selectedType"\s*:\s*("[a-z-]+")`)

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
