package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/classify"
)

// With FAKE_PROGRAM the test binary is the program that judges.
func TestMain(m *testing.M) {
	if how := os.Getenv("FAKE_PROGRAM"); how != "" {
		fakeProgram(how)
		return
	}
	os.Exit(m.Run())
}

// seen is what a fake program saw of its surroundings.
type seen struct {
	Program string
	Args    []string
	Stdin   string
	Env     []string
	Folder  []string          // names in the working directory
	Files   map[string]string // the files named in arguments and environment, and those in the temporary home
}

func fakeProgram(how string) {
	stdin, _ := io.ReadAll(os.Stdin)
	if file := os.Getenv("FAKE_SEEN"); file != "" {
		s := seen{Program: os.Args[0], Args: os.Args[1:], Stdin: string(stdin), Env: os.Environ(), Files: map[string]string{}}
		entries, _ := os.ReadDir(".")
		for _, e := range entries {
			s.Folder = append(s.Folder, e.Name())
		}
		wd, _ := os.Getwd()
		_ = filepath.WalkDir(filepath.Dir(wd), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				b, _ := os.ReadFile(path)
				s.Files[strings.TrimPrefix(path, filepath.Dir(wd)+string(filepath.Separator))] = string(b)
			}
			return nil
		})
		b, _ := json.Marshal(s)
		_ = os.WriteFile(file, b, 0o600)
	}
	switch how {
	case "hang": // with a child of its own, which holds a connection as long as it lives
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "FAKE_PROGRAM=child")
		child.Stdout = os.Stdout
		_ = child.Start()
		select {}
	case "child":
		if conn, err := net.Dial("tcp", os.Getenv("FAKE_ADDR")); err == nil {
			_, _ = conn.Write([]byte("alive"))
		}
		select {}
	case "fail":
		fmt.Fprintln(os.Stderr, "starting\n\x1b[31mnot logged in")
		os.Exit(3)
	case "echo":
		fmt.Fprintln(os.Stderr, string(stdin))
		os.Exit(1)
	case "flood":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("x"), 3<<20))
	case "again": // a judge that asks a judge
		c, err := NewClient(Config{Command: Command{Args: []string{os.Args[0]}}})
		if err == nil {
			_, err = c.JSON(context.Background(), question())
		}
		fmt.Printf(`{"type":"error","reason":%q}`, fmt.Sprint(err))
	default:
		fmt.Print(how)
	}
}

// judgeBy returns a client that runs the test binary, and what the program will have seen.
func judgeBy(t *testing.T, how, agent string, change ...func(*Config)) (*Client, func() seen) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "seen.json")
	t.Setenv("FAKE_PROGRAM", how)
	t.Setenv("FAKE_SEEN", file)
	t.Setenv(JudgeMark, "")
	exe, err := os.Executable()
	require.NoError(t, err)
	cfg := Config{Command: Command{Agent: agent, Args: []string{exe}}}
	for _, ch := range change {
		ch(&cfg)
	}
	c, err := NewClient(cfg)
	require.NoError(t, err)
	return c, func() (s seen) {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &s))
		return s
	}
}

func TestCommand(t *testing.T) {
	t.Setenv("CLAUDECODE", "1")
	c, saw := judgeBy(t, "thinking …\n"+good, "", func(c *Config) { c.Model = "mine" })
	a, err := c.JSON(t.Context(), question())
	require.NoError(t, err)
	assert.JSONEq(t, good, string(a.Object))
	assert.Equal(t, "mine", a.Usage.Model)
	s := saw()
	assert.Equal(t, "Answer in JSON.\n"+outText, s.Stdin)
	assert.Empty(t, s.Args)
	assert.Empty(t, s.Folder, "an empty folder")
	assert.Contains(t, s.Env, JudgeMark+"=1")
	assert.NotContains(t, s.Env, "CLAUDECODE=1")
	wd, err := os.Getwd()
	require.NoError(t, err)
	assert.NotContains(t, s.Env, "PWD="+wd)
}

// A program runs in another folder than it was named in, and may look for its files beside itself.
func TestProgramOfARelativeName(t *testing.T) {
	c, saw := judgeBy(t, good, "", func(c *Config) {
		t.Chdir(filepath.Dir(c.Command.Args[0]))
		c.Command.Args[0] = "." + string(filepath.Separator) + filepath.Base(c.Command.Args[0])
	})
	_, err := c.JSON(t.Context(), question())
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(saw().Program), saw().Program)
}

