package coach

import (
	"reflect"
	"strconv"
	"text/template/parse"
)

// text/template allocates for every step it takes. So a template of nothing but text, fields and conditions, as the
// default ones are, is compiled into functions that print the same; for any other, compile says no.

// printer prints a part of a template. F holds a fields struct.
type printer func(w *bounded, f reflect.Value) error

// condition is what an if asks.
type condition func(f reflect.Value) bool

// compile returns what prints list, and whether it can be compiled. The printer fails where the template fails, with the
// same error.
func compile(list *parse.ListNode) (_ printer, ok bool) {
	if list == nil {
		return func(*bounded, reflect.Value) error { return nil }, true
	}
	parts := make([]printer, len(list.Nodes))
	for i, n := range list.Nodes {
		if parts[i], ok = compileNode(n); !ok {
			return nil, false
		}
	}
	return func(w *bounded, f reflect.Value) error {
		for _, print := range parts {
			if err := print(w, f); err != nil {
				return err
			}
		}
		return nil
	}, true
}

func compileNode(n parse.Node) (printer, bool) {
	switch n := n.(type) {
	case *parse.TextNode:
		text := string(n.Text)
		return func(w *bounded, _ reflect.Value) error { return w.writeString(text) }, true
	case *parse.ActionNode:
		if i, ok := fieldOf(sole(n.Pipe)); ok {
			return func(w *bounded, f reflect.Value) error { return w.print(f.Field(i)) }, true
		}
	case *parse.IfNode:
		holds, ok := compileCondition(n.Pipe)
		then, ok1 := compile(n.List)
		otherwise, ok2 := compile(n.ElseList)
		return func(w *bounded, f reflect.Value) error {
			if holds(f) {
				return then(w, f)
			}
			return otherwise(w, f)
		}, ok && ok1 && ok2
	}
	return nil, false
}

// compileCondition compiles a field, "and", "or" and "not" of conditions, and the comparison of a number with a literal.
func compileCondition(n parse.Node) (condition, bool) {
	if p, ok := n.(*parse.PipeNode); ok {
		if n = sole(p); n == nil {
			return compileCall(p)
		}
		return compileCondition(n)
	}
	i, ok := fieldOf(n)
	return func(f reflect.Value) bool { return !f.Field(i).IsZero() }, ok
}

// compileCall compiles a condition that calls a function.
func compileCall(p *parse.PipeNode) (condition, bool) {
	if len(p.Decl) > 0 || len(p.Cmds) != 1 {
		return nil, false
	}
	args := p.Cmds[0].Args
	function, ok := args[0].(*parse.IdentifierNode)
	if !ok {
		return nil, false
	}
	args = args[1:]
	if compare, ok := comparisons[function.Ident]; ok {
		return compileComparison(compare, args)
	}
	all := make([]condition, len(args))
	for i, arg := range args {
		if all[i], ok = compileCondition(arg); !ok {
			return nil, false
		}
	}
	switch {
	case function.Ident == "not" && len(all) == 1:
		return func(f reflect.Value) bool { return !all[0](f) }, true
	case (function.Ident == "and" || function.Ident == "or") && len(all) > 0:
		until := function.Ident == "or" // what decides at once
		return func(f reflect.Value) bool {
			for _, holds := range all {
				if holds(f) == until {
					return until
				}
			}
			return !until
		}, true
	}
	return nil, false
}

var comparisons = map[string]func(a, b int64) bool{
	"eq": func(a, b int64) bool { return a == b },
	"ne": func(a, b int64) bool { return a != b },
	"lt": func(a, b int64) bool { return a < b },
	"le": func(a, b int64) bool { return a <= b },
	"gt": func(a, b int64) bool { return a > b },
	"ge": func(a, b int64) bool { return a >= b },
}

func compileComparison(compare func(a, b int64) bool, args []parse.Node) (condition, bool) {
	if len(args) != 2 {
		return nil, false
	}
	i, ok := fieldOf(args[0])
	literal, isNumber := args[1].(*parse.NumberNode)
	if !ok || !isNumber || fieldsType.Field(i).Type.Kind() != reflect.Int {
		return nil, false
	}
	number, err := strconv.ParseInt(literal.Text, 10, 64)
	return func(f reflect.Value) bool { return compare(f.Field(i).Int(), number) }, err == nil
}

// sole returns the only operand of a pipe, or nil.
func sole(p *parse.PipeNode) parse.Node {
	if len(p.Decl) == 0 && len(p.Cmds) == 1 && len(p.Cmds[0].Args) == 1 {
		return p.Cmds[0].Args[0]
	}
	return nil
}

var fieldsType = reflect.TypeFor[fields]()

// fieldOf returns the index of the field that n names.
func fieldOf(n parse.Node) (int, bool) {
	field, ok := n.(*parse.FieldNode)
	if !ok || len(field.Ident) != 1 {
		return 0, false
	}
	sf, ok := fieldsType.FieldByName(field.Ident[0])
	if !ok || sf.Type.Kind() != reflect.String && sf.Type.Kind() != reflect.Int {
		return 0, false
	}
	return sf.Index[0], true
}

// print prints a field.
func (w *bounded) print(v reflect.Value) error {
	if v.Kind() == reflect.String {
		return w.writeString(v.String())
	}
	return w.writeString(strconv.FormatInt(v.Int(), 10))
}
