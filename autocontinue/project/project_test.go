package project_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sidecoach/sidecoach/autocontinue/filestore"
	"github.com/sidecoach/sidecoach/autocontinue/project"
	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/verifier"
	"github.com/sidecoach/sidecoach/plancriteria"
)

var noon = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, state string) *project.Projects {
	t.Helper()
	store, err := filestore.New(state, filestore.Options{NoSync: true})
	require.NoError(t, err)
	return project.Open(store, "claude", func() time.Time { return noon })
}

// repository makes a project with files, given as names and contents.
func repository(t *testing.T, files ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(root, ".git"), 0o755))
	for i := 0; i < len(files); i += 2 {
		write(t, root, files[i], files[i+1])
	}
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
}

const skill = "---\nname: release\ndescription: publish\n---\n"

func TestTheFolderCountsAsLongAsItIsAsAllowed(t *testing.T) {
	root := repository(t, ".sidecoach/config.json", `{"plan":"plan.md"}`, ".sidecoach/coach/en.txt", "x",
		".claude/skills/release/SKILL.md", skill, "src/main.go", "package main")
	p, ctx := open(t, t.TempDir()), t.Context()

	_, err := p.Folder(ctx, root)
	require.ErrorIs(t, err, project.ErrNotAllowed)
	f, err := project.ReadFolder(root)
	require.NoError(t, err)
	assert.Equal(t, []string{
		".claude/skills/release/SKILL.md", ".sidecoach/coach/en.txt", ".sidecoach/config.json",
	}, f.Files)
	require.NoError(t, p.Allow(ctx, f))

	f, err = p.Folder(ctx, filepath.Join(root, "src"))
	require.NoError(t, err)
	assert.Equal(t, `{"plan":"plan.md"}`, string(f.Config()))
	text, err := fs.ReadFile(f.Part("coach"), "en.txt")
	require.NoError(t, err)
	assert.Equal(t, "x", string(text))
	assert.Nil(t, f.Part("lexicon"))
	found, skipped := f.Skills()
	assert.Empty(t, skipped)
	require.Len(t, found, 1)
	assert.Equal(t, "/release", found[0].Trigger)

	for name, change := range map[string]func(){
		"a file":               func() { write(t, root, ".sidecoach/config.json", `{"plan":"evil.md"}`) },
		"a new file":           func() { write(t, root, ".sidecoach/lexicon/en.txt", "") },
		"a skill":              func() { write(t, root, ".claude/skills/release/SKILL.md", skill+"more") },
		"a new skill":          func() { write(t, root, ".agents/skills/x/SKILL.md", skill) },
		"a removed file":       func() { require.NoError(t, os.Remove(filepath.Join(root, ".sidecoach/coach/en.txt"))) },
		"another name":         func() { rename(t, root, ".sidecoach/coach/en.txt", ".sidecoach/coach/de.txt") },
		"the folder is gone":   func() { require.NoError(t, os.RemoveAll(filepath.Join(root, ".sidecoach"))) },
		"a huge file":          func() { write(t, root, ".sidecoach/lexicon/en.txt", strings.Repeat("x", 1<<20+1)) },
		"a link out of it":     func() { link(t, "/etc/hosts", root, ".sidecoach/coach/de.txt") },
		"a link in its place":  func() { rename(t, root, ".sidecoach", "other"); link(t, "/etc", root, ".sidecoach") },
		"a pipe":               func() { pipe(t, root, ".sidecoach/coach/fr.txt") },
		"too many files":       func() { many(t, root) },
		"a nested folder only": func() { write(t, root, ".sidecoach/coach/deep/er/x.txt", "") },
	} {
		t.Run(name, func(t *testing.T) {
			saved := t.TempDir()
			require.NoError(t, os.CopyFS(saved, os.DirFS(root)))
			t.Cleanup(func() {
				for _, dir := range []string{".sidecoach", ".claude", ".agents", "other"} {
					require.NoError(t, os.RemoveAll(filepath.Join(root, dir)))
				}
				for _, dir := range []string{".sidecoach", ".claude"} {
					require.NoError(t, os.CopyFS(filepath.Join(root, dir), os.DirFS(filepath.Join(saved, dir))))
				}
				_, err := p.Folder(ctx, root)
				require.NoError(t, err, "as it was allowed, it counts again")
			})
			change()
			f, err := p.Folder(ctx, root)
			require.Error(t, err)
			assert.Empty(t, f.Files)
			assert.Nil(t, f.Config())
			assert.Nil(t, f.Part("coach"))
		})
	}
}

