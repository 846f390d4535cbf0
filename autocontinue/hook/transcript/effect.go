package transcript

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// effect is what one command or one call of a tool does: it changes files, or it checks something.
type effect struct {
	Edits     []string           `json:"edits,omitempty"`     // files of the project that it changes; "" is an unknown one
	Makes     bool               `json:"makes,omitempty"`     // it makes these files as a whole
	Removes   bool               `json:"removes,omitempty"`   // it only removes files
	Layout    bool               `json:"layout,omitempty"`    // it only links, moves or removes files; none is source code
	Elsewhere bool               `json:"elsewhere,omitempty"` // it changes something outside of the project
	Moves     bool               `json:"moves,omitempty"`     // it takes the project to another branch
	Unknown   bool               `json:"unknown,omitempty"`   // it may do anything
	Check     classify.CheckKind `json:"check,omitempty"`
	Name      string             `json:"name,omitempty"`  // the command, for people
	Scope     []string           `json:"scope,omitempty"` // its words that choose what it checks
	Status    status             `json:"status,omitempty"`
	Printed   string             `json:"printed,omitempty"` // what is printed before the exit status: "exit: $"
	Echoes    []string           `json:"echoes,omitempty"`  // how lines begin that the script prints itself
	Chained   bool               `json:"chained,omitempty"` // a check behind "&&" may be the one that failed
}

func (e effect) matters() bool {
	return len(e.Edits) > 0 || e.Elsewhere || e.Moves || e.Unknown || e.Check != ""
}

func (e effect) checks() bool { return e.Check != "" }

// verifies reports whether the effect is a check by a tool that is made for that.
func (e effect) verifies() bool { return e.Check == classify.CheckTest || e.quiet() }

// quiet reports whether the effect is a check that prints only problems.
func (e effect) quiet() bool { return e.Check == classify.CheckBuild || e.Check == classify.CheckLint }

// status says what becomes of a command's exit status on its way to the tool's result.
type status uint8

const (
	statusKept   status = iota // it is the result's
	statusLost                 // something else took its place; only the output can tell
	statusHidden               // it cannot be known: turned round, or left in the background
)

// commandEffects returns what a simple command does that reads input and is redirected to files.
func (w *walker) commandEffects(words []string, input string, writes []string) (effects []effect) {
	e := effect{Name: nameOf(words)}
	name, args := programName(words[0]), words[1:]
	kinds := kindsOf(words)
	switch name {
	case "apply_patch", "applypatch", "patch":
		e.patch(w, input+"\n"+strings.Join(args, "\n"))
	case "sed", "gsed", "perl", "ruby":
		if slices.ContainsFunc(args, pattern("in-place").MatchString) {
			e.edit(w, filesInPlace(name, args)...)
			kinds = []string{kindRead}
		}
	case "find", "fd":
		effects = w.find(args)
	case "git":
		if i := slices.Index(args, "-C"); i >= 0 && i+1 < len(args) {
			at := *w
			at.dir, w = w.resolve(args[i+1]), &at
		}
		if plain := commands().plain(name, args); kinds[0] == kindEdit && among(" rm mv ", plain[0]) {
			e.files(w, plain[0], plain[1:])
		}
	default:
		e.files(w, name, args)
	}
	if len(writes) > 0 && input != "" {
		w.note(w.resolve(writes[0]), input)
	}
	script := strings.Contains(words[0], "/") && !strings.ContainsAny(words[0][:1], "/~$")
	switch {
	case kinds == nil:
		kinds = w.scriptKinds(&e, name, words, input)
	case script && kinds[0] == kindRead && len(e.Edits) == 0:
		kinds = nameKinds(name) // it has the name of a program
	}
	for _, kind := range kinds {
		switch kind {
		case kindEdit:
			if len(e.Edits) == 0 {
				e.edit(w, documentsOf(args)...)
			}
		case kindElsewhere:
			e.Elsewhere = true
		case kindMove:
			e.Moves = w.dir == "" || w.project.holds(w.dir+"/x")
		case kindRead:
		case kindRemote:
			e.Check, e.Status, e.Elsewhere = classify.CheckRun, statusHidden, true
		default:
			e.Check, e.Scope = classify.CheckKind(kind), scope(words)
			e.Elsewhere = e.Elsewhere || kind == kindRun
		}
	}
	if len(writes) > 0 && (e.Check == "" || e.Check == classify.CheckRun) {
		before := len(e.Edits)
		e.edit(w, writes...)
		e.Makes = before == 0 && len(e.Edits) > 0
		if code, _ := inlineCode(args, input); code != "" && len(e.Edits) > before && commands().interprets(name) {
			e.Check = "" // code on the command line wrote the file
		}
	}
	if e.matters() {
		effects = append(effects, e)
	}
	return effects
}

