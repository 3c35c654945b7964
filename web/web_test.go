package web

import (
	"compress/gzip"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func get(t *testing.T, method, path string, header map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestFilesAndTheirHeaders(t *testing.T) {
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/runs": "text/html; charset=utf-8", "/runs.js": "text/javascript; charset=utf-8", "/runs/r01j-x": "text/html; charset=utf-8",
		"/rescue.js": "text/javascript; charset=utf-8", "/rescue.css": "text/css; charset=utf-8", "/share.html": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8",
		"/app.css": "text/css; charset=utf-8", "/icon.svg": "image/svg+xml", "/client.js": "text/javascript; charset=utf-8",
	} {
		r := get(t, "GET", path, nil)
		tag := r.Header().Get("ETag")
		if r.Code != http.StatusOK || r.Header().Get("Content-Type") != kind || !strings.HasPrefix(tag, `"`) {
			t.Errorf("%s: %d %v", path, r.Code, r.Header())
		}
		if r := get(t, "GET", path, map[string]string{"If-None-Match": tag}); r.Code != http.StatusNotModified {
			t.Errorf("%s with its ETag: %d", path, r.Code)
		}
	}
	if r := get(t, "POST", "/", nil); r.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", r.Code)
	}
}

// TestSmallWhereItIsTaken: gzip goes to whoever takes it, and to nobody else.
func TestSmallWhereItIsTaken(t *testing.T) {
	plain := get(t, "GET", "/app.js", nil)
	for accepted, want := range map[string]string{"gzip, br": "gzip", "br;q=1.0, GZIP;q=0.8": "gzip", "gzip;q=0": "", "gzip;q=0.000": "", "br": "", "": ""} {
		r := get(t, "GET", "/app.js", map[string]string{"Accept-Encoding": accepted})
		if got := r.Header().Get("Content-Encoding"); got != want || r.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q gets %q: %v", accepted, got, r.Header())
		}
		if want == "" {
			continue
		}
		if r.Body.Len() > plain.Body.Len()/2 || r.Header().Get("ETag") == plain.Header().Get("ETag") {
			t.Errorf("%q: %d bytes instead of %d, %s", accepted, r.Body.Len(), plain.Body.Len(), r.Header().Get("ETag"))
		}
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(unzipped)
		if err != nil || string(content) != plain.Body.String() {
			t.Errorf("%q: %d bytes of another content: %v", accepted, len(content), err)
		}
	}
}

// TestThePageIsSmall: 250 KB at the most, as it is.
func TestThePageIsSmall(t *testing.T) {
	for _, page := range [][]string{{"/", "/app.js", "/app.css", "/icon.svg"}, {"/runs", "/runs.js", "/app.css"}, {"/runs/r1", "/rescue.js", "/rescue.css", "/app.css"}} {
		size := 0
		for _, path := range page {
			size += get(t, "GET", path, nil).Body.Len()
		}
		if size > 250<<10 {
			t.Errorf("%s has %d KB", page[0], size>>10)
		}
	}
}

// TestAPageThatIsPassedOn: it has the document, needs nothing from anywhere, and nothing that is in it ends a part of it early.
func TestAPageThatIsPassedOn(t *testing.T) {
	page := string(share([]byte(`{"headline":"Rescued"}`)))
	for text, times := range map[string]int{
		`id="rescue">{"headline":"Rescued"}</script>`: 1, "</script": 2, "<script": 2, "</style": 1, "<style": 1, "<link": 0, "default-src 'none'": 1, "sourceMappingURL": 0,
	} {
		if got := strings.Count(page, text); got != times {
			t.Errorf("%d times %s, not %d", got, text, times)
		}
	}
	if served := get(t, "GET", "/share.html", nil).Body.String(); !strings.Contains(served, `id="rescue">null</script>`) {
		t.Error("share.html has no place for a run")
	}
}

func TestNothingElseIsServed(t *testing.T) {
	for _, path := range []string{"/no/such", "/../web.go", "/dist/app.js", "//app.js", "/runs/", "/runs/a/b", "/runs/A"} {
		if r := get(t, "GET", path, nil); r.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.Code)
		}
	}
}

// TestNothingIsInlineOrFromElsewhere: the policy would forbid it, and the page would break.
func TestNothingIsInlineOrFromElsewhere(t *testing.T) {
	var page []byte
	for _, name := range []string{"index.html", "runs.html", "rescue.html"} {
		content, err := files.ReadFile("dist/" + name)
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, content...)
	}
	for _, pattern := range []string{`<script[^>]*>[^<]`, `<style`, ` style=`, ` on[a-z]+=`, `(?:src|href)="(?:https?:)?//`} {
		if found := regexp.MustCompile(pattern).Find(page); found != nil {
			t.Errorf("a page has %s", found)
		}
	}
	for _, name := range []string{"app.css", "rescue.css"} {
		style, err := files.ReadFile("dist/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if found := regexp.MustCompile(`@import|url\(`).Find(style); found != nil {
			t.Errorf("%s has %s", name, found)
		}
	}
}

// TestContrast: text can be read in both themes, on every ground that it stands on.
func TestContrast(t *testing.T) {
	const least = 5.2 // to one
	style, err := os.ReadFile("src/theme.css")
	if err != nil {
		t.Fatal(err)
	}
	colors := map[string][2]string{} // light, dark
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)`).FindAllStringSubmatch(string(style), -1) {
		colors[m[1]] = [2]string{m[2], m[3]}
	}
	for _, pair := range [][2]string{
		{"ink", "ground"},
		{"ink", "side"},
		{"ink", "surface"},
		{"ink", "sunken"},
		{"soft", "ground"},
		{"soft", "side"},
		{"soft", "surface"},
		{"soft", "sunken"},
		{"link", "ground"},
		{"link", "surface"},
		{"on-strong", "strong"},
		{"on-strong", "good"},
		{"on-strong", "bad"},
		{"on-strong", "tool"},
	} {
		for i, theme := range []string{"light", "dark"} {
			text, ground := colors[pair[0]][i], colors[pair[1]][i]
			if text == "" || ground == "" {
				t.Fatalf("%v: theme.css has no such colours", pair)
			}
			if got := contrast(text, ground); got < least {
				t.Errorf("%s on %s (%s): %.1f", pair[0], pair[1], theme, got)
			}
		}
	}
}

// contrast is that of two colours (#rrggbb) by WCAG.
func contrast(a, b string) float64 {
	light, dark := luminance(a), luminance(b)
	if light < dark {
		light, dark = dark, light
	}
	return (light + 0.05) / (dark + 0.05)
}

func luminance(color string) float64 {
	n, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		panic(err)
	}
	linear := func(shift int) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}
