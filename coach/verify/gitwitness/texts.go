package gitwitness

import (
	"bytes"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify/plaintext"
	"github.com/sidecoach/sidecoach/coach/verify"
)

const (
	maxNames = 200 // texts
	maxLines = 100 // that are told of a text
	maxLine  = 300 // characters of each
)

// texts looks for texts in all files of the tree.
func (l *look) texts(ctx context.Context) error {
	if len(l.q.Texts) == 0 {
		return nil
	}
	fresh, err := l.fresh(ctx)
	if err != nil {
		return err
	}
	for _, text := range l.q.Texts[:min(len(l.q.Texts), maxNames)] {
		found := answer{max: maxSource}
		pattern := separators.ReplaceAllString(regexp.QuoteMeta(text), "[-_ ]?")
		err := l.view.mine.stream(ctx, nil, &found, "grep", "-z", "-I", "-i", "-E", "-e", pattern, l.view.tree)
		if err != nil && !exited(err, 1) && !found.over {
			return err
		}
		word, err := regexp.Compile(`(?i)(?:^|[^A-Za-z0-9])` + pattern + `(?:$|[^A-Za-z0-9])`)
		if err != nil {
			continue
		}
		var first, claimed, rest []verify.TextLine
		for line := range strings.Lines(found.text.String()) {
			file, line, _ := strings.Cut(strings.TrimPrefix(line, l.view.tree+":"), "\x00")
			line = strings.TrimRight(line, "\r\n")
			if !word.MatchString(line) {
				continue
			}
			one := verify.TextLine{File: file, Line: plaintext.Line(line, maxLine), New: fresh[file][line]}
			switch {
			case one.New:
				first = append(first, one)
			case slices.ContainsFunc(l.q.Paths, func(p string) bool { return path.Base(p) == path.Base(file) }):
				claimed = append(claimed, one)
			default:
				rest = append(rest, one)
			}
		}
		all := slices.Concat(first[:min(len(first), maxLines)], claimed, rest)
		l.facts.Texts = append(l.facts.Texts, verify.TextFact{Text: text, Lines: all[:min(len(all), 2*maxLines)]})
	}
	return nil
}

var separators = regexp.MustCompile(`[-_ ]`)

// fresh returns the lines of the changed files that the baseline does not have there.
func (l *look) fresh(ctx context.Context) (map[string]map[string]bool, error) {
	var objects []string
	for _, d := range l.list[:min(len(l.list), maxTexts)] {
		objects = append(objects, d.old, d.now)
	}
	texts, err := l.view.texts(ctx, objects)
	lines := map[string]map[string]bool{}
	for _, d := range l.list[:min(len(l.list), maxTexts)] {
		if d.status == "D" || bytes.IndexByte(texts[d.now], 0) >= 0 {
			continue
		}
		set := map[string]bool{}
		for line := range strings.Lines(string(texts[d.now])) {
			set[strings.TrimRight(line, "\r\n")] = true
		}
		for line := range strings.Lines(string(texts[d.old])) {
			delete(set, strings.TrimRight(line, "\r\n"))
		}
		lines[d.path] = set
	}
	return lines, err
}
