package verify

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// values reads which values a clause says something has now, and which files it says may be executed.
func (r *Report) values(s, m string) {
	paths := clausePaths(s)
	in := ""
	if len(paths) == 1 {
		in = paths[0]
	}
	set := func(name, value string) {
		name = strings.TrimLeft(strings.TrimSpace(name), "-$")
		name = name[strings.LastIndexAny(name, ".:/ ")+1:]
		if name != "" && !lex().TestName.Match(name) {
			r.add(Claim{Kind: valueClaim, Text: s, Name: name, Value: strings.TrimRight(value, ".,"), Path: in})
		}
	}
	bare := s
	for _, p := range paths {
		for _, in := range []string{" in ", " of ", " at ", " "} {
			bare = strings.NewReplacer(in+"`"+p+"`", " ", in+p, " ").Replace(bare)
		}
	}
	for _, f := range lex().ValueSet.FindAll(bare) {
		set(cmp.Or(f[1], f[2], f[4], f[5]), cmp.Or(f[3], f[6]))
	}
	if f := lex().ValueIs.Find(bare); f != nil && lex().IsNow.Match(m) {
		set(cmp.Or(f[1], f[2]), f[3])
	}
	if f := lex().PlainIs.Find(bare); f != nil && in != "" && lex().IsNow.Match(m) {
		set(f[1], f[2])
	}
	for _, q := range lex().Spans.FindAll(s) {
		if f := lex().Assignment.Find(q[1]); f != nil && !lex().ToolUse.Match(m) && !isPath(tidyPath(q[1])) {
			set(f[1], f[2])
		}
	}
	if f := lex().VersionIs.Find(bare); f != nil {
		r.add(Claim{Kind: textClaim, Text: s, Name: cmp.Or(f[1:]...), Path: in})
	}
	if lex().ExecutableNow.Match(m) {
		for _, p := range paths {
			r.add(Claim{Kind: modeClaim, Text: s, Path: p})
		}
	}
}

// clausePaths returns the paths of files in a clause.
func clausePaths(s string) (list []string) {
	for _, m := range lex().AnyPath.FindAll(s) {
		if p := tidyPath(m[1]); isPath(p) {
			list = append(list, p)
		}
	}
	return list
}

// literals reads which options, routes, targets and other texts in code a clause says to be there, and in which file.
func (r *Report) literals(s, m string) {
	r.goneFrom(s)
	if lex().Drops.Match(m) {
		return
	}
	paths, fresh := clausePaths(s), lex().FreshThing.Match(m)
	in := ""
	if len(paths) == 1 && (lex().Describes.Match(m) || fresh) {
		in = paths[0]
	}
	add := func(name, command string) {
		if len(name) > 1 {
			r.add(Claim{Kind: textClaim, Text: s, Name: name, Command: command, Path: in, Sure: fresh && in == ""})
		}
	}
	for _, at := range lex().Spans.FindAllIndex(s) {
		span, behind := s[at[2]:at[3]], s[at[1]:]
		program := lex().Program.Match(span + " ")
		switch f := lex().RunsTarget.Find(span); {
		case isPath(span):
		case f != nil && lex().TargetThing.Match(m):
			r.add(Claim{Kind: textClaim, Text: s, Name: f[1], Command: span})
		case f == nil && !program && lex().TargetBehind.Match(behind) &&
			lex().CodeName.Match(strings.ReplaceAll(span, "-", "_")):
			r.add(Claim{Kind: textClaim, Text: s, Name: span, Command: "make " + span})
		case strings.Contains(" "+span, " -"):
			if (program && !lex().Interpreter.Match(span) || lex().ToolUse.Match(m)) && !fresh {
				continue
			}
			for _, o := range lex().Option.FindAll(" " + span) {
				add(o[1], "--"+o[1])
			}
		case lex().RoutePath.Match(span):
			if f := lex().RoutePath.Find(span); f[1] != "" || lex().RouteThing.Match(m) {
				for _, part := range slices.Backward(strings.Split(f[2], "/")) {
					if lex().IdentName.Match(strings.ReplaceAll(part, "-", "_")) {
						add(part, "")
						break
					}
				}
			}
		case in != "" && !program && !lex().Assignment.Match(span) && lex().Describes.Match(m):
			if f := lex().CodeName.Find(span); f != nil {
				span = f[1]
			}
			add(span, "")
		}
	}
}

// goneFrom reads that something is gone from files: "`requests` is gone from `setup.py` and `tox.ini`".
func (r *Report) goneFrom(s string) {
	f := lex().GoneFrom.FindAllIndex(s)
	if len(f) == 0 {
		return
	}
	paths, _ := pathList(s[f[0][1]:])
	for _, p := range paths {
		if name := s[f[0][2]:f[0][3]]; !isPath(name) && lex().CodeName.Match(strings.ReplaceAll(name, "-", "_")) {
			r.add(Claim{Kind: textClaim, Text: s, Name: name, Path: p, Change: Removed})
		}
	}
}

// listed reads what an item of a list or the row of a table begins with: a name in code that is said to be there.
func (r *Report) listed(item string) {
	m := masked(item)
	if begin := lex().ItemSpans.Regexp().FindString(item); begin != "" && strings.Contains(begin, "`-") &&
		!lex().Denied.Match(m) && !lex().Planned.Match(m) && !lex().NotDone.Match(item) {
		r.literals(begin, masked(begin))
	}
	if lex().Denied.Match(m) || lex().Supposed.Match(m) || lex().Drops.Match(m) || lex().NotDone.Match(item) {
		return
	}
	for _, q := range lex().Spans.FindAll(lex().ItemSpans.Regexp().FindString(item)) {
		f := lex().CodeName.Find(q[1])
		if f != nil && len(f[1]) > 2 && !isPath(q[1]) && !lex().Program.Match(q[1]+" ") && !lex().TestName.Match(q[1]) &&
			!lex().CommitHash.Match(q[1]) {
			r.add(Claim{Kind: saidClaim, Text: item, Name: f[1]})
		}
	}
}

func isMakefile(p string) bool {
	base := strings.ToLower(path.Base(p))
	return base == "makefile" || base == "gnumakefile" || base == "justfile" || strings.HasSuffix(base, ".mk") ||
		strings.HasPrefix(base, "taskfile")
}
