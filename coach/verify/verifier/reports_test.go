package verifier_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/cmdwitness"
	"github.com/sidecoach/sidecoach/coach/verify/gitwitness"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
)

// story is a report about work that is done in a repository of its own.
type story struct {
	lang, name, command      string
	repo                     map[string]string
	before, do, report, vars string
}

func stories(t *testing.T) []story {
	t.Helper()
	names, err := filepath.Glob("../testdata/reports/*.txtar")
	require.NoError(t, err)
	var all []story
	for _, file := range names {
		archive, err := txtar.ParseFile(file)
		require.NoError(t, err)
		_, command, _ := strings.Cut(string(archive.Comment), "command:")
		parts, repo := map[string]string{}, map[string]string{}
		for _, f := range archive.Files {
			if name, ok := strings.CutPrefix(f.Name, "repo/"); ok {
				repo[name] = string(f.Data)
			} else {
				parts[f.Name] = string(f.Data)
			}
		}
		for _, f := range archive.Files {
			name, ok := strings.CutSuffix(f.Name, "/report")
			if !ok {
				continue
			}
			lang, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".txtar"), "-")
			s := story{lang: lang, name: name, command: strings.TrimSpace(command), repo: repo,
				before: parts[name+"/before"], do: parts[name+"/do"], report: parts[f.Name], vars: parts[name+"/env"]}
			if c := parts[name+"/command"]; c != "" {
				s.command = strings.TrimSpace(c)
			}
			all = append(all, s)
		}
	}
	return all
}

// shell runs a script in a folder.
func shell(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		// No processes and files that no test needs.
		"GIT_TEMPLATE_DIR=", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		"GIT_CONFIG_KEY_1=core.logAllRefUpdates", "GIT_CONFIG_VALUE_1=false")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s\n%s", script, out)
	return strings.TrimSpace(string(out))
}

// play does the work of a story, and returns the folder, the baseline and the report.
func (s story) play(t *testing.T) (dir, base, report string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range s.repo {
		full := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o644))
	}
	begin := "git init -qb main; git add -A; git commit -qm begin\n"
	if s.before != "" {
		begin += s.before + "\ngit add -A; git commit -qm before\n"
	}
	base = shell(t, dir, begin+"git rev-parse HEAD")
	shell(t, dir, s.do)
	report = regexp.MustCompile(`\{git:(.*?)\}`).ReplaceAllStringFunc(s.report, func(m string) string {
		return shell(t, dir, "git rev-parse --short "+strings.TrimSuffix(strings.TrimPrefix(m, "{git:"), "}"))
	})
	return dir, base, report
}

func (s story) verify(t *testing.T) (verify.Status, []string, *verify.Review) {
	t.Helper()
	for line := range strings.Lines(s.vars) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		t.Setenv(name, value)
	}
	dir, base, text := s.play(t)
	return s.verifyIn(t, dir, base, text)
}

// verifyIn verifies a report on a story that was played.
func (s story) verifyIn(t *testing.T, dir, base, text string) (verify.Status, []string, *verify.Review) {
	t.Helper()
	report, err := verify.ParseReport([]byte(text))
	require.NoError(t, err)
	v := &verifier.Verifier{Dir: dir, Commands: [][]string{strings.Fields(s.command)}, Baseline: base}
	review, err := v.Review(t.Context(), verify.Task{ID: "T"}, nil, report)
	require.NoError(t, err)
	status, why := review.Standing()
	return status, why, review
}

// sight is what a witness saw of a story, for many reports on it.
type sight struct {
	task  verify.Task
	facts verify.Facts
}

// look looks once at all that reports on a story that was played claim, and runs its command once.
func (s story) look(t *testing.T, dir, base string, reports ...string) sight {
	t.Helper()
	task := verify.Task{ID: "T", Baseline: base, Commands: [][]string{strings.Fields(s.command)}}
	all := verify.Query{Baseline: base, Commands: task.Commands}
	for _, text := range reports {
		q := begun(t, task, text).Query()
		all.Paths, all.Commits = append(all.Paths, q.Paths...), append(all.Commits, q.Commits...)
		all.Tests, all.Names = append(all.Tests, q.Tests...), append(all.Names, q.Names...)
		all.Branches, all.Shown = append(all.Branches, q.Branches...), append(all.Shown, q.Shown...)
		all.Claimed, all.Before = append(all.Claimed, q.Claimed...), all.Before || q.Before
	}
	git := &gitwitness.Witness{Dir: dir}
	defer git.Close()
	facts, err := git.Look(t.Context(), all)
	require.NoError(t, err)
	seen, err := (&cmdwitness.Witness{Dir: dir}).Look(t.Context(), all)
	require.NoError(t, err)
	facts.Runs, facts.Missing = seen.Runs, seen.Missing
	return sight{task, facts}
}

// verify verifies one of the reports.
func (s sight) verify(t *testing.T, text string) (verify.Status, []string, *verify.Review) {
	t.Helper()
	review := begun(t, s.task, text)
	review.Observe(s.facts)
	status, why := review.Standing()
	return status, why, review
}

func begun(t *testing.T, task verify.Task, text string) *verify.Review {
	t.Helper()
	report, err := verify.ParseReport([]byte(text))
	require.NoError(t, err)
	return verify.Begin(task, nil, report)
}

func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
}

// Honest reports are not called false, and lies are not approved.
func TestReports(t *testing.T) {
	needs(t, "git", "sh")
	all := os.Getenv("SIDECOACH_ALL") != ""
	counts := map[string]int{}
	played := map[string]bool{}
	for _, s := range stories(t) {
		t.Run(s.lang+"/"+s.name, func(t *testing.T) {
			needs(t,
				map[string]string{"go": "go", "javascript": "npm", "python": "python3", "rust": "cargo", "make": "make"}[s.lang])
			if !all && played[s.lang] {
				t.Skip("set SIDECOACH_ALL=1 for all of them, not one a language: they take a minute")
			}
			played[s.lang] = true
			status, why, review := s.verify(t)
			kind, _, _ := strings.Cut(s.name, "/")
			counts[kind+" "+status.String()]++
			t.Logf("%s %q", status, why)
			if kind == "lie" {
				require.NotEqual(t, verify.Met, status, "a lie was approved")
				require.NotEmpty(t, why, "nothing says why")
				return
			}
			require.NotEqual(t, verify.NotMet, status, "%q", why)
			require.False(t, slices.ContainsFunc(review.Honesty().Discrepancies, func(d verify.Discrepancy) bool {
				return d.Severity == "critical"
			}), "an honest claim was called false: %+v", review.Honesty().Discrepancies)
		})
	}
	t.Log(counts)
}
