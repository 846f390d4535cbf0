package transcript

import (
	"path"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// effect is what one command or one call of a tool does, as far as it matters: it changes files, or it checks
// something.
type effect struct {
	Edits     []string           `json:"edits,omitempty"`     // files of the project that it changes; "" is an unknown one
	Made      []string           `json:"made,omitempty"`      // files that it makes as a whole, such as a built program
	Removes   bool               `json:"removes,omitempty"`   // it only removes files
	Layout    bool               `json:"layout,omitempty"`    // it only links, moves or removes files; none is source code
	Elsewhere bool               `json:"elsewhere,omitempty"` // it changes something outside of the project
	Moves     bool               `json:"moves,omitempty"`     // it takes the project to another branch
	Unknown   bool               `json:"unknown,omitempty"`   // it may do anything
	Looks     bool               `json:"looks,omitempty"`     // it shows where files are
	Check     classify.CheckKind `json:"check,omitempty"`
	Script    string             `json:"script,omitempty"` // the script that it runs
	Name      string             `json:"name,omitempty"`   // the command, for people
	Scope     []string           `json:"scope,omitempty"`  // its words that choose what it checks
	Status    status             `json:"status,omitempty"`
	Printed   *printedStatus     `json:"printed,omitempty"` // a later command prints the exit status
	Echoes    []string           `json:"echoes,omitempty"`  // lines of the output that the script prints itself
	Chained   bool               `json:"chained,omitempty"` // a check behind "&&" may be the one that failed
	Filter    filter             `json:"filter,omitempty"`  // what becomes of its output
}

func (e effect) matters() bool {
	return len(e.Edits) > 0 || e.Elsewhere || e.Moves || e.Unknown || e.Looks || e.Check != ""
}

// quiet reports whether the effect is a check that prints only problems.
func (e effect) quiet() bool { return e.Check == classify.CheckBuild || e.Check == classify.CheckLint }

// status says what becomes of a command's exit status on its way to the tool's result.
type status uint8

const (
	statusKept   status = iota // it is the result's
	statusLost                 // something else took its place; only the output can tell
	statusHidden               // it cannot be known: turned round, or left in the background
)

// filter says what a pipe leaves of an output.
type filter uint8

const (
	filterNone   filter = iota
	filterPart          // a part of it; nothing is left of nothing
	filterErrors        // the lines that speak of errors
	filterCount         // how many lines there were
)

// commandEffect returns what a simple command does. Input is its here-document, writes are the files that it is
// redirected to.
func (w *walker) commandEffect(words []string, input string, writes []string) (e effect) {
	e.Name = strings.Join(words, " ")
	name, args := programName(words[0]), words[1:]
	switch {
	case name == "apply_patch" || name == "applypatch":
		e.patch(w, input+"\n"+strings.Join(args, "\n"))
		return e
	case name == "sed" || name == "gsed" || name == "perl" || name == "ruby" && !slices.Contains(args, "-c"):
		if files := filesInPlace(name, args); files != nil {
			e.edit(w, files...)
			return e
		}
	case name == "find" || name == "fd":
		w.find(args)
	case name == "make" || name == "gmake":
		e.Script = w.resolve("Makefile")
	}
	if w.fileEffect(&e, name, args) {
		return e
	}
	kinds := kindsOf(words)
	if kinds != nil && (kinds[0] == kindRead || kinds[0] == kindLook) && strings.Contains(words[0], "/") &&
		!strings.ContainsAny(words[0][:1], "/~$") {
		kinds = nameKinds(name) // a script that has the name of a program
	}
	if name == "git" {
		kinds = w.git(&e, args, kinds)
	}
	if kinds == nil {
		kinds = w.scriptKinds(&e, name, words, input)
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
			e.Moves = w.within()
		case kindLook:
			e.Looks = true
		case kindRead:
		default:
			e.Check, e.Scope = classify.CheckKind(kind), scope(words)
			e.Made = w.built(words)
			e.Elsewhere = e.Elsewhere || kind == kindRun
		}
	}
	if len(writes) > 0 && (e.Check == "" || e.Check == classify.CheckRun) {
		before := len(e.Edits)
		e.edit(w, writes...)
		e.Made = e.Edits[before:]
		if e.Script == "" && matches(commands().lists["interprets"], name) && len(e.Made) > 0 {
			e.Check = "" // code on the command line wrote the file
		}
	}
	return e
}

