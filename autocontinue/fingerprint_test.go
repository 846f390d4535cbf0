package autocontinue

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

var folds = map[string][]string{
	"white space": {
		"Still working.\nNext: tests", "Still  working.\r\n\r\n\tNext: tests ",
		"\uFEFFStill working. Next: tests\u00a0",
	},
	"case":            {"All DONE now, LAZY", "all done NOW, lazY", "ALL done Now, laZy"},
	"case, not ASCII": {"ÜBER Größe ΣΑΣ", "über größe σας"},
	"punctuation":     {"Done: it's fixed!", "**Done** - it’s `fixed`...", "(Done) “it's” fixed"},
	"emphasis":        {"_really_ done", "really __done__", "really done"},
	"times of day": {
		"At 12:30 all ran", "at 09:05:59 all ran", "at 9:05 PM all ran", "at 9:05:07+0200 all ran",
		"at 12:30:05.123Z all ran", "at 9pm all ran", "at 12:30:05+02:00 all ran",
	},
	"dates": {
		"on 2024-05-01 it ran", "on 2025-11-30 it ran", "on 2025/11/30 it ran", "on 2024-05-01T12:30:05Z it ran",
		"on 2024-05-01 12:30 it ran", "on 5/31/2024 it ran",
	},
	"durations": {
		"ok in 3.2s", "ok in 150ms", "ok in 1m5s", "ok in 2 minutes", "ok in 12 sec", "ok in 1h 2m 3s",
		"ok in 7 µs", "ok in 7\nseconds", "ok in 4 days",
	},
	"hashes": {
		"commit 3f2a9bc", "commit 9bc3f2a", "commit 0a1b2c3d4e5f60718293a4b5c6d7e8f901234567", "commit 3F2A9BC",
	},
	"addresses":       {"panic at 0xc000123", "panic at 0x7f001122aabb", "panic at 0x00112233"},
	"line numbers":    {"parser.go:12:3 undefined", "parser.go:140:12 undefined", "parser.go:7 undefined"},
	"other positions": {"a.ts(12,3) bad", "a.ts(4,17) bad", "a.ts(4) bad"},
	"anchors":         {"see main.go#L12", "see main.go#L140"},
	"lines in words": {
		"fails on line 12", "fails on line 140", "Fails on line 3-9", "fails on line 3–9", "fails on\nline\n7",
	},
	"lines of a file": {"line 12 of main.go", "line 14 of main.go"},
	"UUIDs": {
		"job 550e8400-e29b-41d4-a716-446655440000 died", "job 6ba7b810-9dad-11d1-80b4-00c04fd430c8 died",
		"job 6BA7B810-9DAD-11D1-80B4-00C04FD430C8 died",
	},
	"UUIDs, prefixed": {
		"sess_550e8400-e29b-41d4-a716-446655440000 died", "sess_6ba7b810-9dad-11d1-80b4-00c04fd430c8 died",
	},
	"request IDs": {
		"failed: req_8f3kq2", "failed: req_011CSHoEeqs5C35K2UUGrPrE", "failed: toolu_01A09q90qw90lq917835lq9",
	},
	"IDs after a dash": {
		"queued job-8f3kq2", "queued job-9f3kq3",
		"queued job-550e8400-e29b-41d4-a716-446655440000",
	},
	"long numbers":      {"build 1714557005123", "build 9914557005123"},
	"nonsense names":    {"in tmp/k3j9x2ab71", "in tmp/z8y7x6w5v4", "in tmp/abc12def34", "in tmp/a1b2c3d_e4f5g6h7i8j9k0"},
	"the ends of marks": {"0x123abc x.scala:3 123456789012 12:30:05,123", "0x123abd x.scala:4 123456789013 12:30:05,124"},
	"emoji":             {"✅ ok", "✅\uFE0F ok"},
}

func TestFingerprintFolds(t *testing.T) {
	for name, same := range folds {
		t.Run(name, func(t *testing.T) {
			for _, other := range same[1:] {
				assert.Equal(t, fingerprint(same[0]), fingerprint(other), "%q and %q", same[0], other)
			}
		})
	}
}