// documentsOf returns the files that a command names when all of them are documents, and else none.
func documentsOf(args []string) []string {
	files := slices.DeleteFunc(slices.Clone(args), func(a string) bool {
		return strings.HasPrefix(a, "-") || path.Ext(a) == "" || path.Ext(a) == "."
	})
	if slices.ContainsFunc(files, isCode) {
		return nil
	}
	return files
}

// edit adds files of the project, an unknown one if none is named. Others count as elsewhere.
func (e *effect) edit(w *walker, files ...string) {
	if len(files) == 0 {
		files = []string{""}
	}
	for _, f := range files {
		f = w.resolve(f)
		at := f
		if f == "" && w.dir != "" {
			at = w.dir + "/x"
		}
		switch {
		case isFile("artifact", baseName(strings.TrimSuffix(f, "/"))), pattern("scratch").MatchString(f):
		case !w.project.holds(at):
			e.Elsewhere = true
		default:
			e.Edits = append(e.Edits, f)
		}
	}
}

// filesInPlace returns the files that a stream editor changes in place.
func filesInPlace(name string, args []string) []string {
	t := commands()
	isScript := func(a string) bool { return slices.Contains(t.lists["flags "+name], a) }
	files := slices.DeleteFunc(t.plain(name, args), func(a string) bool { return a == "" }) // "-i ''" of BSD's sed
	if !slices.ContainsFunc(args, isScript) {
		files = files[min(1, len(files)):]
	}
	return files
}

// files says what the programs do that link, copy, move, remove and write the files that they name.
func (e *effect) files(w *walker, name string, args []string) {
	files := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
	if len(files) == 0 {
		return
	}
	switch name {
	case "tee", "truncate", "touch":
		e.edit(w, files...)
		e.Makes = true
	case "cp", "ln", "mv", "install":
		sources, dest := files[:len(files)-1], files[len(files)-1]
		if path.Ext(dest) == "" && len(sources) > 0 && path.Ext(sources[0]) != "" && name != "ln" {
			dest += "/" + baseName(sources[0])
		}
		if name != "mv" {
			sources = nil
		}
		e.edit(w, append(slices.Clip(sources), dest)...)
		e.Makes = name == "cp"
	case "rm", "rmdir", "unlink", "trash":
		e.edit(w, files...)
		e.Removes = true
	}
	e.Layout = name != "tee" && name != "truncate" && len(e.Edits) > 0 && !slices.ContainsFunc(e.Edits, isSource)
}