func rename(t *testing.T, root, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(filepath.Join(root, from), filepath.Join(root, to)))
}

func link(t *testing.T, to, root, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
}

func many(t *testing.T, root string) {
	for i := range 600 {
		write(t, root, fmt.Sprintf(".sidecoach/notes/%d", i), "")
	}
}

func TestAFolderThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		make func(root string)
		want string
	}{
		"none": {func(string) {}, "file does not exist"},
		"a huge file": {func(root string) {
			write(t, root, ".sidecoach/lexicon/en.txt", strings.Repeat("x", 1<<20+1))
		}, "larger than 1024 kB together: .sidecoach/lexicon/en.txt"},
		"a link": {func(root string) {
			write(t, root, ".sidecoach/a", "")
			link(t, "/etc/hosts", root, ".sidecoach/b")
		}, "escapes"},
		"a linked folder": {func(root string) {
			write(t, root, "real/a", "")
			write(t, root, ".sidecoach/a", "")
			link(t, "../real", root, ".sidecoach/coach")
		}, "coach is not a regular file"},
		"too many files": {func(root string) { many(t, root) }, "more than 500 files"},
	} {
		t.Run(name, func(t *testing.T) {
			root := repository(t)
			c.make(root)
			f, err := project.ReadFolder(root)
			require.ErrorContains(t, err, c.want)
			assert.Empty(t, f.Hash)
		})
	}
}

func TestAProjectWithoutAFolder(t *testing.T) {
	f, err := open(t, t.TempDir()).Folder(t.Context(), repository(t, ".claude/skills/release/SKILL.md", skill))
	require.NoError(t, err)
	assert.Empty(t, f.Files)
	found, _ := f.Skills()
	assert.Empty(t, found, "a project's skills need the human's word, too")
}

func goal(change ...func(*project.Goal)) *project.Goal {
	g := &project.Goal{Set: noon, Criteria: []verifier.Criterion{
		{Text: "tests pass", Checks: []plancriteria.Check{{Command: "go test ./..."}}}, {Text: "it reads well"},
	}}
	for _, c := range change {
		c(g)
	}
	return g
}

func wide(g *project.Goal) { g.Wide = true }

func TestAGoalBindsToTheNextSessionOfTheHuman(t *testing.T) {
	type step struct {
		begin, session, dir string // a first prompt, or a pause
		has                 bool
	}
	for name, c := range map[string]struct {
		goal  *project.Goal
		steps []step
	}{
		"the next one": {goal(), []step{
			{session: "old", has: false}, {begin: "a"}, {session: "a", has: true}, {begin: "b"}, {session: "b", has: false},
			{session: "old", has: false},
		}},
		"in a folder below": {goal(), []step{{begin: "a", dir: "src/deep"}, {session: "a", dir: "src", has: true}}},
		"not in another project": {goal(), []step{
			{begin: "a", dir: ".."}, {session: "a", has: false}, {begin: "b"}, {session: "b", has: true},
		}},
		"never to a sub-agent": {goal(), []step{
			{begin: "a/sub"}, {session: "a/sub", has: false}, {begin: "a"}, {session: "a", has: true},
			{session: "a/sub", has: false},
		}},
		"all sessions": {goal(wide), []step{
			{session: "old", has: true}, {begin: "a"}, {session: "a", has: true}, {begin: "b"}, {session: "b", has: true},
			{session: "c", dir: "src", has: true}, {session: "b/sub", has: false}, {session: "d", dir: "..", has: false},
		}},
		"none that has ended": {goal(func(g *project.Goal) { g.Ended = noon }), []step{
			{begin: "a"}, {session: "a", has: false},
		}},
		"no goal": {nil, []step{{begin: "a"}, {session: "a", has: false}}},
	} {
		t.Run(name, func(t *testing.T) {
			root, p, ctx := repository(t, "src/deep/main.go", ""), open(t, t.TempDir()), t.Context()
			require.NoError(t, p.SetGoal(ctx, root, c.goal))
			for i, s := range c.steps {
				dir := s.dir
				if !filepath.IsAbs(dir) {
					dir = filepath.Join(root, dir)
				}
				if s.begin != "" {
					require.NoError(t, p.Begin(ctx, s.begin, dir))
					continue
				}
				g, at, ok, err := p.Goal(ctx, s.session, dir)
				require.NoError(t, err)
				require.Equal(t, s.has, ok, i)
				if ok {
					assert.Equal(t, root, at)
					assert.Len(t, g.Criteria, 2)
				}
			}
		})
	}
}

