package llm_test

import (
	"fmt"
	"os"

	"github.com/sidecoach/sidecoach/classify/llm"
)

// An agent's command line with its login, and any program.
func ExampleNewClient_command() {
	for _, command := range []llm.Command{
		{Agent: "claude"}, // or codex, gemini, copilot
		{Args: []string{"ollama", "run", "llama3.1"}},
	} {
		_, err := llm.NewClient(llm.Config{Command: command})
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// <nil>
}

// Servers that speak OpenAI's chat completions.
func ExampleNewClient_endpoint() {
	key := os.Getenv("OPENAI_API_KEY")
	for _, cfg := range []llm.Config{
		{Model: "gpt-4.1-mini", Key: key},
		{Model: "DEPLOYMENT", Key: key, BaseURL: "https://NAME.openai.azure.com/openai/v1"},
		{Model: "llama3.1", BaseURL: "http://localhost:11434/v1"},                                   // Ollama
		{Model: "MODEL", Key: "its --api-key", BaseURL: "http://localhost:8000/v1"},                 // vLLM
		{Model: "MODEL", Key: "its --api-key", BaseURL: "http://localhost:8080/v1"},                 // llama.cpp
		{Model: "MODEL", BaseURL: "http://localhost:1234/v1"},                                       // LM Studio
		{Model: "vendor/name", Key: "sk-or-…", BaseURL: "https://openrouter.ai/api/v1"},             // OpenRouter
		{Model: "MODEL", Key: "sk-ant-…", BaseURL: "https://api.anthropic.com/v1", Format: "plain"}, // Anthropic
	} {
		if cfg.Key == "" && cfg.BaseURL == "" {
			continue // there is no key here
		}
		if _, err := llm.NewClient(cfg); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
}
