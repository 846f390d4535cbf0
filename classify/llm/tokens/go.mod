module github.com/sidecoach/sidecoach/classify/llm/tokens

go 1.26.0

require (
	github.com/sidecoach/sidecoach v0.0.0
	github.com/tiktoken-go/tokenizer v0.8.1
)

require (
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/sashabaranov/go-openai v1.43.0 // indirect
)

replace github.com/sidecoach/sidecoach => ../../..
