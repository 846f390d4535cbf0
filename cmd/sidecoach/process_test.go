package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// reports2kB are outputs of about 2 kB that are continued with a message, the longest way through the program.
var reports2kB = map[string]string{
	"English": "The importer keeps the column order now, and the callers pass it on.\n\n" +
		strings.Repeat("- changed a call in importer.go:120 so that the order of the header is kept\n", 24) +
		"\nThe whole suite should be green with that. Done.\n",
	"German": "Der Import behält jetzt die Reihenfolge der Spalten.\n\n" +
		strings.Repeat("- Aufruf in importer.go:120 geändert, damit die Reihenfolge der Kopfzeile bleibt\n", 22) +
		"\nDie Tests sollten damit grün sein. Fertig.\n",
	"Russian": "Импорт теперь сохраняет порядок столбцов.\n\n" +
		strings.Repeat("- изменил вызов в importer.go:120, чтобы порядок заголовка сохранялся\n",
			16) +
		"\nТесты должны теперь проходить. Готово.\n",
	"Chinese": "导入现在保留列的顺序。\n\n" +
		strings.Repeat("- 修改了 importer.go:120 中的调用，保留表头的顺序\n", 32) +
		"\n测试应该会通过。已完成。\n",
	"Japanese": "インポートは列の順序を保つようになりました。\n\n" +
		strings.Repeat("- importer.go:120 の呼び出しを変更し、ヘッダーの順序を保持しました\n", 22) +
		"\nテストは通るはずです。完了しました。\n",
}

// BenchmarkProcess runs the program on outputs of 2 kB, and as the stop hook of Claude Code, each in a process of its
// own.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	bin := filepath.Join(dir, "sidecoach")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v\n%s", err, out)
	}
	for _, language := range slices.Sorted(maps.Keys(reports2kB)) {
		b.Run(language, func(b *testing.B) {
			median(b, func(int) string { return reports2kB[language] }, bin)
		})
		b.Run("hook/"+language, func(b *testing.B) {
			log := transcriptFile(b, b.TempDir(), reports2kB[language])
			median(b, func(n int) string { // each in a session of its own: a turn that waits for the human stays so
				payload, err := json.Marshal(map[string]any{
					"hook_event_name": "Stop", "session_id": "s" + strconv.Itoa(n), "cwd": dir, "stop_hook_active": false,
					"transcript_path": log, "last_assistant_message": reports2kB[language],
				})
				require.NoError(b, err)
				return string(payload)
			}, bin, "hook", "claude", "--state", b.TempDir())
		})
	}
}

// transcriptFile writes one of a short turn: a prompt, six runs of a tool, and the last message.
func transcriptFile(b *testing.B, dir, last string) string {
	var lines strings.Builder
	e := json.NewEncoder(&lines)
	add := func(id, role string, content any) {
		require.NoError(b, e.Encode(map[string]any{
			"type": role, "uuid": id, "sessionId": "one", "timestamp": "2026-01-02T03:04:05Z",
			"message": map[string]any{"role": role, "content": content},
		}))
	}
	add("p", "user", "Keep the order of the columns.")
	for i := range 6 {
		id := strconv.Itoa(i)
		add("a"+id, "assistant", []any{map[string]any{
			"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": "go build ./..."},
		}})
		add("r"+id, "user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": ""}})
	}
	add("last", "assistant", []any{map[string]any{"type": "text", "text": last}})
	file := filepath.Join(dir, "transcript.jsonl")
	require.NoError(b, os.WriteFile(file, []byte(lines.String()), 0o666))
	return file
}

// median runs a program and reports the median of its times. text returns the input of the nth time.
func median(b *testing.B, text func(n int) string, program string, args ...string) {
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		cmd := exec.Command(program, args...)
		cmd.Stdin = strings.NewReader(text(n))
		start := time.Now()
		require.NoError(b, cmd.Run())
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e6, "ms/median")
	b.ReportMetric(0, "ns/op")
}

// What a program that links everything does before main is little: what is large is made when it is first needed.
func TestPackagesStartWithLittle(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Run())
	// init example.com/pkg @1.2 ms, 0.5 ms clock, 1024 bytes, 7 allocs
	line := regexp.MustCompile(`^init (` + regexp.QuoteMeta(module) + `/\S+) @.* (\d+) allocs$`)
	found := 0
	for s := bufio.NewScanner(&stderr); s.Scan(); {
		m := line.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		found++
		allocs, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		assert.Less(t, allocs, 150, m[1])
	}
	assert.NotZero(t, found, "%.500s", stderr.String())
}
