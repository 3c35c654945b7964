package plugininstall

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/needs"
)

// tarred is a compressed archive of files, by name. Those that begin with "#!" are executable.
func tarred(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipper := gzip.NewWriter(&out)
	w := tar.NewWriter(zipper)
	for name, text := range files {
		mode := int64(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
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

// nodeRegistry serves versions of @mine/my-rules, and is the only registry that npm uses. It
// returns the integrity of the first version.
func nodeRegistry(t *testing.T, home string, versions map[string]map[string]string) (integrity string) {
	t.Helper()
	tarballs, about := map[string][]byte{}, map[string]any{}
	registry := httptest.NewUnstartedServer(nil)
	at := "http://" + registry.Listener.Addr().String()
	for version, files := range versions {
		content := tarred(t, files)
		sum := sha512.Sum512(content)
		integrity = "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
		tarballs["/"+version+".tgz"] = content
		about[version] = map[string]any{
			"name": "@mine/my-rules", "version": version, "dist": map[string]string{"tarball": at + "/" + version + ".tgz", "integrity": integrity},
		}
	}
	registry.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch content, ok := tarballs[r.URL.Path]; {
		case ok:
			_, _ = w.Write(content)
		case strings.EqualFold(r.URL.EscapedPath(), "/@mine%2fmy-rules"):
			_ = json.NewEncoder(w).Encode(map[string]any{"name": "@mine/my-rules", "versions": about, "dist-tags": map[string]string{"latest": "1.0.0"}})
		default:
			http.NotFound(w, r)
		}
	})
	registry.Start()
	t.Cleanup(registry.Close)
	for name, value := range map[string]string{
		"registry": at, "userconfig": os.DevNull, "globalconfig": filepath.Join(home, "npmrc"), "cache": filepath.Join(home, "npm"), "@mine:registry": at,
	} {
		t.Setenv("npm_config_"+name, value)
	}
	t.Setenv("HOME", home)
	return integrity
}

func TestNPM(t *testing.T) {
	needs.Programs(t, "a plugin from Node's registry", "node", "npm")
	long(t)
	home, _ := aHome(t)
	trap := `"scripts": {"preinstall": "touch $HOME/ran", "install": "touch $HOME/ran", "postinstall": "touch $HOME/ran", "prepare": "touch $HOME/ran"}`
	integrity := nodeRegistry(t, home, map[string]map[string]string{"1.0.0": {
		"package/package.json":          `{"name": "@mine/my-rules", "version": "1.0.0", "type": "module", "bin": {"rules": "dist/main.js"}, ` + trap + `}`,
		"package/dist/main.js":          "console.log('ruled');\n",
		"package/" + trust.ManifestName: "env: [TOKEN]\n",
	}})
	in := anInstaller(home)
	p, err := in.Install(t.Context(), Source{Kind: KindNPM, Name: "@mine/my-rules"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "my-rules" || p.Version != "1.0.0" || p.Checksum != integrity || p.Manifest.Env[0] != "TOKEN" {
		t.Errorf("installed: %+v", p)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("a script of the package ran")
	}
	said, err := in.run(t.Context(), tool{program: p.Command[0], args: p.Command[1:]})
	if err != nil || string(said) != "ruled\n" {
		t.Errorf("it says %q, %v", said, err)
	}
}

func TestNodeProgram(t *testing.T) {
	for said, want := range map[string]string{
		`{"bin": "a.js"}`: "a.js", `{"bin": {"x": "./a.js"}}`: "a.js", `{"main": "a.js"}`: "a.js", `{"bin": {"x": "b.js", "my-rules": "a.js"}}`: "a.js",
		`{}`: "", `{"bin": "../../out.js"}`: "", `{"bin": {"x": "a.js", "y": "a.js"}}`: "", `{"bin": 1}`: "", `{`: "", `{"bin": "link.js"}`: "", `{"bin": "none.js"}`: "",
	} {
		folder := filepath.Join(t.TempDir(), "a", "b")
		lay(t, folder, map[string]string{"package.json": said, "a.js": "", "../../out.js": ""})
		if err := os.Symlink("../../out.js", filepath.Join(folder, "link.js")); err != nil {
			t.Fatal(err)
		}
		got, err := nodeProgram(folder, "@mine/my-rules")
		if want == "" && err == nil || want != "" && got != filepath.Join(folder, want) {
			t.Errorf("%s: %s, %v", said, got, err)
		}
	}
}
