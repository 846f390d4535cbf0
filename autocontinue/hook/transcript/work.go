package transcript

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Bounds of what is kept of the work.
const (
	maxFiles   = 20
	maxChecks  = 20
	maxRan     = 5
	maxCommand = 200 // characters of a command
)

// work folds what the agent did into facts. Facts have three values: an unknown effect makes known facts unknown.
type work struct {
	classify.Work          // without its checks; Ran has all commands that tested, built or linted
	Made          []string `json:"made,omitempty"` // files that the agent made as a whole
	Checks        []check  `json:"checks,omitempty"`
}

// check is a check since the last edit.
type check struct {
	effect
	Outcome classify.CheckOutcome `json:"outcome,omitempty"`
	Running string                `json:"running,omitempty"` // the name of the background command
}

func newWork() work {
	return work{Work: classify.Work{Edited: classify.EditedNone, Session: classify.EditedNone}}
}

// forget makes all facts unknown but those that nothing can change: the code that was edited in the session.
func (w *work) forget() {
	if w.Session != classify.EditedCode {
		w.Session = classify.EditedUnknown
	}
	w.Edited, w.Checks = classify.EditedUnknown, nil
}

func (w *work) apply(p project, effects []effect, r result) {
	for _, e := range effects {
		var files []string
		for _, f := range e.Edits {
			files = append(files, p.name(f))
		}
		done := r.ran() && !(r.known && r.exit != 0 && len(effects) == 1)
		switch {
		case r.denied:
			return
		case e.Unknown, e.Moves && done && !r.failed && !pattern("up-to-date").MatchString(r.output):
			w.forget()
		case e.Removes && done && w.removeMade(files):
		case len(files) > 0 && done:
			w.edit(files, !e.Layout && slices.ContainsFunc(e.Edits, isCode))
		}
		if e.Makes {
			w.Made = latest(w.Made, maxFiles, files...)
		}
		if e.Elsewhere && w.Session == classify.EditedNone {
			w.Session = classify.EditedUnknown // of files elsewhere nothing is known
		}
		if e.Check != "" {
			w.check(e, r)
		}
	}
}

func (w *work) edit(files []string, code bool) {
	if w.Edited == classify.EditedNone {
		w.Files = nil
	}
	kind := classify.EditedDocs
	if code {
		kind, w.Checks = classify.EditedCode, nil
	}
	for _, was := range []*classify.Edited{&w.Edited, &w.Session} {
		if code || *was == classify.EditedNone {
			*was = kind
		}
	}
	w.Files = latest(w.Files, maxFiles, files...)
	w.Files = slices.DeleteFunc(w.Files, func(f string) bool { return f == "" }) // an unknown one
}

// removeMade takes in the removal of files. It reports whether the agent had made them all: then they leave nothing
// behind.
func (w *work) removeMade(files []string) bool {
	if len(files) == 0 || slices.ContainsFunc(files, func(f string) bool { return !slices.Contains(w.Made, f) }) {
		return false
	}
	gone := func(f string) bool { return slices.Contains(files, f) }
	w.Made, w.Files = slices.DeleteFunc(slices.Clone(w.Made), gone), slices.DeleteFunc(slices.Clone(w.Files), gone)
	if len(w.Files) == 0 && (w.Edited == classify.EditedCode || w.Edited == classify.EditedDocs) {
		w.checked()
	}
	return true
}

func (w *work) checked() { w.Edited, w.Files = classify.EditedNone, nil }

func (w *work) check(e effect, r result) {
	o, counts := e.outcome(r)
	if !counts {
		return
	}
	if e.Check == classify.CheckTest && o == classify.OutcomePassed && slices.ContainsFunc(w.Checks, func(c check) bool {
		return c.Check == e.Check && c.Outcome == classify.OutcomeFailed && !covers(e, c.effect)
	}) {
		return // a failed test run stands until the same tests pass
	}
	if o != classify.OutcomeUnknown {
		w.Checks = slices.DeleteFunc(w.Checks, func(c check) bool { return c.Check == e.Check && covers(e, c.effect) })
	}
	e.Edits = nil
	w.Checks = append(w.Checks, check{e, o, r.running})
	w.Checks = w.Checks[max(0, len(w.Checks)-maxChecks):]
	if e.verifies() {
		w.Ran = latest(w.Ran, maxRan, e.Name)
	}
	w.settle(e, o)
}

// settle closes the edits that a check confirms.
func (w *work) settle(e effect, o classify.CheckOutcome) {
	switch {
	case !e.verifies() && e.Check != classify.CheckRun:
	case o == classify.OutcomePassed:
		w.checked()
	case o == classify.OutcomeUnknown && w.Edited == classify.EditedCode:
		w.Edited = classify.EditedUnknown
	}
}