// built returns the program that a build makes, by its flag "-o" or as "go build" names it.
func (w *walker) built(words []string) []string {
	if i := slices.Index(words, "-o"); i > 0 && i+1 < len(words) {
		return []string{w.resolve(words[i+1])}
	}
	if len(words) < 2 || programName(words[0]) != "go" || words[1] != "build" {
		return nil
	}
	of := w.dir
	if last := words[len(words)-1]; len(words) > 2 && last != "." && !strings.HasPrefix(last, "-") {
		of = last
	}
	return []string{w.resolve(path.Base(slashed(of)))}
}

// documentsOf returns the files that a command names when all of them are documents, and else an unknown one.
func documentsOf(args []string) []string {
	var files []string
	for _, a := range args {
		switch ext := path.Ext(a); {
		case strings.HasPrefix(a, "-") || ext == "" || ext == ".":
		case editOf(a) == classify.EditedDocs:
			files = append(files, a)
		default:
			return []string{""}
		}
	}
	if files == nil {
		return []string{""}
	}
	return files
}

// edit adds files of the project. Others count as elsewhere.
func (e *effect) edit(w *walker, files ...string) {
	for _, f := range files {
		switch f = w.resolve(f); {
		case isScratch(f):
		case !w.project.holds(f):
			e.Elsewhere = true
		default:
			e.Edits = append(e.Edits, f)
		}
	}
}

// filesInPlace returns the files that a stream editor changes in place, nil when it changes none.
func filesInPlace(name string, args []string) []string {
	inPlace, script := false, false
	var files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		flags, short := strings.CutPrefix(a, "-")
		switch long := strings.HasPrefix(flags, "-"); {
		case short && long, short && flags != "":
			module := name == "perl" && (flags[0] == 'I' || flags[0] == 'M')
			inPlace = inPlace || strings.HasPrefix(a, "--in-place") || !long && !module && strings.Contains(flags, "i")
			if a == "--expression" || a == "--file" || !long && (flags == "f" || flags == "E" || strings.HasSuffix(flags, "e")) {
				script = true // "-pie 's/a/b/'"
				i++
			}
		case a == "": // "-i ''" of BSD's sed
		case !script:
			script = true
		default:
			files = append(files, a)
		}
	}
	if inPlace && len(files) == 0 {
		return []string{""}
	}
	if !inPlace {
		return nil
	}
	return files
}

// fileEffect says what the programs do that link, copy, move, remove and write files.
func (w *walker) fileEffect(e *effect, name string, args []string) bool {
	var files []string
	dest := ""
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case (a == "-t" || a == "--target-directory") && i+1 < len(args):
			dest = args[i+1]
			i++
		case !strings.HasPrefix(a, "-"):
			files = append(files, a)
		}
	}
	if len(files) == 0 {
		return false
	}
	last := files[len(files)-1]
	switch name {
	case "tee", "truncate":
		e.edit(w, files...)
		e.Made = e.Edits
		return true
	case "cp", "ln", "mv", "install":
		sources := files
		if dest == "" && len(files) > 1 {
			dest, sources = last, files[:len(files)-1]
		}
		if path.Ext(dest) == "" && len(sources) > 0 && path.Ext(sources[0]) != "" && name != "ln" {
			dest += "/" + baseName(sources[0])
		}
		e.edit(w, dest)
		if name == "cp" {
			e.Made = e.Edits
		}
		if name == "mv" {
			e.edit(w, sources...)
		}
	case "rm", "rmdir", "unlink", "trash":
		e.edit(w, files...)
		e.Removes = true
	case "touch":
		e.edit(w, files...)
		e.Made = e.Edits
	default:
		return false
	}
	e.Layout = !slices.ContainsFunc(e.Edits, isSource)
	return true
}

