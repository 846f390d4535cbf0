package transcript

import (
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Bounds of what a shell is told. The parser recurses, so depth matters as well as length.
const (
	maxScript  = 64 << 10 // bytes
	maxNesting = 200      // open brackets
	maxEffects = 200      // of one script
	maxNested  = 4        // scripts within scripts: bash -c "bash -c …"
	maxValue   = 1000     // bytes of a variable
)

// walker finds what the commands of a script do, in their order.
type walker struct {
	project project
	dir     string            // where the commands run
	vars    map[string]string // set by the script to plain words

	echoes    []string // lines that the script prints itself
	functions []string // declared by the script; their bodies were walked through
	nested    int

	errexit, pipefail bool
	effects           []effect
}

func (w *walker) script(script string, st status) {
	unknown := effect{Unknown: true, Name: plaintext.Line(script, 60)}
	if len(script) > maxScript || nesting(script) > maxNesting || w.nested > maxNested {
		w.add(unknown, st)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		w.add(unknown, st)
		return
	}
	w.nested++
	w.list(file.Stmts, st)
	w.nested--
	for i := range w.effects {
		if e := &w.effects[i]; e.quiet() && e.Status == statusLost {
			e.Echoes = w.echoes
		}
	}
}

// nesting returns how many brackets are open at most, wherever they stand.
func nesting(script string) (most int) {
	open := 0
	for i := range len(script) {
		switch script[i] {
		case '(', '{':
			open++
			most = max(most, open)
		case ')', '}':
			open = max(0, open-1)
		}
	}
	return most
}

// add appends an effect and folds the status of what is around it into it.
func (w *walker) add(e effect, st status) {
	e.Name = plaintext.Line(e.Name, maxCommand)
	e.Status = max(e.Status, st)
	if e.matters() && len(w.effects) < maxEffects {
		w.effects = append(w.effects, e)
	}
}

// list walks through statements one after another. St is the status of the list itself.
func (w *walker) list(stmts []*syntax.Stmt, st status) {
	for i, s := range stmts {
		first := len(w.effects)
		w.stmt(s, statusKept)
		own := st
		if i+1 < len(stmts) {
			own = max(own, w.tell(s, stmts[i+1:], w.effects[first:]))
		}
		for j := first; j < len(w.effects); j++ {
			w.effects[j].Status = max(w.effects[j].Status, own)
		}
	}
}

// tell finds out whether the statements after this one print its status or exit with it. It returns what becomes of the
// status.
func (w *walker) tell(s *syntax.Stmt, rest []*syntax.Stmt, effects []effect) status {
	if w.errexit {
		return statusKept
	}
	names, head := []string{"$?"}, ""
	if isPipe(s) && !w.pipefail {
		names, head = []string{"${PIPESTATUS[0]}", "${pipestatus[1]}"}, w.head(s)
	}
	saved := w.savedStatus(rest[0], names)
	if saved != "" {
		names, rest = []string{"$" + saved, "${" + saved + "}"}, rest[1:]
	}
	for i, next := range rest {
		if s.Background || i > 0 && saved == "" {
			break
		}
		words := w.simple(next)
		if len(words) == 2 && words[0] == "exit" && slices.Contains(names, words[1]) && head == "" {
			return statusKept
		}
		for _, name := range names {
			before, after, ok := strings.Cut(w.echo(next), name)
			if !ok || strings.Contains(before, "$") {
				continue
			}
			after, _, _ = strings.Cut(after, "$") // its value is not known
			for i := range effects {
				e := &effects[i]
				if e.Printed == nil && (head == "" && e.Status == statusKept || head != "" && e.Name == head) {
					e.Printed = &printedStatus{Before: strings.TrimSpace(before), After: strings.TrimSpace(after)}
				}
			}
		}
	}
	return statusLost
}

// savedStatus returns the variable in which a statement keeps the status of the one before: "rc=$?".
func (w *walker) savedStatus(s *syntax.Stmt, names []string) string {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) > 0 || len(call.Assigns) != 1 || !slices.Contains(names, w.word(call.Assigns[0].Value)) {
		return ""
	}
	return call.Assigns[0].Name.Value
}