func TestCommandsThatFail(t *testing.T) {
	if testing.Short() {
		t.Skip("long under the race detector, and of one goroutine")
	}
	for _, tt := range []struct {
		how, agent string
		answered   bool
		want       string
	}{
		{"fail", "", false, " ended with exit status 3: not logged in"},
		{"fail", "claude", false, " ended with exit status 3: not logged in"},
		{"echo", "", false, " ended with exit status 1"},
		{"flood", "", true, "unparseable answer: it is larger than 1 MiB"},
		{"no verdict", "", true, "unparseable answer: no JSON object in it"},
		{good, "claude", true, "unparseable answer: no result in claude's JSON envelope"},
		{good, "codex", true, "unparseable answer: no result in codex's JSON envelope"},
		{good, "gemini", true, "unparseable answer: no result in gemini's JSON envelope"},
		{`{"is_error":true,"result":"Not logged in · Please run /login"}`, "claude", false,
			" reports an error: Not logged in · Please run /login"},
		{`{"type":"turn.failed","error":{"message":"usage limit reached"}}`, "codex", false,
			" reports an error: usage limit reached"},
		{`{"error":{"message":"quota"}}`, "gemini", false, " reports an error: quota"},
	} {
		t.Run(tt.agent+" "+tt.how[:4], func(t *testing.T) {
			c, _ := judgeBy(t, tt.how, tt.agent)
			_, err := c.JSON(t.Context(), question())
			var e *Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, tt.answered, e.Answered)
			assert.True(t, strings.HasSuffix(err.Error(), tt.want), err)
			requireDiscreet(t, err)
		})
	}
	c, err := NewClient(Config{Command: Command{Args: []string{"no-such-program-at-all"}}})
	require.NoError(t, err)
	_, err = c.JSON(t.Context(), question())
	assert.EqualError(t, err, "llm: cannot run no-such-program-at-all: executable file not found in $PATH")
}