// scriptKinds says what a program without a rule does: a script by its name, code by what is in it.
func (w *walker) scriptKinds(e *effect, name string, words []string, input string) []string {
	if !commands().interprets(name) {
		if strings.ContainsAny(words[0], `/\`) || path.Ext(name) != "" {
			return scriptKind(words[0])
		}
		return []string{kindRun}
	}
	code, script := inlineCode(words[1:], input)
	if len(script) > 0 && !among(shells+"source . ", name) {
		code = w.known[w.resolve(script[0])]
	}
	switch {
	case code != "":
		return w.codeKinds(e, code)
	case len(script) == 0, // a shell that waits, or "python --version"
		(name == "source" || name == ".") && nameKinds(script[0])[0] == kindRun: // it sets variables
		return []string{kindRead}
	}
	if kinds := kindsOf(script); kinds != nil && kinds[0] != kindRead {
		return kinds
	}
	return scriptKind(script[0])
}

// scriptKind says what a script does by its name. One that makes files is run as well.
func scriptKind(name string) []string {
	kinds := nameKinds(name)
	folder := path.Base(path.Dir(slashed(name)))
	switch {
	case kinds[0] == kindEdit && len(kinds) == 1:
		return []string{kindEdit, kindRun}
	case kinds[0] == kindRun && among(" test tests spec t __tests__ ", folder):
		return []string{kindTest}
	}
	return kinds
}

// inlineCode returns the code that an interpreter is given, or else the script that it runs, with its arguments.
func inlineCode(args []string, input string) (code string, script []string) {
	for i, a := range args {
		rest := args[i+1:]
		switch {
		case len(rest) > 0 && among(" /c -command ", strings.ToLower(a)): // of Windows
			return strings.Join(rest, " "), nil
		case len(rest) > 0 && pattern("code-flag").MatchString(a):
			return rest[0], nil
		case a == "-":
			return input, nil
		case !strings.HasPrefix(a, "-") && a != "run":
			return "", args[i:]
		}
	}
	return input, nil
}

// codeKinds says what a piece of code does by the functions that it calls.
func (w *walker) codeKinds(e *effect, code string) []string {
	e.Name = strings.TrimSpace(strings.SplitN(e.Name, "\n", 2)[0])
	code = pattern("prints").ReplaceAllString(code, "")
	switch {
	case pattern("writes").MatchString(code):
		var files []string
		for _, m := range pattern("files").FindAllStringSubmatch(code, 50) {
			if !strings.Contains(m[1], "://") {
				files = append(files, m[1])
			}
		}
		if e.edit(w, files...); len(e.Edits) > 0 {
			return []string{kindRead}
		}
	case pattern("runs").MatchString(code):
		e.Unknown = true
		return []string{kindRead}
	case pattern("reads").MatchString(code) && !pattern("loads").MatchString(code): // and does no more with it
		return []string{kindRead}
	}
	return []string{kindRun}
}

// find says what the commands do that "find" runs.
func (w *walker) find(args []string) (effects []effect) {
	for i, a := range args {
		switch a {
		case "-delete":
			effects = append(effects, effect{Edits: []string{""}, Layout: true, Name: "find -delete"})
		case "-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch":
			words := args[i+1:]
			if end := slices.IndexFunc(words, func(s string) bool { return s == ";" || s == "+" }); end >= 0 {
				words = words[:end]
			}
			effects = append(effects, lower(w.call(words, "", nil), statusLost)...)
		}
	}
	return effects
}

// patch adds the files that a patch changes, in Codex's form or that of diff: an unknown one when it names none.
func (e *effect) patch(w *walker, patch string) {
	var files []string
	for _, m := range pattern("patched").FindAllStringSubmatch(patch, -1) {
		files = append(files, strings.TrimSpace(m[1]))
	}
	e.edit(w, files...)
	only := func(what string) bool {
		n := strings.Count(patch, "*** "+what+" File: ")
		return n > 0 && n == strings.Count(patch, " File: ")
	}
	e.Removes, e.Makes = only("Delete"), only("Add")
}

// tool is a call of a tool.
type tool struct {
	id    string // links the call with its result
	name  string
	input value
	patch string // a patch outside of the input
}

var toolRules = sync.OnceValue(func() [][]string { return rows("tools") })

// kindOfTool returns the kind that tools.txt gives a tool, or an agent, by its name, letter case aside.
func kindOfTool(name string, agent bool) string {
	for _, row := range toolRules() {
		if agent == (row[0] == "explorer") && matches(strings.Join(row[1:], "|"), strings.ToLower(name)) {
			return row[0]
		}
	}
	return ""
}

// effects says what a call does in a project, from a folder, without secrets.
func (t tool) effects(p project, dir string, secrets []string) []effect {
	w := walker{project: p, dir: dir}
	e := effect{Name: t.name}
	mask := func(s string) string { return plaintext.Redact(s, secrets...) }
	in := t.input
	script := in.script("command", "cmd", "script")
	shell := plaintext.Redact(script, slices.Concat(secrets, plaintext.Secrets(script))...)
	kind := kindOfTool(t.name, false)
	switch {
	case kind == "shell":
		if folder := in.first("workdir", "working_directory", "dir_path", "directory"); folder != "" {
			w.dir = w.resolve(folder)
		}
		return w.script(shell)
	case kind == "patch":
		e.patch(&w, mask(t.patch+"\n"+in.first("patch", "input"))+"\n"+shell)
	case kind == kindEdit, kind == "write":
		e.edit(&w, mask(in.first(
			"file_path", "notebook_path", "absolute_path", "target_file", "path", "filePath", "relative_path")))
		e.Makes = kind == "write"
	case kind == "read", kind == "poll":
		return nil
	case kind == "agent":
		agent := in.first("subagent_type", "agent_type")
		e.Unknown = agent == "" || kindOfTool(agent, true) == ""
	case kind == kindElsewhere:
		e.Elsewhere = true
	case kind != "":
		e.Check, e.Scope, e.Elsewhere = classify.CheckKind(kind), []string{t.name}, kind == kindRun
	default:
		e.Unknown = true
	}
	if !e.matters() {
		return nil
	}
	return []effect{e}
}
