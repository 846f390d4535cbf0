package coach

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	"github.com/sidecoach/sidecoach/classify"
)

const (
	maxTemplate = 64 << 10 // bytes of a template file
	maxPrinted  = 64 << 10 // bytes that a template may print before cleaning
	fallback    = "en"
)

//go:embed templates/*.txt
var templateFiles embed.FS

// messages are the templates of one language: one for each tier but plain, and those that they use.
type messages struct{ *template.Template }

// builtin holds the default templates. A language is parsed when it is first used.
var builtin = sync.OnceValue(func() map[string]func() messages {
	all := make(map[string]func() messages)
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		language := strings.TrimSuffix(file.Name(), ".txt")
		all[language] = sync.OnceValue(func() messages {
			text, err := templateFiles.ReadFile("templates/" + language + ".txt")
			if err != nil {
				panic(err)
			}
			return messages{template.Must(template.New(language).Parse(string(text)))}
		})
	}
	return all
})

// language returns the language of the message: that of the output, with Traditional Chinese as "zh-hant".
func language(r classify.Result, in Context) string {
	if r.Language == "zh" && count(in.Text, traditional) > count(in.Text, simplified) {
		return "zh-hant"
	}
	return r.Language
}

// The same frequent characters in both Chinese scripts.
const (
	traditional = "這們個為說會對時過還後點現實檔給結檢運編譯測應當變開關項無沒條報讀載寫執驗則單發將類處總問題進繼請與"
	simplified  = "这们个为说会对时过还后点现实档给结检运编译测应当变开关项无没条报读载写执验则单发将类处总问题进继请与"
)

func count(text, set string) (n int) {
	for _, r := range text[max(0, len(text)-maxRead):] {
		if strings.ContainsRune(set, r) {
			n++
		}
	}
	return n
}

// templates returns the messages in a language, or in English.
func (c *Coach) templates(language string) messages {
	if builtin()[language] == nil {
		language = fallback
	}
	if c != nil {
		if own, ok := c.own[language]; ok {
			return own
		}
	}
	return builtin()[language]()
}

// loadTemplates reads a host's files and tries what they hold.
func loadTemplates(fsys fs.FS) (map[string]messages, error) {
	if fsys == nil {
		return nil, nil
	}
	if classify.HoldsNil(fsys) {
		return nil, fmt.Errorf("coach: Config.Templates is a nil %T", fsys)
	}
	files, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("coach: templates: %w", err)
	}
	set := make(map[string]messages)
	for _, file := range files {
		language, _ := strings.CutSuffix(file.Name(), ".txt")
		if builtin()[language] == nil || file.Name() != language+".txt" {
			names := slices.Sorted(maps.Keys(builtin()))
			return nil, fmt.Errorf("coach: template %q: the file name is not a language; use one of %s, and .txt",
				file.Name(), strings.Join(names, ", "))
		}
		own, err := loadLanguage(fsys, file.Name(), builtin()[language]())
		if err == nil {
			err = own.try()
		}
		if err != nil {
			return nil, fmt.Errorf("coach: template %q: %w", file.Name(), err)
		}
		set[language] = own
	}
	return set, nil
}

// loadLanguage puts the templates that a host's file defines in the place of the default ones.
func loadLanguage(fsys fs.FS, name string, defaults messages) (messages, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return messages{}, err
	}
	if len(text) > maxTemplate {
		return messages{}, fmt.Errorf("larger than %d bytes", maxTemplate)
	}
	own, err := template.New(name).Parse(string(text))
	if err != nil {
		return messages{}, err
	}
	if own.Tree != nil && !parse.IsEmptyTree(own.Root) {
		return messages{}, errors.New(`text outside of {{define "…"}}`)
	}
	merged := template.Must(defaults.Clone())
	for _, t := range own.Templates() {
		if t.Name() == name {
			continue
		}
		if merged.Lookup(t.Name()) == nil {
			return messages{}, fmt.Errorf("no message uses a template %q", t.Name())
		}
		if parse.IsEmptyTree(t.Root) {
			return messages{}, fmt.Errorf(`the template %q is empty; to print nothing there, use {{""}}`, t.Name())
		}
		template.Must(merged.AddParseTree(t.Name(), t.Tree))
	}
	return messages{merged}, nil
}

// try prints all tiers for typical cases.
func (m messages) try() error {
	for _, f := range typicalCases() {
		for _, t := range tiers[:len(tiers)-1] {
			text, err := m.print(t, f)
			if err == nil && strings.TrimSpace(text) == "" {
				err = errors.New("it prints nothing")
			}
			if err != nil {
				return fmt.Errorf("%s at attempt %d, finding %q: %w", t, f.Attempt, f.Finding, err)
			}
		}
	}
	return nil
}

func (m messages) print(t Tier, f *fields) (string, error) {
	var w boundedWriter
	if err := m.ExecuteTemplate(&w, string(t), f); err != nil {
		return "", err
	}
	return w.String(), nil
}

// boundedWriter keeps what is written to it, up to maxPrinted bytes.
type boundedWriter struct{ strings.Builder }

func (w *boundedWriter) Write(p []byte) (int, error) {
	if w.Len()+len(p) > maxPrinted {
		return 0, fmt.Errorf("it prints more than %d bytes", maxPrinted)
	}
	return w.Builder.Write(p)
}