// end takes in how a command in the background ended.
func (w *work) end(name string, r result) {
	for i := range w.Checks {
		if c := &w.Checks[i]; c.Running == name && name != "" {
			r.running = ""
			if o, counts := c.outcome(r); counts {
				c.Outcome, c.Running = o, ""
				w.settle(c.effect, o)
			}
		}
	}
}

// covers reports whether a check looked at all that another did: it has no word to choose by that the other has not.
func covers(e, other effect) bool {
	return !slices.ContainsFunc(e.Scope, func(word string) bool { return !slices.Contains(other.Scope, word) })
}

// latest puts items at the end of a list that keeps the last n different ones.
func latest(list []string, n int, items ...string) []string {
	for _, item := range items {
		list = append(slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == item }), item)
	}
	return list[max(0, len(list)-n):]
}

func (w *work) facts() classify.Work {
	f := w.Work
	if f.Files = slices.Clone(f.Files); w.Edited != classify.EditedCode || len(w.Checks) > 0 {
		f.Ran = nil
	}
	f.Ran = slices.Clone(f.Ran)
	for _, c := range w.Checks {
		f.Checks = append(f.Checks, classify.Check{Command: c.Name, Kind: c.Check, Outcome: c.Outcome})
	}
	return f
}

// project is where the agent works, with slashes: the repository where there is one, for the agent may work in a folder
// of it. To the zero value, an unknown project, all files but temporary ones belong.
type project string

func projectOf(dir string) project {
	if strings.IndexByte(dir, 0) >= 0 || !rooted(slashed(dir)) {
		return ""
	}
	root := filepath.Clean(dir)
	for up := root; ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			return project(slashed(up))
		}
		if up == filepath.Dir(up) {
			return project(slashed(root))
		}
	}
}

// holds reports whether a file is one of the project. A relative name is: where it starts is not known.
func (p project) holds(file string) bool {
	file = slashed(file)
	if home, err := os.UserHomeDir(); err == nil && strings.HasPrefix(file, "~/") {
		file = slashed(home) + file[1:]
	}
	switch {
	case pattern("temporary").MatchString(file+"/") && !pattern("temporary").MatchString(string(p)+"/"):
		return false
	case !rooted(file) || p == "" || below(string(p), file):
		return true
	}
	// The two may name one folder in different ways. What does not exist any more keeps its name.
	root, gone := filepath.EvalSymlinks(string(p))
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	return gone == nil && err == nil && below(slashed(root), slashed(folder)+"/x")
}

// name returns a file for people: relative to the project where it lies in it.
func (p project) name(file string) string {
	if below(string(p), file) {
		file = strings.TrimPrefix(strings.TrimPrefix(path.Clean(slashed(file)), string(p)), "/")
	}
	return plaintext.Line(file, maxCommand)
}

func (w *walker) resolve(file string) string {
	f := slashed(file)
	if f == "" || rooted(f) || strings.HasPrefix(f, "~") || strings.HasPrefix(f, "$") || w.dir == "" {
		return f
	}
	return path.Join(slashed(w.dir), f)
}

func below(folder, file string) bool {
	folder, file = strings.TrimSuffix(path.Clean(slashed(folder)), "/")+"/", path.Clean(slashed(file))
	if hasDrive(folder) { // where letter case makes no difference
		folder, file = strings.ToLower(folder), strings.ToLower(file)
	}
	return strings.HasPrefix(file, folder)
}

// slashed writes a Windows path with slashes. Elsewhere a backslash is part of a name.
func slashed(name string) string {
	if hasDrive(name) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, `~\`) {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

func hasDrive(name string) bool { return pattern("drive").MatchString(name) }

func rooted(name string) bool { return strings.HasPrefix(name, "/") || hasDrive(name) }

// isCode reports whether an edit of a file needs a check.
func isCode(name string) bool {
	base := strings.ToLower(baseName(name))
	ext := path.Ext(base)
	switch {
	case isFile("document", base):
		return false
	case !isFile("document", ext):
		return true
	case ext == ".txt" || ext == ".mdx":
		word := base[:strings.IndexAny(base, "-_.")] // "requirements-dev.txt"
		inTests := func(part string) bool { return isFile("test-data", part) }
		folders := strings.Split(strings.ToLower(slashed(name)), "/")
		return isFile("code-text", word) || slices.ContainsFunc(folders, inTests)
	}
	return false
}

// isSource reports whether a file holds source code: it must be built or loaded again when it moves.
func isSource(name string) bool {
	return name == "" || isFile("source", strings.ToLower(path.Ext(name)))
}
