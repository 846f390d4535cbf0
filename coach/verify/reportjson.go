package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// ParseReport reads what an agent reports: a JSON object, alone or in one fence, else prose. It would rather miss a claim than invent
// one: what it does not find is held against nobody. Of prose it reads 128 KiB, and of a line 4,000 bytes.
//
// Of JSON it reads, under these keys in any letter case, with "_", "-" or nothing between words,
//
//	files, files_changed, files_modified, files_updated, modified_files, changed_files   paths, or objects with path (or file) and action
//	files_created, files_added, created_files, new_files                                 paths that were added
//	files_deleted, files_removed, deleted_files, removed_files                           paths that were removed
//	commits, commit, commit_hash, commit_sha                                             names, or objects with hash (or sha, id)
//	tests, test_results, tests_run                                                       total, passed, failed, skipped, command
//	tests_passed, tests_failed, tests_skipped, tests_total                               numbers; tests_passed may be true or false
//	build, build_passed, lint, lint_passed                                               true, false, "passed", "failed" and the like
//	summary, report, text, message, notes, description                                   prose
//
// and a list may be one text with commas in it. Other keys claim nothing.
//
// The errors are [ErrTooLarge], [ErrNotUTF8], and [ErrNotAReport] for data that begins like a JSON object and is none.
func ParseReport(data []byte) (Report, error) {
	if err := readable(data); err != nil {
		return Report{}, fmt.Errorf("verify: report: %w", err)
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	object := []byte(unfenced(strings.TrimSpace(text)))
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object, &fields); err == nil && fields != nil {
		return reportOf(fields, text), nil
	} else if bytes.HasPrefix(object, []byte(`{"`)) || bytes.HasPrefix(object, []byte("{\n")) {
		return Report{}, fmt.Errorf("verify: report: %w: %s", ErrNotAReport, wrongSyntax(err))
	}
	r := Report{Text: text}
	r.prose(text)
	return r, nil
}

func wrongSyntax(err error) string {
	if e, ok := err.(*json.SyntaxError); ok {
		return fmt.Sprintf("look before byte %d", e.Offset)
	}
	return "it does not end"
}

// unfenced returns what is inside a fence, if there is nothing else.
func unfenced(s string) string {
	first, rest, ok := strings.Cut(s, "\n")
	if !ok || !strings.HasPrefix(first, "```") || !strings.HasSuffix(rest, "\n```") || strings.Contains(strings.TrimSuffix(rest, "\n```"), "```") {
		return s
	}
	return strings.TrimSpace(strings.TrimSuffix(rest, "```"))
}

// reportOf reads the fields of a report in the order of their names, so that equal reports are equal.
func reportOf(fields map[string]json.RawMessage, text string) Report {
	r := Report{Text: text}
	var names []string
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	var tests TestClaim
	for _, name := range names {
		raw := fields[name]
		switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name)) {
		case "files", "fileschanged", "filesmodified", "filesupdated", "modifiedfiles", "changedfiles", "updatedfiles":
			r.fileList(raw, "")
		case "filescreated", "filesadded", "createdfiles", "addedfiles", "newfiles":
			r.fileList(raw, Added)
		case "filesdeleted", "filesremoved", "deletedfiles", "removedfiles":
			r.fileList(raw, Removed)
		case "commits", "commit", "commithash", "commitsha":
			r.commitList(raw)
		case "tests", "testresults", "testsrun":
			tests.read(raw)
		case "testspassed":
			tests.set(&tests.Passed, raw, Met)
		case "testsfailed":
			tests.set(&tests.Failed, raw, NotMet)
		case "testsskipped":
			tests.set(&tests.Skipped, raw, "")
		case "teststotal":
			tests.set(&tests.Total, raw, "")
		case "build", "buildpassed":
			r.addOutcome(RunBuild, raw)
		case "lint", "lintpassed":
			r.addOutcome(RunLint, raw)
		case "summary", "report", "text", "message", "notes", "description":
			var s string
			if json.Unmarshal(raw, &s) == nil {
				r.prose(s)
			}
		}
	}
	if tests.settle(); tests.said() {
		tests.Kind = RunTests
		r.addTest(tests)
	}
	return r
}

