package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

//go:embed dist
var files embed.FS

// file is one embedded file as it is served.
type file struct {
	content string
	small   func() string // its content in gzip, made when somebody first takes it
	kind    string        // its media type
	tag     string        // its strong ETag; small has the same with a suffix
}

// Handler serves the chat at /, the control room at /runs, the history of a run at /runs/ID, and their
// files beside them. Among those is client.js, the client of sdk/typescript for other people's pages.
// Any other path is 404. Browsers must revalidate every file by its ETag; it is sent in gzip if the
// browser accepts that. The gateway's guard sets the headers that limit what the page may do.
func Handler() http.Handler { return http.HandlerFunc(serve) }

// served are the files by their paths.
var served = sync.OnceValue(func() map[string]file {
	of := map[string]file{}
	for _, name := range []string{"index.html", "app.js", "code.js", "maths.js", "runs.html", "runs.js", "rescue.html", "rescue.js", "rescue.css", "app.css", "icon.svg", "client.js"} {
		of["/"+name] = fileOf(name, embedded(name))
	}
	of["/share.html"] = fileOf("share.html", share([]byte("null")))
	of["/"], of["/runs"] = of["/index.html"], of["/runs.html"]
	return of
})

func serve(w http.ResponseWriter, r *http.Request) {
	at := r.URL.Path
	if run, below := strings.CutPrefix(at, "/runs/"); below && runID.MatchString(run) {
		at = "/rescue.html"
	}
	f, ok := served()[at]
	switch {
	case !ok:
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
	default:
		f.serve(w, r)
	}
}

// runID is the form of a run's id.
var runID = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)

func embedded(name string) []byte {
	content, err := fs.ReadFile(files, "dist/"+name)
	if err != nil {
		panic(err) // embedded, so it is there
	}
	return content
}

func fileOf(name string, content []byte) file {
	sum, text := sha256.Sum256(content), string(content)
	return file{
		content: text, kind: kinds[path.Ext(name)], tag: hex.EncodeToString(sum[:16]),
		small: sync.OnceValue(func() string { return zipped(text) }),
	}
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
	h.Set("Cache-Control", "no-cache") // cached, but revalidated every time
	h.Set("Vary", "Accept-Encoding")
	content, tag := f.content, f.tag
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		content, tag = f.small(), f.tag+"-gzip"
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", `"`+tag+`"`)
	// ServeContent handles If-None-Match and ranges by the ETag; embedded files have no
	// modification time.
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(content))
}

// takesGzip reports whether an Accept-Encoding names gzip, and does not refuse it.
func takesGzip(accepted string) bool {
	for coding := range strings.SplitSeq(accepted, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimSpace(weight), "q=0.") != "" || strings.TrimSpace(weight) == ""
		}
	}
	return false
}

// zipped is content in gzip at the best compression.
func zipped(content string) string {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer accepts everything
	}
	return b.String()
}
