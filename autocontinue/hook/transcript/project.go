package transcript

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sidecoach/sidecoach/classify"
)

// project is where the agent works: what it changes elsewhere does not count. The zero value is an unknown project, to
// which all files but temporary ones belong.
type project struct {
	root string // with slashes; the repository where there is one, for the agent may work in a folder of it
}

// projectOf finds the project of a working directory.
func projectOf(dir string) project {
	if strings.IndexByte(dir, 0) >= 0 || !filepath.IsAbs(dir) && !rooted(slashed(dir)) {
		return project{}
	}
	root := filepath.Clean(dir)
	for up := root; ; up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			root = up
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	return project{root: slashed(root)}
}

// holds reports whether a file is one of the project. A relative name is: where it starts is not known.
func (p project) holds(file string) bool {
	file = slashed(file)
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		file = slashed(home) + "/" + rest
	}
	switch {
	case strings.HasPrefix(file, "$TMPDIR"), strings.HasPrefix(file, "${TMPDIR"):
		return false
	case !rooted(file):
		return true
	case isTemporary(file) && !isTemporary(p.root):
		return false
	case p.root == "" || below(p.root, file):
		return true
	}
	// The two may name one folder in different ways. What does not exist any more keeps its name.
	root, err := filepath.EvalSymlinks(p.root)
	if err != nil {
		return false
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(file))
	return err == nil && below(slashed(root), slashed(folder)+"/x")
}

// name returns a file for people: relative to the project where it lies in it.
func (p project) name(file string) string {
	if file == "" || p.root == "" || !below(p.root, file) {
		return file
	}
	return strings.TrimPrefix(strings.TrimPrefix(path.Clean(slashed(file)), p.root), "/")
}

// resolve returns the name of a file as a command in w.dir means it.
func (w *walker) resolve(file string) string {
	f := slashed(file)
	if f == "" || rooted(f) || strings.HasPrefix(f, "~") || strings.HasPrefix(f, "$") || w.dir == "" {
		return f
	}
	return path.Join(slashed(w.dir), f)
}

// within reports whether a file, or the folder where commands run, belongs to the project.
func (w *walker) within(file string) bool {
	if file = w.resolve(file); file == "" {
		file = strings.TrimSuffix(w.dir, "/") + "/x"
	}
	return w.dir == "" || w.project.holds(file)
}

// below reports whether a file lies in a folder. Both have slashes.
func below(folder, file string) bool {
	folder, file = filepath.ToSlash(filepath.Clean(folder)), filepath.ToSlash(filepath.Clean(file))
	if !strings.HasSuffix(folder, "/") {
		folder += "/"
	}
	if hasDrive(folder) { // where letter case makes no difference
		folder, file = strings.ToLower(folder), strings.ToLower(file)
	}
	return strings.HasPrefix(file, folder)
}

// slashed writes a Windows path with slashes. Elsewhere a backslash is part of a name.
func slashed(name string) string {
	if hasDrive(name) || strings.HasPrefix(name, `\\`) || strings.HasPrefix(name, `~\`) {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	return name
}

func hasDrive(name string) bool {
	return len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/') && ('a' <= name[0]|0x20 && name[0]|0x20 <= 'z')
}

func rooted(name string) bool { return strings.HasPrefix(name, "/") || hasDrive(name) }

// isTemporary reports whether a file lies where systems keep temporary files.
func isTemporary(name string) bool {
	for _, dir := range []string{
		"/tmp/", "/var/tmp/", "/private/tmp/", "/private/var/tmp/", "/var/folders/", "/private/var/folders/", "/dev/shm/",
	} {
		if strings.HasPrefix(name+"/", dir) {
			return true
		}
	}
	return hasDrive(name) && strings.Contains(strings.ToLower(name)+"/", "/appdata/local/temp/")
}

// artifacts are files and folders that tools make and make again.
var artifacts = strings.Fields(`node_modules __pycache__ .pytest_cache .mypy_cache .ruff_cache .cache .next .nuxt .turbo .parcel-cache
	.svelte-kit .gradle coverage .coverage .nyc_output dist build out target .DS_Store`)

// isScratch reports whether a file does not belong to a project by its name: a device, a log, what a build makes.
func isScratch(name string) bool {
	if slices.Contains(artifacts, baseName(strings.TrimSuffix(name, "/"))) || strings.Contains(name, "/node_modules/") {
		return true
	}
	return strings.HasPrefix(name, "/dev/") || name == "-" || name == "NUL" || name == "$null" || strings.HasSuffix(name, ".log") ||
		strings.HasSuffix(name, ".out") || strings.HasPrefix(name, "$()") || name != "" && strings.Trim(baseName(name), "0123456789") == ""
}

var (
	documents = strings.Fields(`.md .markdown .mdx .mdc .rst .adoc .asciidoc .org .tex .txt .text .pdf .doc .docx .odt .rtf
		.png .jpg .jpeg .gif .webp .ico .bmp .tiff .heic .mp4 .mov .webm .drawio .excalidraw`)
	documentNames = strings.Fields(`license licence copying notice authors contributors codeowners readme changelog changes
		history todo news .gitignore .gitattributes .gitkeep .mailmap .npmignore .dockerignore .prettierignore .eslintignore`)
	codeTexts = []string{"requirements", "constraints", "cmakelists", "robots", "llms", "runtime"} // .txt that programs read
	sources   = strings.Fields(`.go .rs .c .cc .cpp .cxx .h .hpp .m .mm .java .kt .kts .scala .groovy .clj .cljs .cs .fs .vb .py .pyi
		.rb .php .pl .pm .js .mjs .cjs .jsx .ts .mts .cts .tsx .vue .svelte .astro .html .htm .css .scss .sass .less .sql .sh .bash .zsh
		.fish .ps1 .bat .swift .dart .ex .exs .erl .hrl .hs .ml .mli .elm .lua .r .jl .nim .zig .v .sol .cr .d .pas .f90 .asm .s .proto
		.graphql .gql .tf .hcl .prisma .ipynb .gradle .cmake .mk`)
)

// editOf says what kind of file an edit of that name changes.
func editOf(name string) classify.Edited {
	base := strings.ToLower(baseName(name))
	ext := path.Ext(base)
	switch {
	case base == "":
		return classify.EditedCode
	case slices.Contains(documentNames, base):
		return classify.EditedDocs
	case !slices.Contains(documents, ext):
		return classify.EditedCode
	case ext == ".txt" || ext == ".mdx":
		data := slices.ContainsFunc(strings.Split(strings.ToLower(slashed(name)), "/"), func(part string) bool {
			return part == "testdata" || part == "fixtures" || part == "snapshots" || part == "__snapshots__" || part == "golden"
		})
		if data || slices.ContainsFunc(codeTexts, func(c string) bool { return strings.HasPrefix(base, c) }) {
			return classify.EditedCode
		}
	}
	return classify.EditedDocs
}

// isSource reports whether a file holds source code: it must be built or loaded again when it moves.
func isSource(name string) bool {
	return name == "" || slices.Contains(sources, strings.ToLower(path.Ext(name)))
}