func isPipe(s *syntax.Stmt) bool {
	b, ok := s.Cmd.(*syntax.BinaryCmd)
	return ok && (b.Op == syntax.Pipe || b.Op == syntax.PipeAll)
}

// head returns the name of the first command of a pipe.
func (w *walker) head(s *syntax.Stmt) string {
	for isPipe(s) {
		s = s.Cmd.(*syntax.BinaryCmd).X
	}
	return first(plaintext.Line(strings.Join(bare(w.simple(s)), " "), maxCommand), "?")
}

func (w *walker) simple(s *syntax.Stmt) []string {
	if call, ok := s.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		return w.words(call.Args)
	}
	return nil
}

// echo returns what an "echo" prints to the result.
func (w *walker) echo(s *syntax.Stmt) string {
	words := w.simple(s)
	if len(words) == 0 || words[0] != "echo" || len(s.Redirs) > 0 || s.Background {
		return ""
	}
	for words = words[1:]; len(words) > 0 && among(" -n -e -en -ne ", words[0]); {
		words = words[1:]
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func (w *walker) stmt(s *syntax.Stmt, st status) {
	if s.Negated || s.Background || s.Coprocess {
		st = statusHidden
	}
	var writes []string
	input := ""
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			writes = append(writes, w.word(r.Word))
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				input = w.word(r.Hdoc)
			}
		case syntax.WordHdoc:
			input = w.word(r.Word)
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		for _, a := range c.Assigns {
			w.assign(a, st, len(c.Args) == 0)
		}
		w.substitutions(c.Args)
		if len(c.Args) > 0 {
			w.call(w.words(c.Args), input, writes, st)
			return
		}
	case *syntax.BinaryCmd:
		w.binary(c, st)
	case *syntax.Block:
		w.list(c.Stmts, st)
	case *syntax.Subshell:
		outer := *w
		w.list(c.Stmts, st)
		w.dir, w.vars, w.errexit, w.pipefail = outer.dir, outer.vars, outer.errexit, outer.pipefail
	case *syntax.IfClause:
		for clause := c; clause != nil; clause = clause.Else {
			w.list(clause.Cond, statusLost)
			w.list(clause.Then, statusLost)
		}
	case *syntax.WhileClause:
		w.list(c.Cond, statusLost)
		w.list(c.Do, statusLost)
	case *syntax.ForClause:
		w.list(c.Do, statusLost)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			w.list(item.Stmts, statusLost)
		}
	case *syntax.FuncDecl:
		if c.Name != nil {
			w.functions = append(w.functions, c.Name.Value)
		}
		w.stmt(c.Body, statusLost)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt, st)
		}
	case *syntax.CoprocClause:
		w.stmt(c.Stmt, statusHidden)
	case *syntax.DeclClause:
		for _, a := range c.Args {
			w.assign(a, st, true)
		}
	case *syntax.TestClause:
		w.add(effect{Looks: true, Name: "[["}, st)
	}
	if len(writes) > 0 {
		e := effect{Name: "> " + writes[0]}
		e.edit(w, writes...)
		w.add(e, st)
	}
}

func (w *walker) binary(c *syntax.BinaryCmd, st status) {
	first := len(w.effects)
	switch c.Op {
	case syntax.AndStmt:
		w.stmt(c.X, st)
		second := len(w.effects)
		w.stmt(c.Y, st)
		for _, e := range w.effects[second:] {
			for i := first; i < second && e.Check != ""; i++ {
				w.effects[i].Chained = true
			}
		}
	case syntax.OrStmt:
		left := statusLost
		if w.keeps(c.Y) {
			left = st
		}
		w.stmt(c.X, left)
		w.either(c, w.effects[first:])
		echoes := w.echoes
		w.stmt(c.Y, statusLost)
		w.echoes = echoes // what is printed there speaks of a failure
	default:
		left := statusLost
		if w.pipefail {
			left = st
		}
		w.stmt(c.X, left)
		f := w.filter(c.Y)
		for i := first; i < len(w.effects); i++ {
			w.effects[i].Filter = max(w.effects[i].Filter, f)
		}
		w.stmt(c.Y, st)
	}
}

