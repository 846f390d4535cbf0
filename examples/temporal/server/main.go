// Command server is a whole Temporal server in one process, with its database in memory, for the demonstration and the
// tests beside it on a machine that has nothing but Go. It prints its address and the namespace it made, as one line of
// JSON, and ends when its standard input does, so that it never outlives whoever started it.
//
// It is a module of its own: the server is half a thousand packages and needs its own, older versions of the Go SDK and
// of the API. For anything else use a real one, such as "temporal server start-dev".
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"go.temporal.io/server/temporaltest"
)

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func serve(stdin io.Reader, stdout io.Writer) (err error) {
	defer func() {
		if r := recover(); r != nil { // temporaltest has no other way to say that it could not start
			err = fmt.Errorf("start: %v", r)
		}
	}()
	s := temporaltest.NewServer()
	defer s.Stop()
	err = json.NewEncoder(stdout).Encode(map[string]string{
		"address": s.GetFrontendHostPort(), "namespace": s.GetDefaultNamespace(),
	})
	if err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	if _, err := io.Copy(io.Discard, stdin); err != nil {
		return fmt.Errorf("wait for the end of standard input: %w", err)
	}
	return nil
}
