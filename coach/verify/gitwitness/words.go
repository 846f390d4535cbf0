package gitwitness

import (
	"context"
	"strings"

	"github.com/sidecoach/sidecoach/coach/verify"
	"github.com/sidecoach/sidecoach/coach/verify/internal/lazy"
	"github.com/sidecoach/sidecoach/coach/verify/internal/testcode"
)

var (
	mark    = lazy.New(`^(?:TODO|FIXME|XXX|HACK)$`)
	edge    = lazy.New(`^\w.*\w$`)
	toDebug = lazy.New(`^(?:console|print|dbg|puts|debugger|fmt\.Print|log\.Print|System\.out)`)
)

// words looks for texts that the report says to be gone.
func (l *look) words(ctx context.Context) error {
	for _, word := range l.q.Words[:min(len(l.q.Words), 20)] {
		now, err := l.occurrences(ctx, l.view.tree, word)
		if err != nil {
			return err
		}
		before, err := l.occurrences(ctx, l.from, word)
		if err != nil {
			return err
		}
		l.facts.Words = append(l.facts.Words, verify.WordFact{Word: word, Now: now, Before: before})
	}
	return nil
}

// occurrences returns the lines of a tree that have a text. Prose does not count. Comments count for marks such as TODO
// alone, and tests do not for debugging.
func (l *look) occurrences(ctx context.Context, tree, word string) (list []verify.WordLine, err error) {
	args := []string{"grep", "-z", "-I", "-F"}
	if edge.Match(word) && !mark.Match(word) {
		args = append(args, "-w")
	}
	text := answer{max: maxSource}
	err = l.view.mine.stream(ctx, nil, &text, append(args, "-e", word, tree, "--", ":!*.md", ":!*.rst", ":!*.adoc")...)
	if err != nil && !exited(err, 1) {
		return nil, err
	}
	for line := range strings.Lines(text.text.String()) {
		name, line, _ := strings.Cut(strings.TrimPrefix(line, tree+":"), "\x00")
		if !mark.Match(word) {
			line = testcode.Code(name, strings.TrimRight(line, "\r\n")+"\n")
		}
		if line != "" && !(toDebug.Match(word) && testcode.IsTest(name)) {
			list = append(list, verify.WordLine{File: name, Defines: defines(line, word) > 0})
		}
	}
	return list, nil
}