// keeps reports whether a command after "||" keeps the failure of the one before.
func (w *walker) keeps(s *syntax.Stmt) bool {
	if b, ok := s.Cmd.(*syntax.Block); ok && len(b.Stmts) > 0 {
		s = b.Stmts[len(b.Stmts)-1]
	}
	words := w.simple(s)
	if len(words) == 0 {
		return false
	}
	return words[0] == "false" || (words[0] == "exit" || words[0] == "return") && (len(words) == 1 || words[1] != "0")
}

// either finds out which of two texts "a && echo text || echo other" prints.
func (w *walker) either(c *syntax.BinaryCmd, effects []effect) {
	and, ok := c.X.Cmd.(*syntax.BinaryCmd)
	if !ok || and.Op != syntax.AndStmt || isPipe(and.X) && !w.pipefail {
		return
	}
	passed, failed := w.echo(and.Y), w.echo(c.Y)
	if passed == failed || passed == "" || failed == "" || strings.Contains(passed+failed, "$") {
		return
	}
	for i := range effects {
		effects[i].Printed = &printedStatus{Passed: passed, Failed: failed}
	}
}

// filter says what a command behind a pipe leaves of the output.
func (w *walker) filter(s *syntax.Stmt) filter {
	if isPipe(s) {
		b := s.Cmd.(*syntax.BinaryCmd)
		return max(w.filter(b.X), w.filter(b.Y))
	}
	words := bare(w.simple(s))
	if len(words) == 0 {
		return filterNone
	}
	switch programName(words[0]) {
	case "head", "tail", "cat", "tee", "sed", "awk", "sort", "uniq", "cut", "less", "more", "tac", "tr", "fold":
		return filterPart
	case "grep", "egrep", "rg", "ag":
		sought := strings.ToLower(strings.Join(words[1:], " "))
		if pattern("errors").MatchString(sought) && !pattern("successes").MatchString(sought) {
			return filterErrors
		}
		return filterPart
	case "wc":
		return filterCount
	}
	return filterNone
}

// call walks through a simple command, or the script that it runs.
func (w *walker) call(words []string, input string, writes []string, st status) {
	outer := words
	if words = bare(words); len(words) == 0 {
		return
	}
	for _, o := range outer[:len(outer)-len(words)] { // "timeout 5 cmd" ends it, and "sudo" does nothing to it
		if programName(o) == "nohup" || programName(o) == "setsid" {
			st = max(st, statusLost)
		}
	}
	name := programName(words[0])
	if slices.Contains(w.functions, words[0]) {
		return
	}
	switch name {
	case "cd", "pushd":
		if len(words) > 1 {
			w.dir = w.resolve(words[len(words)-1])
		}
		return
	case "set":
		w.options(words[1:])
		return
	case "echo":
		if text := strings.TrimSpace(strings.Join(words[1:], " ")); len(w.echoes) < 10 && len(text) < 100 &&
			!strings.Contains(text, "$") {
			w.echoes = append(w.echoes, text)
		}
	case "eval":
		w.script(strings.Join(words[1:], " "), st)
		return
	}
	if script := nestedScript(words, input); script != "" {
		inner := walker{project: w.project, dir: w.dir, vars: w.vars, nested: w.nested}
		inner.script(script, st)
		for _, e := range inner.effects {
			w.add(e, st)
		}
		return
	}
	if inner := containedCommand(words); inner != nil {
		e := walker{nested: w.nested + 1}
		e.call(inner, "", nil, st)
		before := len(w.effects)
		for _, e := range e.effects {
			if e.Edits, e.Moves = nil, false; e.Check != "" { // files of the container are not the project's
				w.add(e, st)
			}
		}
		if len(w.effects) > before {
			return
		}
	}
	e := w.commandEffect(words, input, writes)
	w.add(e, st)
}

