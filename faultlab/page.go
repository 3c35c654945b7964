package faultlab

import (
	"embed"
	"net/http"
	"path"
)

//go:embed page
var pageFiles embed.FS

// servePage serves the page and its parts. They come only from here, and set what they show as
// text, so that nothing in a request can become part of the page.
func servePage(w http.ResponseWriter, r *http.Request) {
	name, kind := "page.html", "text/html; charset=utf-8"
	switch path.Ext(r.URL.Path) {
	case ".css":
		name, kind = "page.css", "text/css; charset=utf-8"
	case ".js":
		name, kind = "page.js", "text/javascript; charset=utf-8"
	case ".svg":
		name, kind = "icon.svg", "image/svg+xml"
	}
	content, err := pageFiles.ReadFile("page/" + name)
	if err != nil {
		panic("faultlab: " + err.Error())
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	_, _ = w.Write(content)
}