// At the limit every process of the group ends, also one that the program started.
func TestTheWholeGroupEndsAtTheLimit(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	t.Setenv("FAKE_ADDR", l.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, _ := judgeBy(t, "hang", "", func(c *Config) { c.Timeout = time.Minute })
	failed := make(chan error, 1)
	go func() {
		_, err := c.JSON(ctx, question())
		failed <- err
	}()
	conn, err := l.Accept()
	require.NoError(t, err)
	defer conn.Close()
	alive := make([]byte, 5)
	_, err = io.ReadFull(conn, alive)
	require.NoError(t, err)
	cancel() // as a deadline would
	assert.ErrorIs(t, <-failed, context.Canceled)
	_, err = conn.Read(alive)
	assert.Error(t, err, "the child is gone")
}

// A judge asks no other judge, whatever starts it.
func TestNoRecursion(t *testing.T) {
	c, _ := judgeBy(t, "again", "")
	a, err := c.JSON(t.Context(), question())
	require.NoError(t, err)
	assert.Contains(t, string(a.Object), "a judge asks no other")
	t.Setenv(JudgeMark, "1")
	_, err = c.JSON(t.Context(), question())
	assert.ErrorContains(t, err, "this process is part of a judge, and a judge asks no other")
}

// What each agent is given. The flags were seen to work in the real programs; .ci/hosts plays them.
func TestAgents(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(home, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("codex/config.toml",
		"model = \"x\"\n[mcp_servers.docs]\ncommand = \"y\"\n[mcp_servers.docs.env]\nA = \"b\"\n"+
			" mcp_servers.web-2.url = \"z\"\n")
	write(".gemini/settings.json", `{"security": {"auth": {"selectedType": "oauth-personal"}}, "hooks": {}}`)
	write(".gemini/oauth_creds.json", `{"refresh_token":"r"}`)
	write("copilot/config.json", `{"loggedInUsers":[]}`)
	t.Setenv("CODEX_HOME", filepath.Join(home, "codex"))
	t.Setenv("GEMINI_CLI_HOME", home)
	t.Setenv("COPILOT_HOME", filepath.Join(home, "copilot"))
	for _, name := range []string{"COPILOT_MODEL", "COPILOT_PROVIDER_BASE_URL"} {
		t.Setenv(name, "")
	}
	quoted, err := json.Marshal(good)
	require.NoError(t, err)
	for _, tt := range []struct {
		agent, says string
		usage       classify.Usage
		args        []string // pairs that must be there
		env         []string
		files       map[string]string
		both        bool // the instructions come with the question
	}{
		{"claude", `{"is_error":false,"result":"x","structured_output":` + good +
			`,"total_cost_usd":0.002,"modelUsage":{"haiku-9":{}},` +
			`"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":5}}`,
			classify.Usage{Model: "haiku-9", PromptTokens: 60, CachedTokens: 30, CompletionTokens: 5, CostUSD: 0.002},
			[]string{"--model haiku", "--tools ", "--strict-mcp-config --disable-slash-commands",
				`--settings {"disableAllHooks":true}`, "--json-schema {"},
			[]string{"CLAUDE_CODE_SAFE_MODE=1", "MAX_THINKING_TOKENS=0"}, map[string]string{"system.md": "Answer in JSON."},
			false},
		{"codex", "{\"type\":\"turn.started\"}\n" + `{"type":"item.completed","item":{"type":"agent_message","text":` +
			string(quoted) + `}}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":60,"cached_input_tokens":30,"output_tokens":5}}`,
			classify.Usage{PromptTokens: 60, CachedTokens: 30, CompletionTokens: 5},
			[]string{"exec --ephemeral", "--sandbox read-only", "-c features.hooks=false", "-c features.shell_tool=false",
				"-c mcp_servers.docs.enabled=false -c mcp_servers.web-2.enabled=false", "-c model_reasoning_effort=low"},
			nil, map[string]string{"schema.json": string(schema)}, true},
		{"gemini", `{"response":` + string(quoted) +
			`,"stats":{"models":{"flash-9":{"tokens":{"prompt":60,"cached":30,"candidates":3,"thoughts":2}}}}}`,
			classify.Usage{Model: "flash-9", PromptTokens: 60, CachedTokens: 30, CompletionTokens: 5},
			[]string{"--model flash", "--extensions none", "--allowed-mcp-server-names none"}, nil,
			map[string]string{"system.md": "Answer in JSON.", "home/.gemini/oauth_creds.json": `{"refresh_token":"r"}`,
				"home/.gemini/settings.json": strings.Replace(geminiSettings, "null", `"oauth-personal"`, 1)}, false},
		{"copilot", good, classify.Usage{Model: "gpt-5-mini"},
			[]string{"--model gpt-5-mini", "--available-tools=none", "--disable-builtin-mcps"}, nil,
			map[string]string{"home/config.json": `{"loggedInUsers":[]}`}, true},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			c, saw := judgeBy(t, tt.says, tt.agent)
			a, err := c.JSON(t.Context(), question())
			require.NoError(t, err)
			assert.JSONEq(t, good, string(a.Object))
			a.Usage.Latency, tt.usage.Attempts = 0, 1
			assert.Equal(t, tt.usage, a.Usage)
			s := saw()
			for _, arg := range tt.args {
				assert.Contains(t, strings.Join(s.Args, " ")+" ", arg)
			}
			for _, variable := range tt.env {
				assert.Contains(t, s.Env, variable)
			}
			for name, text := range tt.files {
				assert.Equal(t, text, s.Files[filepath.FromSlash(name)], name)
			}
			assert.Equal(t, tt.both, strings.HasPrefix(s.Stdin, "Answer in JSON."))
			assert.True(t, strings.HasSuffix(s.Stdin, outText))
			assert.Empty(t, s.Folder)
			if variable := map[string]string{"gemini": "GEMINI_CLI_HOME=",
				"copilot": "COPILOT_HOME="}[tt.agent]; variable != "" {
				i := slices.IndexFunc(s.Env, func(v string) bool { return strings.HasPrefix(v, variable) })
				dir := strings.TrimPrefix(s.Env[i], variable)
				assert.Contains(t, dir, "sidecoach-judge-", "a home of its own")
				assert.NoDirExists(t, dir, "which is gone")
			}
		})
	}

	c, saw := judgeBy(t, `{"result":`+string(quoted)+`}`, "claude", func(c *Config) { c.Model, c.Effort = "opus", "high" })
	_, err = c.JSON(t.Context(), question())
	require.NoError(t, err)
	assert.Contains(t, strings.Join(saw().Args, " "), "--model opus")
	assert.Contains(t, strings.Join(saw().Args, " "), "--effort high")
}

func TestCodexServers(t *testing.T) {
	for config, want := range map[string]string{
		"": "",
		"# mcp_servers.x\nmodel = \"mcp_servers\"": "",
		"[mcp_servers.a]\n[ mcp_servers . b-c ]":   "-c mcp_servers.a.enabled=false -c mcp_servers.b-c.enabled=false",
		"[mcp_servers.\"a.b\"]":                    "--ignore-user-config",
		"mcp_servers = { a = {} }":                 "--ignore-user-config",
	} {
		assert.Equal(t, want, strings.Join(withoutServers(config), " "), config)
	}
}
