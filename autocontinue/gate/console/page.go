package console

import (
	"embed"
	"net/http"
	"path"
)

//go:embed page
var page embed.FS

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// servePage serves the embedded files, which hold no secret.
func servePage(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	data, err := page.ReadFile("page/" + name)
	kind, ok := contentTypes[path.Ext(name)]
	if err != nil || !ok {
		refuse(w, http.StatusNotFound, "unknown", "there is no such page")
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Write(data)
}