var keeps = map[string][]string{
	"counts": {"3 of 10", "4 of 10", "3 of 11", "3/9 of 10"},
	"counts with units": {
		"Imported 3M of 10M rows", "Imported 4M of 10M rows", "3 s of 90",
	},
	"millions":           {"Imported 3m rows", "Imported 4m rows"},
	"counts with colons": {"passed:12", "passed:13"},
	"percentages":        {"45% covered", "46% covered"},
	"coverage of lines": {
		"lines 45% covered", "lines 46% covered", "lines: 47 covered", "lines: 48 covered", "lines 45.5 covered",
	},
	"lines counted":    {"42 lines left", "41 lines left"},
	"no units of time": {"2 US states", "3 US states", "2D model", "3D model"},
	"steps":            {"step 2 done", "step 3 done", "task-2 done", "task-3 done", "run_42 done", "run_43 done"},
	"tests":            {"12 passed, 3 failed", "13 passed, 2 failed", "12 passed 3s failed"},
	"tickets":          {"Ticket 1234567", "Ticket 1234568"},
	"versions":         {"go1.25 needed", "go1.26 needed"},
	"words":            {"defaced", "effaced", "facade"},
	"marks":            {"✅ build", "❌ build", "build"},
	"names":            {"fixed parser.go", "fixed lexer.go", "fixed utf8mb4", "fixed x86_64"},
	"sizes":            {"3 MB of 10 MB", "4 MB of 10 MB"},
	"other languages":  {"готово", "готов", "完成", "未完成"},
	"not UTF-8":        {"a\xffb", "ab", "a b"},
	"letters together": {"naïve", "na ï ve", "nai\u0308ve", "nai \u0308 ve", "x²", "x ²"},
	"mixed names": {
		"fixed handler2a", "fixed handler3a", "a1b", "a1c",
	},
	"short names": {
		"0x10", "0x20", "0x10zzzzz", "0x20zzzzz", "job-v2", "job-v3", "job_v2", "job_v3",
		"job-12345", "job-12346",
	},
	"eleven digits": {"12345678901", "12345678902"},
	"snake case":    {"a_long_name_of_things_1", "a_long_name_of_things_2"},
	"no line numbers": {
		"a:12", "a:13", "x.abcdef:3", "x.abcdef:4", ".go:3", ".go:4", "fn(3)", "fn(4)", "a.go(3 b", "a.go(4 b",
		"main#L3", "main#L4", "a.go#X3", "a.go#X4", "line-3", "line-4", "3:4:5", "3:4:6",
	},
	"a line or none": {"x.go", "x.go:3", "line", "line 3", "line 3a", "line 4a"},
	"no times": {
		"9xm", "8xm", "12:3", "12:4", "112:30", "113:30", "2024-05-01x", "2024-06-01x", "2024-05-01tea", "12:30x",
		"12:31x", "9 am", "8 am",
	},
	"a time or none": {"it ran", "it ran 12:30", "it ran in 3s", "it ran as 3f2a9bc"},
	"no durations": {
		"2h5", "3h5", "3.5", "3.6", "5;3", "5;4", "2s_x", "3s_x", "3stars", "4stars",
		"5--min", "6--min",
	},
	"visible or not": {"", "...", "?!  \n a"},
}

func TestFingerprintKeeps(t *testing.T) {
	for name, differ := range keeps {
		t.Run(name, func(t *testing.T) {
			seen := make(map[digest]string)
			for _, text := range differ {
				k := fingerprint(text)
				assert.Empty(t, seen[k], "same as %q", text)
				seen[k] = text
			}
		})
	}
}

func TestBlank(t *testing.T) {
	for _, text := range []string{"", " ", "\n\r\t\v\f", "\u00a0\u2003\u3000", "\uFEFF", "\u200b\u200d", "\x00",
		"\x1b[0m\n", " \x1b[32m \x1b[0m ", strings.Repeat("\u200b", maxFolded)} {
		assert.Equal(t, blankFingerprint, fingerprint(text), "%q", text)
	}
	for _, text := range []string{".", "0", "\x1b[32mok\x1b[0m", "\xff", "✅"} {
		assert.NotEqual(t, blankFingerprint, fingerprint(text), "%q", text)
	}
}

// Where a text ends makes no difference to what it is: it ends as if white space followed.
func TestFingerprintOfEveryBeginning(t *testing.T) {
	for _, table := range []map[string][]string{folds, keeps} {
		for _, texts := range table {
			for _, text := range texts {
				for i := range len(text) + 1 {
					assert.Equal(t, fingerprint(text[:i]+"\n"), fingerprint(text[:i]), "%q", text[:i])
				}
			}
		}
	}
}

// The time is seen in the benchmark; here only that every kind of long text comes to an end.
func TestFingerprintOfLongTexts(t *testing.T) {
	const size = 8 << 10
	for _, unit := range []string{
		"a", "1", " ", "_", "a_", "1.", "1:", "1h", "1 ", "line ", "5 \n", "f", "0x", "-", "é", "\xff", "1h2m3s4x", "job-",
		"a.b:1:", "12:30:", "2024-05-01",
	} {
		text := strings.Repeat(unit, size/len(unit))
		assert.NotEqual(t, fingerprint("other"), fingerprint(text), "%q", unit)
	}
}

func FuzzFingerprint(f *testing.F) {
	for _, text := range []string{
		"", "Still working.\nNext: tests", "12:30:05 parser.go:12:3 line 12 req_8f3kq2 3.2s 5 minutes 3f2a9bc",
		"sess_550e8400-e29b-41d4-a716-446655440000", "a\xffb \u00a0 ✅ é 1h2m3x 0x 1: lines 4 5%",
		"_a_ __ 9pm 2024-05-01 12:30 +02:00 main.go#L12 a.ts(12,3) 7 µs",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		want := fingerprint(text)
		spaced := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return '\n'
			}
			return r
		}, strings.ToValidUTF8(text, "\uFFFD"))
		if utf8.ValidString(text) && fingerprint("\r\n"+spaced+" \t") != want {
			t.Errorf("white space changes the fingerprint of %q", text)
		}
		if fingerprint(swapCase(text)) != want {
			t.Errorf("case changes the fingerprint of %q", text)
		}
		if fingerprint(text+"\nProgress: 3 of 10") == fingerprint(text+"\nProgress: 4 of 10") {
			t.Errorf("counts are lost after %q", text)
		}
		if fingerprint(text+"\nTook: 3.2s") != fingerprint(text+"\nTook: 12ms") {
			t.Errorf("durations count after %q", text)
		}
	})
}

func swapCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'a' <= c|0x20 && c|0x20 <= 'z' {
			b[i] = c ^ 0x20
		}
	}
	return string(b)
}

func BenchmarkFingerprint(b *testing.B) {
	text := strings.Repeat("At 12:30:05 parser.go:12:3 was fixed in 3.2s; 3 of 10 done (3f2a9bc). ", 10<<20/70)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		fingerprint(text)
	}
}
