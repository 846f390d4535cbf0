package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/term"

	"github.com/sidecoach/sidecoach/classify/plaintext"
)

// terminal says what the program is talking to.
type terminal struct {
	keyboard bool // standard input is a person's keyboard, not a pipe or a file
	width    int  // of standard output in characters, 0 when it is not a terminal
	color    bool // standard output shows colours and the user has not asked for none
}

// detect looks at the streams and at NO_COLOR (https://no-color.org) and TERM.
func detect(stdin io.Reader, stdout io.Writer) terminal {
	f, ok := stdin.(*os.File)
	t := terminal{keyboard: ok && term.IsTerminal(int(f.Fd())), width: widthOf(stdout)}
	t.color = t.width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return t
}

// widthOf returns how many columns the terminal w has, 80 if it does not say, and 0 if w is not a terminal.
func widthOf(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// styles are parameters of a terminal's "select graphic rendition" sequence.
var styles = map[string]string{
	"bold": "1", "dim": "2", "red": "1;31", "green": "1;32", "yellow": "1;33", "cyan": "1;36",
}

func paint(style, text string) string { return "\x1b[" + styles[style] + "m" + text + "\x1b[0m" }

var painted = regexp.MustCompile("\x1b\\[[0-9;]*m")

const labelWidth = 10

// tell writes lines to standard output, see [terminal.show]. The error may be ignored, see [sink].
func (t terminal) tell(w io.Writer, lines string) error {
	_, err := io.WriteString(w, t.show(lines))
	return err
}

// show returns lines as the terminal shows them: wrapped, and in colour where it has colours. A line with a tab is a
// label and a text, and an empty line does not count.
func (t terminal) show(lines string) string {
	if !t.color {
		lines = painted.ReplaceAllString(lines, "")
	}
	shown := ""
	for line := range strings.SplitSeq(lines, "\n") {
		label, text, isRow := strings.Cut(line, "\t")
		switch {
		case line == "" || isRow && text == "":
		case isRow:
			indent := label[:len(label)-len(strings.TrimLeft(label, " "))]
			for _, part := range wrap(text, t.width-labelWidth-2-len(indent)) {
				if label = fmt.Sprintf("%-*s", labelWidth+len(indent), label); t.color {
					label = paint("dim", label)
				}
				shown += "  " + label + part + "\n"
				label = indent
			}
		default:
			for _, part := range wrap(line, t.width) {
				shown += strings.TrimRight(part, " ") + "\n"
			}
		}
	}
	return shown
}

//go:embed views.txt
var viewsText string

var views = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"line": oneLine, "visible": visible, "cut": cut, "quote": quote, "join": strings.Join, "words": words,
		"plural": plural, "counts": counts, "now": time.Now,
		"verdict": verdictInWords, "paint": paint,
		"time":     func(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") },
		"lines":    func(s string) []string { return strings.Split(strings.TrimSpace(s), "\n") },
		"undotted": func(s string) string { return strings.TrimRight(s, ".") },
		"plus":     func(a, b int) int { return a + b }, "minus": func(a, b int) int { return a - b },
		"value": func(x *float64) float64 { return *x },
		"first": func(n int, list []string) []string { return list[:min(n, len(list))] },
	}).Parse(viewsText))
})

func view(name string, data any) string {
	var b strings.Builder
	if err := views().ExecuteTemplate(&b, name, data); err != nil {
		panic(err) // the text does not fit the data
	}
	return b.String()
}

// ownSecrets returns the keys and passwords in this program's environment, its own API key among them. What is short is
// not taken for a secret: "none" and "ollama" are keys of local servers.
func ownSecrets() (secrets []string) {
	const shortest = 16 // bytes
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name)
		for _, suffix := range []string{"KEY", "TOKEN", "SECRET", "PASSWORD"} {
			if strings.HasSuffix(name, suffix) && len(value) >= shortest {
				secrets = append(secrets, value)
			}
		}
	}
	return secrets
}

// masked returns s without secrets. What is printed goes through it, see [visible] and [writeJSON].
func masked(s string) string { return plaintext.Redact(s, ownSecrets()...) }

// visible returns s as a terminal may show it: without secrets and with nothing to act on.
func visible(s string) string { return plaintext.Visible(masked(s)) }

func oneLine(s string) string { return visible(strings.Join(strings.Fields(s), " ")) }

func cut(s string, limit int) string { return plaintext.Line(masked(s), limit) }

// quote returns a span of the agent's text on one line, in quotation marks, with at most limit characters between them.
func quote(span string, limit int) string { return `"` + plaintext.Cut(oneLine(span), limit) + `"` }

// wrap breaks a line between words so that no part is wider than width columns, unless a word is. A width of 0 or less
// breaks nothing, and a line in colour stays whole.
func wrap(line string, width int) (parts []string) {
	if width <= 0 || runewidth.StringWidth(line) <= width || painted.MatchString(line) {
		return []string{line}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	part := indent
	for word := range strings.FieldsSeq(line) {
		switch {
		case part == indent:
			part += word
		case runewidth.StringWidth(part+" "+word) > width:
			parts = append(parts, part)
			part = indent + word
		default:
			part += " " + word
		}
	}
	return append(parts, part)
}

func words(code string) string { return strings.ReplaceAll(code, "_", " ") }

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprint(n, " ", what, "s")
}

var jsonString = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// writeJSON writes v as JSON in which a terminal finds nothing to act on: on one line, unless there is an indent. No
// text of it shows a secret.
func writeJSON(w io.Writer, v any, indent ...string) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", strings.Join(indent, ""))
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("cannot write JSON: %w", err)
	}
	secrets := ownSecrets()
	safe := jsonString.ReplaceAllFunc(b.Bytes(), func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) == nil {
			if safe := plaintext.Redact(text, secrets...); safe != text {
				quoted, _ = json.Marshal(safe)
			}
		}
		return quoted
	})
	_, err := io.WriteString(w, plaintext.VisibleJSON(string(safe)))
	return err
}
