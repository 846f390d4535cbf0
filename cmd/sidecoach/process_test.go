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
		strings.Repeat("- изменил вызов в importer.go:120, чтобы порядок заголовка сохранялся\n", 16) +
		"\nТесты должны теперь проходить. Готово.\n",
	"Chinese": "导入现在保留列的顺序。\n\n" +
		strings.Repeat("- 修改了 importer.go:120 中的调用，保留表头的顺序\n", 32) +
		"\n测试应该会通过。已完成。\n",
	"Japanese": "インポートは列の順序を保つようになりました。\n\n" +
		strings.Repeat("- importer.go:120 の呼び出しを変更し、ヘッダーの順序を保持しました\n", 22) +
		"\nテストは通るはずです。完了しました。\n",
}

// BenchmarkProcess runs the program on outputs of 2 kB, and as the stop hook of Claude Code on the English one, and in turn a
// program that only reads its input. x/reader is the ratio of the medians.
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	build := func(name, source string) string {
		bin := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			bin += ".exe"
		}
		if out, err := exec.Command("go", "build", "-o", bin, source).CombinedOutput(); err != nil {
			b.Fatalf("go build %s: %v\n%s", source, err, out)
		}
		return bin
	}
	sidecoach, reader := build("sidecoach", "."), build("reader", "./testdata/reader/reader.go")
	for _, name := range slices.Sorted(maps.Keys(reports2kB)) {
		b.Run(name, func(b *testing.B) {
			inTurn(b, func(int) string { return reports2kB[name] }, reader, sidecoach)
		})
	}
	b.Run("hook", func(b *testing.B) {
		log := transcriptFile(b, dir)
		inTurn(b, func(n int) string { // each in a session of its own: a turn that is the human's stays so
			payload, err := json.Marshal(map[string]any{
				"hook_event_name": "Stop", "session_id": "s" + strconv.Itoa(n), "cwd": dir, "stop_hook_active": false,
				"transcript_path": log, "last_assistant_message": reports2kB["English"],
			})
			require.NoError(b, err)
			return string(payload)
		}, reader, sidecoach, "hook", "claude", "--state", b.TempDir())
	})
}

// transcript writes one of a short turn: a prompt and six runs of a tool.
func transcriptFile(b *testing.B, dir string) string {
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
	file := filepath.Join(dir, "transcript.jsonl")
	require.NoError(b, os.WriteFile(file, []byte(lines.String()), 0o666))
	return file
}

// inTurn runs a program and the reader on the same input, one after the other. text returns the input of the nth time.
func inTurn(b *testing.B, text func(n int) string, reader, program string, args ...string) {
	input := filepath.Join(b.TempDir(), "input")
	var took [2][]time.Duration
	for n := 0; b.Loop(); n++ {
		require.NoError(b, os.WriteFile(input, []byte(text(n)), 0o666))
		for i, cmd := range []*exec.Cmd{exec.Command(program, args...), exec.Command(reader)} {
			f, err := os.Open(input)
			require.NoError(b, err)
			cmd.Stdin = f
			start := time.Now()
			err = cmd.Run()
			took[i] = append(took[i], time.Since(start))
			require.NoError(b, err)
			require.NoError(b, f.Close())
		}
	}
	median := func(ds []time.Duration) float64 {
		slices.Sort(ds)
		return float64(ds[len(ds)/2])
	}
	b.ReportMetric(median(took[0])/1e6, "ms/sidecoach")
	b.ReportMetric(median(took[1])/1e6, "ms/reader")
	b.ReportMetric(median(took[0])/median(took[1]), "x/reader")
	b.ReportMetric(0, "ns/op") // it is both programs
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
		assert.Less(t, allocs, 100, m[1])
	}
	assert.NotZero(t, found, "%.500s", stderr.String())
}
