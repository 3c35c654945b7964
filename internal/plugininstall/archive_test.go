package plugininstall

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
)

// archiveHost serves archives over https, and redirects to other places.
func archiveHost(t *testing.T, in *Installer, files map[string][]byte) (at string) {
	t.Helper()
	other := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	host := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch content, ok := files[r.URL.Path]; {
		case ok:
			_, _ = w.Write(content)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/rules.tar.gz", http.StatusFound)
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL+"/rules.tar.gz", http.StatusFound)
		case r.URL.Path == "/plain":
			http.Redirect(w, r, "http://"+r.Host+"/rules.tar.gz", http.StatusFound)
		case r.URL.Path == "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(host.Close)
	in.roots = x509.NewCertPool()
	in.roots.AddCert(host.Certificate())
	return host.URL
}

var packedRules = map[string]string{
	"rules-1.0/" + trust.ManifestName: "name: my-rules\nversion: 1.0.0\ncommand: [rules-1.0/run]\n", "rules-1.0/rules-1.0/run": "#!/bin/sh\n", "rules-1.0/a.txt": "a",
}

func TestArchives(t *testing.T) {
	home := t.TempDir()
	in := anInstaller(home)
	packed := tarred(t, packedRules)
	at := archiveHost(t, in, map[string][]byte{"/rules.tar.gz": packed, "/rules.zip": zippedExecutable(t, packedRules)})
	sum := sha256.Sum256(packed)
	known := hex.EncodeToString(sum[:])
	for name, path := range map[string]string{"tar": "/rules.tar.gz", "zip": "/rules.zip", "moved": "/moved"} {
		p, err := in.Install(t.Context(), Source{Kind: KindArchive, Name: at + path}, name)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if p.Command[0] != filepath.Join(p.Folder, "rules-1.0", "run") || p.Version != "1.0.0" || name != "zip" && p.Checksum != "sha256 "+known {
			t.Errorf("%s: %+v", path, p)
		}
	}
	if _, err := in.Install(t.Context(), Source{Kind: KindArchive, Name: at + "/rules.tar.gz", SHA256: known}, "known"); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{
		"/away": "redirects to https://", "/plain": "redirects to http://", "/round": "more than 5 times", "/nothing": "404", "/rules.tar.gz#": "not what you know",
	} {
		s := Source{Kind: KindArchive, Name: strings.TrimSuffix(at+path, "#")}
		if strings.HasSuffix(path, "#") {
			s.SHA256 = strings.Repeat("0", 64)
		}
		if p, err := in.Install(t.Context(), s, "bad"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", path, p, err)
		}
	}
	if left := leftIn(t, in); len(left) != 4 {
		t.Errorf("left are %v", left)
	}
}