// fileList adds the paths of a list, a text, or objects.
func (r *Report) fileList(raw json.RawMessage, kind ChangeKind) {
	var entries list[json.RawMessage]
	if json.Unmarshal(raw, &entries) != nil {
		return
	}
	for _, e := range entries {
		var s string
		if json.Unmarshal(e, &s) == nil {
			for _, p := range splitPaths(s) {
				r.fileEntry(p, kind)
			}
			continue
		}
		var o struct{ Path, File, Filename, Name, Action, Status, Change scalar }
		if json.Unmarshal(e, &o) == nil {
			r.fileEntry(string(firstOf(o.Path, o.File, o.Filename, o.Name)), firstKind(kindOfWord(string(firstOf(o.Action, o.Status, o.Change))), kind))
		}
	}
}

// fileEntry adds the path of an entry, which may say more: "a.go (new)", "a.go - why", "a.go -> b.go". A word for nothing, a folder and
// words among which there is surely no path claim nothing.
func (r *Report) fileEntry(s string, kind ChangeKind) {
	s = strings.TrimSpace(s)
	switch strings.ToLower(s) {
	case "none", "n/a", "na", "nil", "null", "nothing", "-":
		return
	}
	if strings.HasSuffix(s, "/") || strings.HasSuffix(s, `\`) {
		return
	}
	if strings.ContainsAny(s, " \t") && !isPath(tidyPath(s)) {
		r.bullet(s, kind)
		return
	}
	r.addFile(s, kind)
}

func (r *Report) commitList(raw json.RawMessage) {
	var entries list[json.RawMessage]
	if json.Unmarshal(raw, &entries) != nil {
		return
	}
	for _, e := range entries {
		var s string
		if json.Unmarshal(e, &s) != nil {
			var o struct{ Hash, SHA, ID, Commit scalar }
			if json.Unmarshal(e, &o) != nil {
				continue
			}
			s = string(firstOf(o.Hash, o.SHA, o.ID, o.Commit))
		}
		for part := range strings.SplitSeq(s, ",") {
			if name, _, _ := strings.Cut(strings.TrimSpace(part), " "); isHash(name) {
				r.addCommit(name)
			}
		}
	}
}

// read takes a number of tests, a result, a text such as "12 passed, 1 failed", or an object with the counts.
func (c *TestClaim) read(raw json.RawMessage) {
	var o struct {
		Command                        scalar
		Result, Status                 scalar
		Total, Passed, Failed, Skipped json.RawMessage
	}
	if json.Unmarshal(raw, &o) == nil {
		c.Command = string(o.Command)
		c.set(&c.Total, o.Total, "")
		c.set(&c.Passed, o.Passed, Met)
		c.set(&c.Failed, o.Failed, NotMet)
		c.set(&c.Skipped, o.Skipped, "")
		if s := outcomeOfWord(string(firstOf(o.Result, o.Status))); s != "" {
			c.Result = s
		}
		return
	}
	var s scalar
	if json.Unmarshal(raw, &s) != nil || bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		return
	}
	if res := outcomeOfWord(string(s)); res != "" {
		c.Result = res
		return
	}
	var said Report
	said.testClaims(string(s))
	if len(said.Tests) == 1 {
		command := c.Command
		*c = said.Tests[0]
		c.Command = firstOf(command, c.Command)
	}
}

// set takes a count, or a bool for the result.
func (c *TestClaim) set(to **int, raw json.RawMessage, whenTrue Status) {
	switch s := strings.TrimSpace(string(raw)); s {
	case "", "null":
	case "true", "false":
		if whenTrue == Met {
			c.Result = outcomeOfWord(s)
		}
	default:
		var l list[json.RawMessage]
		if s[0] == '[' && json.Unmarshal(raw, &l) == nil {
			*to = new(len(l))
			return
		}
		var n number
		var word scalar
		if json.Unmarshal(raw, &word) == nil && strings.Trim(string(word), "0123456789") == "" && word != "" && json.Unmarshal(raw, &n) == nil {
			*to = new(int(n))
		}
	}
}

// settle derives the result from the counts where it is not said.
func (c *TestClaim) settle() {
	switch {
	case c.Failed != nil && *c.Failed > 0:
		c.Result = NotMet
	case c.Result == "" && c.Passed != nil && *c.Passed > 0 && (c.Total == nil || *c.Total <= *c.Passed+value(c.Skipped)):
		c.Result = Met
	}
}

// said reports whether anything is claimed.
func (c TestClaim) said() bool {
	return c.Result != "" || c.Total != nil || c.Passed != nil || c.Failed != nil || c.Skipped != nil
}

func value(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func (r *Report) addOutcome(kind RunKind, raw json.RawMessage) {
	var s scalar
	if json.Unmarshal(raw, &s) == nil {
		if res := outcomeOfWord(string(s)); res != "" {
			r.addTest(TestClaim{Kind: kind, Result: res})
		}
	}
}

// outcomeOfWord reads the result of a run in a word.
func outcomeOfWord(s string) Status {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "pass", "passed", "passing", "ok", "success", "succeeded", "successful", "green", "clean":
		return Met
	case "false", "fail", "failed", "failing", "failure", "error", "red", "broken":
		return NotMet
	}
	return ""
}

// kindOfWord reads how a file was changed in a word.
func kindOfWord(s string) ChangeKind {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "added", "add", "created", "create", "new", "wrote", "a":
		return Added
	case "modified", "modify", "updated", "update", "changed", "change", "edited", "edit", "rewrote", "refactored", "m":
		return Modified
	case "removed", "remove", "deleted", "delete", "d":
		return Removed
	}
	return ""
}

func firstKind(kinds ...ChangeKind) ChangeKind {
	for _, k := range kinds {
		if k != "" {
			return k
		}
	}
	return ""
}

func firstOf[T ~string](all ...T) T {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// addFile adds the claim that a path was changed, once; a later, more exact one counts.
func (r *Report) addFile(p string, kind ChangeKind) {
	p = tidyPath(p)
	if p == "" {
		return
	}
	for i, c := range r.Files {
		if cleanPath(c.Path) == cleanPath(p) {
			if c.Kind == "" {
				r.Files[i].Kind = kind
			} else if c.Kind == Added && kind == Removed {
				r.Files = slices.Delete(r.Files, i, i+1) // made and taken away again: there is nothing to see
			} else if kind != "" && kind != c.Kind {
				r.Files[i].Kind = "" // added and then changed, or both ways: changed it is in any case
			}
			return
		}
	}
	if len(r.Files) < maxClaims {
		r.Files = append(r.Files, FileClaim{Path: p, Kind: kind})
	}
}

func (r *Report) addCommit(rev string) {
	if len(r.Commits) < maxClaims && !slices.Contains(r.Commits, rev) {
		r.Commits = append(r.Commits, rev)
	}
}

// addTest adds a claim about a run, once.
func (r *Report) addTest(c TestClaim) {
	same := func(o TestClaim) bool { return o.words() == c.words() && o.Part == c.Part && o.Kind == c.Kind }
	if len(r.Tests) < maxClaims && !slices.ContainsFunc(r.Tests, same) {
		r.Tests = append(r.Tests, c)
	}
}

// maxClaims bounds the claims of a kind: what witnesses look for.
const maxClaims = 500

// splitPaths takes a list in one text apart, at commas between what looks like paths, and at line ends.
func splitPaths(s string) []string {
	var all []string
	for line := range strings.Lines(s) {
		if strings.Contains(line, "{") {
			all = append(all, strings.TrimSpace(line)) // a pattern, whose commas are its own
			continue
		}
		parts := strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ';' })
		for i, p := range parts {
			p = strings.TrimSpace(p)
			if i > 0 || len(parts) > 1 {
				p = strings.TrimPrefix(p, "and ")
			}
			parts[i] = p
		}
		if slices.ContainsFunc(parts, func(p string) bool { return !isPath(tidyPath(p)) && path.Ext(p) == "" && !strings.Contains(p, "/") }) {
			all = append(all, strings.TrimSpace(line)) // a comma in a name
			continue
		}
		for _, p := range parts {
			if a, b, ok := strings.Cut(p, " and "); ok && isPath(tidyPath(a)) && isPath(tidyPath(b)) {
				all = append(all, a, b)
				continue
			}
			all = append(all, p)
		}
	}
	return all
}
