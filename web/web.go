package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed dist
var files embed.FS

// file is one embedded file as it is served.
type file struct {
	content string
	kind    string // its media type
	tag     string // its strong ETag
}

// Handler serves the page at / and its files beside it, among them client.js, which is the
// client of sdk/typescript for pages of somebody's own; any other path is unknown (404).
// Every answer is asked for anew by its ETag. What the page may do is said by the gateway's
// guard, as of every answer.
func Handler() http.Handler {
	served := map[string]file{}
	for _, name := range []string{"index.html", "app.js", "app.css", "icon.svg", "client.js"} {
		content, err := fs.ReadFile(files, "dist/"+name)
		if err != nil {
			panic(err) // embedded, so it is there
		}
		sum := sha256.Sum256(content)
		served["/"+name] = file{content: string(content), kind: kinds[path.Ext(name)], tag: `"` + hex.EncodeToString(sum[:16]) + `"`}
	}
	served["/"] = served["/index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := served[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

func (f file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("ETag", f.tag)
	h.Set("Cache-Control", "no-cache") // kept, and asked for anew every time
	// ServeContent answers If-None-Match and ranges by the ETag; embedded files have no time.
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(f.content))
}
