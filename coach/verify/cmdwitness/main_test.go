package cmdwitness

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// child, as the first argument, makes the test program one of the programs below.
const child = "-be-a-child="

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], child) {
		beChild(strings.TrimPrefix(os.Args[1], child), os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

func beChild(what string, args []string) {
	switch what {
	case "exit":
		n, _ := strconv.Atoi(args[0])
		fmt.Println("to stdout")
		fmt.Fprintln(os.Stderr, "to stderr")
		os.Exit(n)
	case "say":
		fmt.Print(args[0])
	case "fail":
		fmt.Print(args[0])
		os.Exit(2)
	case "environment":
		fmt.Print(strings.Join(os.Environ(), "\n"))
	case "flood":
		line := strings.Repeat("x", 1<<20)
		for range 1 << 7 { // 128 MiB
			if _, err := io.WriteString(os.Stdout, line); err != nil {
				os.Exit(3)
			}
		}
		fmt.Println("\nthe end")
	case "flood without end":
		for {
			if _, err := os.Stdout.WriteString("flood\n"); err != nil {
				os.Exit(3)
			}
		}
	case "hang":
		fmt.Println("hanging")
		time.Sleep(time.Hour)
	case "leave a grandchild": // which holds the output open; args[0]: whether the child waits for it
		c := exec.Command(os.Args[0], child+"hang")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			os.Exit(4)
		}
		fmt.Println("grandchild", c.Process.Pid)
		if args[0] == "wait" {
			_ = c.Wait()
		}
	case "run": // a command whose end nobody waits for
		_, _ = Run(context.Background(),
			Command{Args: []string{os.Args[0], child + "leave a grandchild", "wait"}, Dir: ".", Stdout: os.Stdout})
	case "report": // writes args[1] to the file args[0]
		if err := os.WriteFile(args[0], []byte(args[1]), 0o600); err != nil {
			os.Exit(5)
		}
	}
}

// as returns the arguments of one of the programs above.
func as(t *testing.T, what string, args ...string) []string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return append([]string{self, child + what}, args...)
}
