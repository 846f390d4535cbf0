package classify

import "strings"

// fileCounts are how many names of files a text has, by what is in such files.
type fileCounts struct{ documents, code int }

// add counts the names of files in s, by their ending.
func (n *fileCounts) add(s string) {
	for {
		i := strings.IndexByte(s, '.')
		if i < 0 {
			return
		}
		end := i + 1
		for end < len(s) && end < i+6 && 'a' <= s[end] && s[end] <= 'z' {
			end++
		}
		if i > 0 && isNameByte(s[i-1]) && (end == len(s) || !isNameByte(s[end])) {
			switch s[i+1 : end] {
			case "md", "mdx", "txt", "rst", "adoc", "pdf", "docx", "csv", "svg", "drawio", "tex":
				n.documents++
			case "go", "py", "js", "jsx", "ts", "tsx", "vue", "rs", "java", "kt", "swift", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php",
				"scala", "sh", "ps1", "sql", "html", "css", "scss", "json", "yaml", "yml", "toml", "xml", "dart", "lua", "ex", "exs",
				"ipynb", "tf", "proto", "gradle", "r", "m", "mm", "pl", "zig", "svelte", "wxml", "wxss", "env", "cfg", "ini", "lock", "mod":
				n.code++
			}
		}
		s = s[end:]
	}
}

func isNameByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c >= 0x80
}
