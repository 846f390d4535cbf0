package transcript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sidecoach/sidecoach/classify"
	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// Bounds of a script. The parser recurses, so depth matters as well as length.
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
	known   map[string]string // "$" and a variable that is set to plain words; a file from a here-document

	said   string   // what the last command printed, if it was an "echo"
	echoes []string // lines that the script prints itself, up to what is not known
	nested int
}

func (w *walker) script(script string) []effect {
	unknown := []effect{{Unknown: true, Name: plaintext.Line(script, 60)}}
	if len(script) > maxScript || nesting(script) > maxNesting || w.nested > maxNested {
		return unknown
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return unknown
	}
	effects := w.list(file.Stmts)
	effects = effects[:min(len(effects), maxEffects)]
	for i := range effects {
		if e := &effects[i]; e.quiet() && e.Status == statusLost {
			e.Echoes = w.echoes
		}
	}
	return effects
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

// lower makes the exit statuses of commands less certain.
func lower(effects []effect, st status) []effect {
	for i := range effects {
		effects[i].Status = max(effects[i].Status, st)
	}
	return effects
}

// list walks through statements one after another. The result has the exit status of the last one. Of the one before
// an "echo" it may be printed.
func (w *walker) list(stmts []*syntax.Stmt) (all []effect) {
	last := 0 // where the effects of the last statement begin
	for _, s := range stmts {
		w.said = ""
		effects := w.stmt(s)
		_, simple := s.Cmd.(*syntax.CallExpr)
		before, _, ok := strings.Cut(w.said, "$?")
		for i := range all[last:] {
			if e := &all[last+i]; simple && ok && e.Status == statusKept && !strings.Contains(before, "$") {
				e.Printed = strings.TrimSpace(before) + "$"
			}
		}
		lower(all[last:], statusLost)
		last = len(all)
		all = append(all, effects...)
	}
	return all
}

func nameOf(words []string) string { return plaintext.Line(strings.Join(words, " "), maxCommand) }

func (w *walker) stmt(s *syntax.Stmt) (effects []effect) {
	var writes []string
	input := ""
	for _, r := range s.Redirs {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
			writes = append(writes, w.word(r.Word))
		case syntax.Hdoc, syntax.DashHdoc:
			input = w.word(r.Hdoc)
		case syntax.WordHdoc:
			input = w.word(r.Word)
		}
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		effects = w.within(c)
		var words []string
		for _, arg := range c.Args {
			words = append(words, w.word(arg))
		}
		if words == nil {
			w.assign(c.Assigns)
			break
		}
		effects = append(effects, w.call(words, input, writes)...)
		writes = nil
	case *syntax.DeclClause:
		effects = w.within(c)
		w.assign(c.Args)
	case *syntax.BinaryCmd:
		effects = w.binary(c)
	case *syntax.Block:
		effects = w.list(c.Stmts)
	case *syntax.Subshell:
		inner := *w
		effects = inner.list(c.Stmts)
		w.echoes = inner.echoes
	case *syntax.TimeClause:
		if c.Stmt != nil {
			effects = w.stmt(c.Stmt)
		}
	default: // a condition, a loop or a function
		effects = w.within(c)
	}
	if len(writes) > 0 {
		e := effect{Name: nameOf([]string{">", writes[0]})}
		if e.edit(w, writes...); e.matters() {
			effects = append(effects, e)
		}
	}
	if s.Negated || s.Background || s.Coprocess {
		lower(effects, statusHidden)
	}
	return effects
}

// within walks through the statements in a compound command or a word. How they end does not show.
func (w *walker) within(node syntax.Node) []effect {
	var stmts []*syntax.Stmt
	syntax.Walk(node, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if ok {
			stmts = append(stmts, s)
		}
		return !ok
	})
	return lower(w.list(stmts), statusLost)
}

func (w *walker) binary(c *syntax.BinaryCmd) []effect {
	left := w.stmt(c.X)
	echoes := w.echoes
	right := w.stmt(c.Y)
	switch {
	case c.Op == syntax.AndStmt:
		for i := range left {
			left[i].Chained = left[i].Chained || slices.ContainsFunc(right, effect.checks)
		}
		return append(left, right...)
	case c.Op == syntax.OrStmt:
		w.echoes = echoes // what is printed there speaks of a failure
		lower(right, statusLost)
	case slices.ContainsFunc(left, effect.verifies): // "go test | prettify" runs no program of the project
		right = slices.DeleteFunc(right, func(e effect) bool { return e.Check == classify.CheckRun && len(e.Edits) == 0 })
	}
	return append(lower(left, statusLost), right...)
}

const shells = " sh bash zsh dash ksh fish cmd pwsh powershell "

// call walks through a simple command, or the script that it runs.
func (w *walker) call(words []string, input string, writes []string) []effect {
	words = bare(words)
	if len(words) == 0 {
		return nil
	}
	switch programName(words[0]) {
	case "cd", "pushd":
		if len(words) > 1 {
			w.dir = w.resolve(words[len(words)-1])
		}
		return nil
	case "echo":
		isFlag := func(a string) bool { return among(" -n -e -en -ne ", a) }
		w.said = strings.TrimSpace(strings.Join(slices.DeleteFunc(slices.Clone(words[1:]), isFlag), " "))
		text, _, _ := strings.Cut(w.said+"\n", "$")
		if len(w.echoes) < 10 && len(text) < 100 && len(text) > 1 {
			w.echoes = append(w.echoes, text)
		}
	}
	script := ""
	switch {
	case words[0] == "eval":
		script = strings.Join(words[1:], " ")
	case among(shells, strings.ToLower(programName(words[0]))):
		script, _ = inlineCode(words[1:], input)
	}
	if script == "" {
		return w.commandEffects(words, input, writes)
	}
	inner := walker{project: w.project, dir: w.dir, known: w.known, nested: w.nested + 1}
	return inner.script(script)
}

// note remembers the value of a variable, or what was written to a file, also for outer shells.
func (w *walker) note(key, value string) {
	if w.known == nil {
		w.known = make(map[string]string)
	}
	if len(w.known) < 100 {
		w.known[key] = value
	}
}

// assign notes variables that are set to plain words.
func (w *walker) assign(assigns []*syntax.Assign) {
	for _, a := range assigns {
		if a.Value == nil || a.Name == nil {
			continue
		}
		value := w.word(a.Value)
		if len(value) <= maxValue && (a.Value.Lit() != "" || !strings.Contains(value, "$")) {
			w.note("$"+a.Name.Value, value)
		}
	}
}

// word returns a word without its quotes. What the shell puts in place of a command is "$()".
func (w *walker) word(word *syntax.Word) string {
	if word == nil {
		return ""
	}
	return w.parts(word.Parts)
}

func (w *walker) parts(parts []syntax.WordPart) string {
	var b strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(pattern("escaped").ReplaceAllString(p.Value, "$1"))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			b.WriteString(w.parts(p.Parts))
		case *syntax.ParamExp:
			name := "$" // the value, or the name if the script does not set it to plain words
			if p.Param != nil {
				name += p.Param.Value
			}
			b.WriteString(cmp.Or(w.known[name], name))
		default:
			b.WriteString("$()")
		}
	}
	return b.String()
}