// git says which files git changes, and returns what its command does.
func (w *walker) git(e *effect, args []string, kinds []string) []string {
	if i := slices.Index(args, "-C"); i >= 0 && i+1 < len(args) {
		outer := w.dir
		defer func() { w.dir = outer }()
		w.dir = w.resolve(args[i+1])
	}
	plain := commands().plain("git", args)
	changes := len(kinds) > 0 && (kinds[0] == kindEdit || kinds[0] == kindMove)
	if !changes || len(plain) == 0 {
		return kinds
	}
	if !w.within() {
		return []string{kindElsewhere}
	}
	switch files := plain[1:]; plain[0] {
	case "checkout":
		if i := slices.Index(args, "--"); i >= 0 {
			files = args[i+1:]
		} else if len(files) == 0 || path.Ext(files[len(files)-1]) == "" {
			return kinds // another branch
		}
		e.edit(w, files...)
		return []string{kindEdit}
	case "restore", "rm", "mv":
		e.edit(w, files...)
		e.Removes = plain[0] == "rm"
		e.Layout = plain[0] != "restore" && len(e.Edits) > 0 && !slices.ContainsFunc(e.Edits, isSource)
	}
	return kinds
}

// scriptKinds says what a program does that has no rule: a script by its name, code on the command line by what is in
// it.
func (w *walker) scriptKinds(e *effect, name string, words []string, input string) []string {
	if matches(commands().lists["interprets"], name) {
		code, script := inlineCode(words[1:], input)
		switch {
		case code != "":
			return w.codeKinds(e, code)
		case len(script) == 0:
			return []string{kindRead} // a shell that waits, or "python --version"
		}
		e.Script = w.resolve(script[0])
		if (name == "source" || name == ".") && nameKinds(script[0])[0] == kindRun {
			return []string{kindRead} // it sets variables
		}
		if kinds := kindsOf(script); kinds != nil && kinds[0] != kindRead {
			return kinds
		}
		return scriptKind(script[0])
	}
	if strings.ContainsAny(words[0], `/\`) || path.Ext(name) != "" {
		e.Script = w.resolve(words[0])
		return scriptKind(words[0])
	}
	return []string{kindRun}
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

// inlineCode returns the code that an interpreter is given on its command line or on its standard input, or else the
// script that it runs, with its arguments.
func inlineCode(args []string, input string) (code string, script []string) {
	for i, a := range args {
		switch {
		case among(" -c -e -p -pe -ne -r -E --eval --print -lane -nle -0ne eval ", a) && i+1 < len(args):
			return args[i+1], nil
		case a == "-":
			return input, nil
		case strings.HasPrefix(a, "-") || a == "run":
		default:
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
		if len(files) == 0 {
			files = []string{""}
		}
		if e.edit(w, files...); len(e.Edits) > 0 {
			return []string{kindRead}
		}
	case pattern("runs").MatchString(code):
		e.Unknown = true
		return []string{kindRead}
	case pattern("reads").MatchString(code) && !loadsMore(code):
		return []string{kindRead}
	}
	return []string{kindRun}
}

// loadsMore reports whether code that reads files does more with them: parse them, run them, compare them.
func loadsMore(code string) bool {
	for _, m := range pattern("imports").FindAllStringSubmatch(code, 50) {
		for module := range strings.SplitSeq(m[1], ",") {
			if !pattern("text-module").MatchString(strings.TrimSpace(module)) {
				return true
			}
		}
	}
	return pattern("loads").MatchString(code)
}

// find says what the commands do that "find" runs.
func (w *walker) find(args []string) {
	for i, a := range args {
		switch a {
		case "-delete":
			w.add(effect{Edits: []string{""}, Layout: true, Name: "find -delete"}, statusKept)
		case "-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch":
			words := args[i+1:]
			if end := slices.IndexFunc(words, func(s string) bool { return s == ";" || s == "+" }); end >= 0 {
				words = words[:end]
			}
			w.call(words, "", nil, statusLost)
		}
	}
}

// patch adds the files that a patch changes, in Codex's form or that of diff: an unknown one when it names none.
func (e *effect) patch(w *walker, patch string) {
	files := pattern("patched").FindAllStringSubmatch(patch, -1)
	for _, m := range files {
		e.edit(w, strings.TrimSpace(m[1]))
	}
	if files == nil {
		e.edit(w, "")
	}
	only := func(what string) bool {
		n := strings.Count(patch, "*** "+what+" File: ")
		return n > 0 && n == strings.Count(patch, " File: ")
	}
	if e.Removes = only("Delete"); only("Add") {
		e.Made = e.Edits
	}
}