// options takes "set -euo pipefail" into account.
func (w *walker) options(words []string) {
	for i, o := range words {
		on := strings.HasPrefix(o, "-")
		named := i > 0 && strings.HasPrefix(words[i-1], "-") && strings.HasSuffix(words[i-1], "o")
		switch {
		case named && o == "pipefail":
			w.pipefail = true
		case named && o == "errexit", on && !strings.HasPrefix(o, "--") && strings.Contains(o, "e"):
			w.errexit = true
		case o == "+e":
			w.errexit = false
		}
	}
}

// nestedScript returns the script that a shell is told on its command line or by a here-document.
func nestedScript(words []string, input string) string {
	if !among(" sh bash zsh dash ksh fish su pwsh powershell ", programName(words[0])) {
		return ""
	}
	plain := 0
	for i, a := range words[1:] {
		switch {
		case i+2 < len(words) && (strings.EqualFold(a, "-Command") ||
			len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, "c")):
			return words[i+2]
		case !strings.HasPrefix(a, "-") || a == "-":
			plain++
		}
	}
	if plain == 0 {
		return input
	}
	return ""
}

// containedCommand returns the command that runs in a container or on another machine, nil when there is none.
func containedCommand(words []string) []string {
	if !slices.Contains(commands().lists["contains"], programName(words[0])) {
		return nil
	}
	if last := words[len(words)-1]; strings.Contains(last, " ") && among(" ssh nix-shell ", programName(words[0])) {
		return []string{"sh", "-c", last}
	}
	at := 2 + slices.IndexFunc(words[1:], func(w string) bool {
		return among(" run exec develop ssh shell --run --command ", w)
	})
	for i := at; at > 1 && i < min(len(words), 64); i++ {
		inner := bare(words[i:])
		if len(inner) == 0 || strings.HasPrefix(inner[0], "-") {
			continue
		}
		if nestedScript(inner, "") != "" {
			return inner
		}
		if kinds := kindsOf(inner); len(kinds) == 1 {
			switch classify.CheckKind(kinds[0]) {
			case classify.CheckTest, classify.CheckBuild, classify.CheckLint:
				return inner
			}
		}
	}
	return nil
}

// assign takes "name=value" into account, and what runs to find the value. Alone says that no command follows.
func (w *walker) assign(a *syntax.Assign, st status, alone bool) {
	if a.Value == nil {
		return
	}
	w.substitutions([]*syntax.Word{a.Value})
	if value := w.word(a.Value); alone && a.Name != nil && len(w.vars) < 100 && len(value) <= maxValue &&
		(a.Value.Lit() != "" || !strings.Contains(value, "$")) {
		vars := map[string]string{}
		maps.Copy(vars, w.vars)
		vars[a.Name.Value] = value
		w.vars = vars
	}
}

// substitutions walks through the commands whose output becomes a word.
func (w *walker) substitutions(words []*syntax.Word) {
	for _, word := range words {
		syntax.Walk(word, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				w.list(n.Stmts, statusLost)
				return false
			case *syntax.ProcSubst:
				w.list(n.Stmts, statusHidden)
				return false
			}
			return true
		})
	}
}

func (w *walker) words(args []*syntax.Word) []string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = w.word(a)
	}
	return words
}

// word returns a word without its quotes. What the shell puts in place of a command is "$()".
func (w *walker) word(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	var b strings.Builder
	w.parts(&b, word.Parts)
	return b.String()
}

func (w *walker) parts(b *strings.Builder, parts []syntax.WordPart) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(pattern("escaped").ReplaceAllString(p.Value, "$1"))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			w.parts(b, p.Parts)
		case *syntax.ParamExp:
			b.WriteString(w.parameter(p))
		default:
			b.WriteString("$()")
		}
	}
}

func (w *walker) parameter(p *syntax.ParamExp) string {
	if p.Param == nil {
		return "$()"
	}
	name := p.Param.Value
	plain := p.Index == nil && p.Exp == nil && p.Repl == nil && p.Slice == nil && !p.Length && !p.Excl
	switch value, ok := w.vars[name]; {
	case ok && plain:
		return value
	case p.Index == nil && p.Short:
		return "$" + name
	}
	if word, ok := p.Index.(*syntax.Word); ok {
		name += "[" + word.Lit() + "]"
	}
	return "${" + name + "}"
}