func TestAGoalThatIsSetAnewBindsAnew(t *testing.T) {
	root, p, ctx := repository(t), open(t, t.TempDir()), t.Context()
	require.NoError(t, p.SetGoal(ctx, root, goal()))
	require.NoError(t, p.Begin(ctx, "a", root))
	later := goal(func(g *project.Goal) { g.Set = noon.Add(time.Minute) })
	require.NoError(t, p.SetGoal(ctx, root, later))
	_, _, ok, err := p.Goal(ctx, "a", root)
	require.NoError(t, err)
	assert.False(t, ok)

	require.NoError(t, p.Change(ctx, root, noon, func(*project.Goal) { panic("the goal of before") }))
	require.NoError(t, p.Begin(ctx, "b", root))
	_, _, ok, err = p.Goal(ctx, "b", root)
	require.NoError(t, err)
	assert.True(t, ok)

	require.NoError(t, p.Change(ctx, root, later.Set, func(g *project.Goal) { g.Ended = noon }))
	_, _, ok, err = p.Goal(ctx, "b", root)
	require.NoError(t, err)
	assert.False(t, ok, "it has ended")

	require.NoError(t, p.SetGoal(ctx, root, nil))
	_, _, ok, err = p.GoalAt(ctx, root)
	require.NoError(t, err)
	assert.False(t, ok)
}

func TestOneOfManySessionsGetsTheGoal(t *testing.T) {
	root, state, ctx := repository(t), t.TempDir(), t.Context()
	require.NoError(t, open(t, state).SetGoal(ctx, root, goal()))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() { assert.NoError(t, open(t, state).Begin(ctx, fmt.Sprint(i), root)) })
	}
	all.Wait()
	bound := 0
	for i := range 16 {
		_, _, ok, err := open(t, state).Goal(ctx, fmt.Sprint(i), root)
		require.NoError(t, err)
		if ok {
			bound++
		}
	}
	assert.Equal(t, 1, bound)
}

func TestLimitAndEnd(t *testing.T) {
	g := *goal(func(g *project.Goal) { g.For, g.Begun = 2*time.Hour, noon })
	assert.Empty(t, g.Limit(noon.Add(119*time.Minute)))
	assert.Equal(t, "The goal's time of 2h0m0s is over.", g.Limit(noon.Add(2*time.Hour)))
	g.Begun = time.Time{}
	assert.Empty(t, g.Limit(noon.Add(1000*time.Hour)), "it has not begun")

	assert.False(t, g.IsReached())
	g.Criteria[0].Status, g.Criteria[1].Status = verify.Met, verify.Met
	assert.True(t, g.IsReached())
	g.Stages = []string{"/do-plan"}
	assert.False(t, g.IsReached())
	g.Stage = 1
	assert.True(t, g.IsReached())
}

func TestGoalsThatCannotBeSet(t *testing.T) {
	for want, g := range map[string]*project.Goal{
		"neither criteria nor stages": {},
		"has 51 criteria":             {Criteria: make([]verifier.Criterion, 51)},
		"from 1 to 100":               goal(func(g *project.Goal) { g.Continues = 101 }),
		"time of a goal is negative":  goal(func(g *project.Goal) { g.For = -1 }),
	} {
		assert.ErrorContains(t, g.Check(), want)
	}
	assert.NoError(t, goal().Check())
	assert.NoError(t, project.Goal{Stages: []string{"/do-plan"}}.Check())
}

func TestAgentIn(t *testing.T) {
	env := func(name string) func(string) string {
		return func(n string) string {
			if n == name {
				return "1"
			}
			return ""
		}
	}
	assert.Equal(t, "Claude Code", project.AgentIn(env("CLAUDECODE")))
	assert.Equal(t, "Gemini CLI", project.AgentIn(env("GEMINI_CLI")))
	assert.Empty(t, project.AgentIn(env("HOME")))
}

func ExampleProjects_Begin() {
	state, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(state)
	store, _ := filestore.New(state, filestore.Options{})
	p := project.Open(store, "claude", time.Now)
	ctx, repo := context.Background(), os.TempDir()
	err := p.SetGoal(ctx, repo, &project.Goal{Set: time.Now(), Criteria: []verifier.Criterion{{Text: "tests pass"}}})
	fmt.Println(err, p.Begin(ctx, "session-1", repo))
	g, _, ok, _ := p.Goal(ctx, "session-1", repo)
	fmt.Println(ok, g.Criteria[0].Text)
	// Output:
	// <nil> <nil>
	// true tests pass
}
