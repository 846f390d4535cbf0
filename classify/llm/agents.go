package llm

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// agent is how to put one question to the command line of a coding agent: one turn, without tools, hooks, MCP servers,
// project settings and a session file. The login of a subscription stays in use. The flags are those of Claude Code
// 2.1.197, Codex 0.169.0, Gemini CLI 0.61.0 and Copilot CLI 1.0.102.
type agent struct {
	program string
	model   string // a small one; empty is the one that the user configured
	prepare func(*run)
	read    func(stdout []byte) (reply, error)
}

var agents = map[string]agent{
	"claude":  {"claude", "haiku", prepareClaude, readAgent},
	"codex":   {"codex", "", prepareCodex, readAgent},
	"gemini":  {"gemini", "flash", prepareGemini, readAgent},
	"copilot": {"copilot", "", prepareCopilot, readOther},
}

// Agents returns the names of the agents whose command line can judge, sorted.
func Agents() []string { return slices.Sorted(maps.Keys(agents)) }

// prepareOther is for a program that is not an agent.
func prepareOther(r *run) { r.stdin = r.call.System + "\n" + r.call.User }

func readOther(stdout []byte) (reply, error) { return reply{text: string(stdout)}, nil }

var errNoResult = errors.New("no result in the JSON envelope")

// readAgent reads what Claude Code and Gemini CLI print, which is one object, and Codex, which is an event a line.
func readAgent(stdout []byte) (reply, error) {
	events := [][]byte{stdout}
	if !json.Valid(stdout) {
		events = bytes.Split(stdout, []byte("\n"))
	}
	events = slices.DeleteFunc(events, func(event []byte) bool { return !json.Valid(event) })
	if len(events) == 0 {
		return reply{}, errors.New(lastLine(stdout))
	}
	failure := ""
	var r reply
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
	switch {
	case r.text == "" && failure != "":
		return r, errors.New(failure)
	case r.text == "":
		return r, errNoResult
	}
	return r, nil
}

// prepareClaude keeps the user's settings, because they may say how to log in. Safe mode leaves out CLAUDE.md, hooks,
// skills and plugins; --bare would ignore the login of a subscription.
func prepareClaude(r *run) {
	system := r.file("system.md", r.call.System)
	r.args = append(r.args, "-p", "--model", r.model, "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
		"--no-session-persistence", "--settings", `{"disableAllHooks":true}`, "--system-prompt-file", system,
		"--output-format", "json")
	r.option("--json-schema", string(r.call.Schema))
	r.env = []string{"CLAUDE_CODE_SAFE_MODE=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	r.option("--effort", r.effort)
	if r.effort == "" {
		r.env = append(r.env, "MAX_THINKING_TOKENS=0")
	}
	r.stdin = r.call.User
}

// prepareCodex keeps the user's home, because a login with rotating tokens cannot be copied, and the user's
// config.toml, because it may name the provider. What remains is the user's own AGENTS.md, and Codex's own
// instructions, which a login of a subscription may insist on.
func prepareCodex(r *run) {
	schema := r.file("schema.json", string(r.call.Schema))
	r.args = append(r.args, "exec", "--ephemeral", "--skip-git-repo-check", "--sandbox", "read-only", "--color", "never",
		"--json")
	if r.call.Schema != nil {
		r.args = append(r.args, "--output-schema", schema)
	}
	r.option("--model", r.model)
	config, _ := os.ReadFile(filepath.Join(homeOf("CODEX_HOME", ".codex"), "config.toml")) // or nothing
	r.args = append(r.args, withoutServers(string(config))...)
	for _, setting := range strings.Fields(codexSettings) {
		r.args = append(r.args, "-c", setting)
	}
	r.args = append(r.args, "-c", "model_reasoning_effort="+cmp.Or(r.effort, "low"), "-")
	r.stdin = r.call.System + "\n" + r.call.User
}

// codexSettings has one setting a line.
//
//go:embed codex.txt
var codexSettings string

// homeOf returns the folder that a variable names, or one in the user's home.
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

// prepareGemini makes a home with a copy of the login, because no flag keeps Gemini CLI from writing a session file.
func prepareGemini(r *run) {
	home := homeOf("GEMINI_CLI_HOME", "")
	settings, _ := os.ReadFile(filepath.Join(home, ".gemini", "settings.json"))
	login := "null"
	if m := geminiLogin().FindSubmatch(settings); m != nil {
		login = string(m[1])
	}
	r.file("home/.gemini/settings.json", strings.Replace(geminiSettings, "TYPE", login, 1))
	for _, name := range []string{"oauth_creds.json", "google_accounts.json", "gemini-credentials.json", "installation_id",
		".env"} {
		r.copy(filepath.Join(home, ".gemini", name), "home/.gemini/"+name)
	}
	policy := r.file("policy.toml", "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n")
	system := r.file("system.md", r.call.System)
	r.env = []string{"GEMINI_CLI_HOME=" + filepath.Join(r.dir, "home"), "GEMINI_SYSTEM_MD=" + system}
	r.args = append(r.args, "--model", r.model, "--output-format", "json", "--skip-trust", "--extensions", "none",
		"--allowed-mcp-server-names", "none", "--policy", policy)
	r.stdin = r.call.User
}

// option adds a flag whose value is not empty.
func (r *run) option(flag, value string) {
	if value != "" {
		r.args = append(r.args, flag, value)
	}
}

// copy copies a file of the user's, if it is there.
func (r *run) copy(from, name string) {
	if b, err := os.ReadFile(from); err == nil {
		r.file(name, string(b))
	}
}

// prepareCopilot makes a home with a copy of the login, because no flag keeps Copilot CLI from writing a session file
// and from starting the user's MCP servers. It has no structured output and no system prompt of ours.
func prepareCopilot(r *run) {
	r.copy(filepath.Join(homeOf("COPILOT_HOME", ".copilot"), "config.json"), "home/config.json")
	r.env = []string{"COPILOT_HOME=" + filepath.Join(r.dir, "home"), "COPILOT_AUTO_UPDATE=false"}
	r.args = append(r.args, "--silent", "--no-color", "--no-custom-instructions", "--disable-builtin-mcps",
		"--no-ask-user", "--no-auto-update", "--no-remote", "--available-tools=none", "--stream", "off", "--log-level",
		"none")
	// Without a model Copilot CLI would take a large one. A provider of the user's own has only the user's model.
	if r.model == "" && os.Getenv("COPILOT_MODEL") == "" && os.Getenv("COPILOT_PROVIDER_BASE_URL") == "" {
		r.model = "gpt-5-mini"
	}
	r.option("--model", r.model)
	r.option("--reasoning-effort", r.effort)
	r.stdin = r.call.System + "\n" + r.call.User
}
