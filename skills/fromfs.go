package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// Limits of [FromFS].
const (
	maxHead    = 16 << 10 // bytes of a SKILL.md in which its front matter ends
	maxFolders = 500      // that are read of one folder
)

// Folders returns, fresh, where the agents keep skills: below a project, and below the home of a user.
func Folders() []string { return []string{".claude/skills", ".agents/skills", ".codex/skills"} }

// FromFS returns the skills in fsys: one for each file DIR/NAME/SKILL.md, for the given folders DIR in order. The
// front matter of that file, in YAML, must have the name and the description of the skill. It may have trigger, phase
// and evidence, for [Skill.EvidenceHint]. Without a trigger, the skill is asked for by a slash and NAME. Other fields
// do not count.
//
// A file that cannot be used is skipped; its error names it and says why. A folder that cannot be read holds nothing.
func FromFS(fsys fs.FS, folders ...string) (found []Skill, skipped []error) {
	defer func() { // a nil pointer in the interface, for example
		if p := recover(); p != nil {
			skipped = append(skipped, fmt.Errorf("skills: the file system %T panics: %v", fsys, p))
		}
	}()
	for _, folder := range folders {
		files, err := fs.Glob(fsys, path.Join(folder, "*", "SKILL.md"))
		if err == nil && len(files) > maxFolders {
			err = fmt.Errorf("only the first %d skills are read", maxFolders)
			files = files[:maxFolders]
		}
		if err != nil {
			skipped = append(skipped, fmt.Errorf("skills: %s: %w", folder, err))
		}
		for _, file := range files {
			s, err := readSkill(fsys, file)
			if err != nil {
				skipped = append(skipped, fmt.Errorf("skills: %s: %w", file, err))
				continue
			}
			s.Trigger = cmp.Or(s.Trigger, "/"+path.Base(path.Dir(file)))
			found = append(found, s)
		}
	}
	return found, skipped
}

func readSkill(fsys fs.FS, name string) (Skill, error) {
	info, err := fs.Stat(fsys, name) // opening a pipe can block forever
	if err != nil {
		return Skill{}, err
	}
	if !info.Mode().IsRegular() {
		return Skill{}, errors.New("not a regular file")
	}
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return Skill{}, err
	}
	fields, err := scalars(string(text[:min(len(text), maxHead)]))
	if err != nil {
		return Skill{}, err
	}
	if fields["name"] == "" || fields["description"] == "" {
		return Skill{}, errors.New("the front matter has no name, or no description")
	}
	return Skill{fields["name"], fields["trigger"], fields["phase"], fields["description"], fields["evidence"]}, nil
}

// A front matter is between two lines "---". A field is a name and a value, which goes on in the lines that are blank,
// indented or an item of a list.
var (
	frontMatter = compiled(`(?s)\A(?:\x{feff})?---[ \t]*\n(.*?)(?:^|\n)(?:---|\.\.\.)[ \t]*(?:\n|\z)`)
	field       = compiled(`(?m)^([^\s#:-][^:\n]*):(.*(?:\n(?:[ \t-].*)?$)*)`)
)

// scalars returns the scalars at the top level of a text's front matter, each on one line. It reads the YAML that
// people write there: plain, quoted and block scalars. It is lenient where agents are: a plain scalar may contain ": ".
func scalars(text string) (map[string]string, error) {
	m := frontMatter().FindStringSubmatch(strings.ReplaceAll(text, "\r\n", "\n"))
	switch {
	case m == nil:
		return nil, fmt.Errorf(`no front matter between two lines "---" in the first %d kB`, maxHead>>10)
	case !utf8.ValidString(m[1]):
		return nil, errors.New("the front matter is not UTF-8")
	}
	fields := make(map[string]string)
	for _, f := range field().FindAllStringSubmatch(m[1], -1) {
		value, err := scalar(strings.TrimSpace(f[2]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f[1], err)
		}
		fields[strings.TrimSpace(f[1])] = strings.Join(strings.Fields(value), " ")
	}
	return fields, nil
}

// scalar returns the text of a YAML scalar.
func scalar(value string) (string, error) {
	head, block, _ := strings.Cut(value, "\n")
	switch quote := value[:min(1, len(value))]; quote {
	case "|", ">":
		return block, nil
	case `"`, `'`:
		escaped := map[string]string{`"`: `\"`, `'`: `''`}[quote]
		text, _, closed := strings.Cut(strings.ReplaceAll(value[1:], escaped, "\x00"), quote)
		if !closed {
			return "", errors.New("a quote is not closed")
		}
		return strings.ReplaceAll(text, "\x00", quote), nil
	}
	if plain, _, comment := strings.Cut(head, " #"); comment {
		return plain, nil
	}
	return value, nil
}
