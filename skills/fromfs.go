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
	maxFolders = 500      // that one folder may hold
)

// Folders returns, fresh, where the agents keep skills: below a project, and below the home of a user.
func Folders() []string { return []string{".claude/skills", ".agents/skills", ".codex/skills"} }

// FromFS returns the skills in fsys: one for each file DIR/NAME/SKILL.md, for the given folders DIR in order. The
// front matter of that file, in YAML, must have the name and the description of the skill. It may have trigger, phase
// and evidence, for [Skill.EvidenceHint]. Without a trigger, the skill is asked for by a slash and NAME. Other fields
// do not count.
//
// A file that cannot be used is skipped; its error names it and says why. A folder that does not exist holds nothing.
func FromFS(fsys fs.FS, folders ...string) (found []Skill, skipped []error) {
	defer func() { // a nil pointer in the interface, for example
		if p := recover(); p != nil {
			skipped = append(skipped, fmt.Errorf("skills: the file system %T panics: %v", fsys, p))
		}
	}()
	for _, folder := range folders {
		entries, err := fs.ReadDir(fsys, folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			skipped = append(skipped, fmt.Errorf("skills: %w", err))
		}
		if len(entries) > maxFolders {
			skipped = append(skipped, fmt.Errorf("skills: %s: only the first %d folders are read", folder, maxFolders))
			entries = entries[:maxFolders]
		}
		for _, e := range entries {
			file := path.Join(folder, e.Name(), "SKILL.md")
			s, err := readSkill(fsys, file)
			switch {
			case err == nil:
				s.Trigger = cmp.Or(s.Trigger, "/"+e.Name())
				found = append(found, s)
			case e.IsDir() && errors.Is(err, fs.ErrNotExist), !e.IsDir() && e.Type()&fs.ModeSymlink == 0:
			default:
				skipped = append(skipped, fmt.Errorf("skills: %s: %w", file, err))
			}
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
	fields, err := frontMatter(string(text[:min(len(text), maxHead)]))
	if err != nil {
		return Skill{}, err
	}
	for _, name := range []string{"name", "description"} {
		if fields[name] == "" {
			return Skill{}, fmt.Errorf("the front matter has no %s", name)
		}
	}
	return Skill{fields["name"], fields["trigger"], fields["phase"], fields["description"], fields["evidence"]}, nil
}

// frontMatter returns the scalars at the top level of a text's front matter, each on one line. It reads the YAML that
// people write there: plain, quoted and block scalars. It is lenient where agents are: a plain scalar may contain ": ".
func frontMatter(text string) (map[string]string, error) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return nil, errors.New(`no front matter: the first line is not "---"`)
	}
	fields, key := map[string]string{}, ""
	for i, line := range lines[1:] {
		line = strings.TrimRight(line, " \t")
		switch {
		case line == "---" || line == "...":
			for key, value := range fields {
				scalar, err := scalar(value)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", key, err)
				}
				fields[key] = scalar
			}
			return fields, nil
		case !utf8.ValidString(line):
			return nil, fmt.Errorf("line %d is not UTF-8", i+2)
		case line == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t' || line[0] == '-':
			fields[key] += "\n" + line // it belongs to the value above
		default:
			name, value, ok := strings.Cut(line, ":")
			if !ok {
				return nil, fmt.Errorf(`line %d is not "name: value"`, i+2)
			}
			key = strings.TrimSpace(name)
			fields[key] = strings.TrimSpace(value)
		}
	}
	return nil, fmt.Errorf(`the front matter does not end: no line "---" in the first %d kB`, maxHead>>10)
}

// scalar returns the text of a YAML scalar on one line.
func scalar(value string) (string, error) {
	head, block, _ := strings.Cut(value, "\n")
	value = strings.Join(strings.Fields(value), " ")
	if value == "" {
		return "", nil
	}
	switch quote := value[:1]; quote {
	case "|", ">":
		return strings.Join(strings.Fields(block), " "), nil
	case `"`, `'`:
		escaped := map[string]string{`"`: `\"`, `'`: `''`}[quote]
		text, _, closed := strings.Cut(strings.ReplaceAll(value[1:], escaped, "\x00"), quote)
		if !closed {
			return "", errors.New("a quote is not closed")
		}
		return strings.Join(strings.Fields(strings.ReplaceAll(text, "\x00", quote)), " "), nil
	}
	if plain, _, comment := strings.Cut(head, " #"); comment {
		return strings.TrimSpace(plain), nil
	}
	return value, nil
}