// TestPrivateAddresses: no name that resolves to this machine or to a metadata service is fetched
// from.
func TestPrivateAddresses(t *testing.T) {
	in := anInstaller(t.TempDir())
	for host, want := range map[string]string{"169.254.169.254": "metadata", "10.0.0.1": "private address", "0.0.0.0": "no host's address", "[::ffff:192.168.0.1]": "private address"} {
		_, err := in.Install(t.Context(), Source{Kind: KindArchive, Name: "https://" + host + ":1/x.zip"}, "bad")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

func zippedExecutable(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		header := &zip.FileHeader{Name: name, Method: zip.Deflate}
		if header.SetMode(0o644); strings.HasPrefix(text, "#!") {
			header.SetMode(0o755)
		}
		addZip(t, w, header, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func addZip(t *testing.T, w *zip.Writer, header *zip.FileHeader, text string) {
	t.Helper()
	f, err := w.CreateHeader(header)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// aTar packs entries as they are.
func aTar(t *testing.T, entries ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zipper := gzip.NewWriter(&out)
	w := tar.NewWriter(zipper)
	for _, entry := range entries {
		entry.Mode = 0o4777
		if err := w.WriteHeader(&entry); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(make([]byte, entry.Size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipper.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unpacked unpacks content into a folder, next to a file that must not change.
func unpacked(t *testing.T, content []byte) (folder string, err error) {
	t.Helper()
	above := t.TempDir()
	folder = filepath.Join(above, "in")
	lay(t, above, map[string]string{"outside": "mine", "archive": string(content)})
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	archive, openErr := os.Open(filepath.Join(above, "archive"))
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer func() { _ = archive.Close() }()
	err = unpack(t.Context(), archive, folder, bounds{100, 1 << 20})
	if text, readErr := os.ReadFile(filepath.Join(above, "outside")); readErr != nil || string(text) != "mine" {
		t.Errorf("what lies outside is %q, %v", text, readErr)
	}
	if entries, _ := os.ReadDir(above); len(entries) != 3 {
		t.Errorf("outside there are %v", entries)
	}
	return folder, err
}

func TestHostileArchives(t *testing.T) {
	var deep string
	for range maxDepth + 2 {
		deep += "d/"
	}
	link := func(name, to string) tar.Header {
		return tar.Header{Name: name, Linkname: to, Typeflag: tar.TypeSymlink}
	}
	file := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1} }
	for name, tt := range map[string]struct {
		content []byte
		want    string
	}{
		"up":              {aTar(t, file("../outside")), "not a path"},
		"up, in between":  {aTar(t, file("a/../../outside")), "not a path"},
		"absolute":        {aTar(t, file("/tmp/x")), "not a path"},
		"backslashes":     {aTar(t, file(`..\outside`)), "not a path"},
		"deep":            {aTar(t, file(deep+"a")), "not a path"},
		"long":            {aTar(t, file(strings.Repeat("a", maxName+1))), "not a path"},
		"link out":        {aTar(t, link("a", "../outside")), "leads out"},
		"link to root":    {aTar(t, link("a", "/")), "leads out"},
		"link, then file": {aTar(t, link("a/b", ".."), link("c", "a/b/../outside"), file("c")), ""},
		"link over link":  {aTar(t, link("a", "b"), link("b", ".."), file("a/outside")), "leads out"},
		"lifted link":     {aTar(t, file("top/a"), link("top/b/up", "../../outside")), "leads out"},
		"lifted to root":  {aTar(t, file("top/a"), link("top/up", "..")), "leads out"},
		"hard link":       {aTar(t, tar.Header{Name: "a", Linkname: "../outside", Typeflag: tar.TypeLink}), "neither a file"},
		"device":          {aTar(t, tar.Header{Name: "a", Typeflag: tar.TypeChar}), "neither a file"},
		"pipe":            {aTar(t, tar.Header{Name: "a", Typeflag: tar.TypeFifo}), "neither a file"},
		"twice":           {aTar(t, file("a"), file("a")), "exists"},
		"file as folder":  {aTar(t, file("a"), file("a/b")), ""},
		"neither":         {[]byte("not an archive at all"), "neither a .tar.gz nor a .zip"},
		"short":           {[]byte("P"), "not an archive"},
		"cut off":         {aTar(t, file("a"), file("b"))[:60], ""},
		"zip, up":         {zipped(t, map[string]string{"../outside": "x"}), ""},
		"zip, broken":     {[]byte("PK\x03\x04 and no more"), "zip"},
	} {
		if folder, err := unpacked(t, tt.content); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v", name, folder, err)
		}
	}
}

// TestBombs: unpacking an archive with endless content stops at the limits.
func TestBombs(t *testing.T) {
	many := make([]tar.Header, 101)
	for i := range many {
		many[i] = tar.Header{Name: strconv.Itoa(i), Typeflag: tar.TypeSymlink, Linkname: "x"}
	}
	folders := make([]tar.Header, 5)
	for i := range folders {
		folders[i] = tar.Header{Name: strconv.Itoa(i) + strings.Repeat("/d", maxDepth), Typeflag: tar.TypeDir}
	}
	large := []tar.Header{{Name: "a", Typeflag: tar.TypeReg, Size: 1 << 19}, {Name: "b", Typeflag: tar.TypeReg, Size: 1<<19 + 1}}
	for name, tt := range map[string]struct {
		content []byte
		want    string
	}{
		"files":           {aTar(t, many...), "more than 100 files"},
		"folders":         {aTar(t, folders...), "more than 100 files"},
		"bytes":           {aTar(t, large...), "more than 1048576 bytes"},
		"zip's directory": {append([]byte("PK\x03\x04"), bytes.Repeat(append(zipEntry, make([]byte, 42)...), 101)...), "more than 100 entries"},
		"zip's bytes":     {zipped(t, map[string]string{"a": strings.Repeat("a", 1<<20+1)}), "more than 1048576 bytes"},
	} {
		if _, err := unpacked(t, tt.content); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatIsUnpackedIsNobodyElses(t *testing.T) {
	folder, err := unpacked(t, aTar(t, tar.Header{Name: "a/b", Typeflag: tar.TypeReg, Size: 1}, tar.Header{Name: "c", Typeflag: tar.TypeSymlink, Linkname: "a/b"}))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(folder, "a", "b"))
	if err != nil || info.Mode() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(filepath.Join(folder, "c")); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("%v, %v", info, err)
	}
}

func TestCount(t *testing.T) {
	text := strings.Repeat("x", 64<<10-2) + "PK\x01\x02" + strings.Repeat("y", 70<<10) + "PK\x01\x02"
	if n, err := count(strings.NewReader(text), zipEntry); n != 2 || err != nil {
		t.Error(n, err)
	}
}

// FuzzUnpack: whatever an archive contains, nothing outside of its folder is changed.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte{0x1f, 0x8b, 8, 0})
	f.Fuzz(func(t *testing.T, content []byte) { _, _ = unpacked(t, content) })
}
