package plugininstall

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/needs"
)

// zipped is an archive of files, by name.
func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// aWheel is a package my_rules with these files and those of every wheel.
func aWheel(t *testing.T, version string, files map[string]string) []byte {
	about := "my_rules-" + version + ".dist-info/"
	all := map[string]string{
		about + "METADATA": "Metadata-Version: 2.1\nName: my-rules\nVersion: " + version + "\n",
		about + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	record := about + "RECORD,,\n"
	for name, text := range files {
		all[strings.Replace(name, "ABOUT/", about, 1)] = text
	}
	for name := range all {
		record += name + ",,\n"
	}
	all[about+"RECORD"] = record
	return zipped(t, all)
}

// pythonIndex serves files of the package my-rules as PEP 503 requires, and is the only index that
// pip uses.
func pythonIndex(t *testing.T, files map[string][]byte) {
	t.Helper()
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if content, ok := files[strings.TrimPrefix(r.URL.Path, "/files/")]; ok {
			_, _ = w.Write(content)
			return
		}
		if r.URL.Path != "/simple/my-rules/" {
			http.NotFound(w, r)
			return
		}
		for name, content := range files {
			sum := sha256.Sum256(content)
			_, _ = fmt.Fprintf(w, "<a href=\"/files/%s#sha256=%s\">%s</a>\n", name, hex.EncodeToString(sum[:]), name)
		}
	}))
	t.Cleanup(index.Close)
	t.Setenv("PIP_CONFIG_FILE", os.DevNull)
	t.Setenv("PIP_INDEX_URL", index.URL+"/simple")
	t.Setenv("PIP_FIND_LINKS", "")
	t.Setenv("PIP_NO_CACHE_DIR", "1")
}

// long skips tests that start package managers many times.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("package managers take seconds")
	}
}

var somePackage = map[string]string{
	"my_rules/__init__.py":           "def main():\n    print('ruled')\n",
	"my_rules/" + trust.ManifestName: "name: rules-of-mine\nenv: [TOKEN]\n",
	"hooked.pth":                     "import os; open(os.environ['HOME'] + '/ran', 'w').close()\n",
	"ABOUT/entry_points.txt":         "[console_scripts]\nmy-rules = my_rules:main\n\n[other]\nx = y:z\n",
}

func TestPyPI(t *testing.T) {
	needs.Programs(t, "a plugin from Python's registry", "python3")
	long(t)
	home, _ := aHome(t)
	t.Setenv("HOME", home)
	first, second := aWheel(t, "1.0.0", somePackage), aWheel(t, "2.0.0", somePackage)
	pythonIndex(t, map[string][]byte{"my_rules-1.0.0-py3-none-any.whl": first, "my_rules-2.0.0-py3-none-any.whl": second})
	in := anInstaller(home)
	p, err := in.Install(t.Context(), Source{Kind: KindPyPI, Name: "my-rules", Version: "1.0.0"}, "")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(first)
	if p.Name != "rules-of-mine" || p.Version != "1.0.0" || p.Checksum != "sha256 "+hex.EncodeToString(sum[:]) || p.Manifest.Env[0] != "TOKEN" {
		t.Errorf("installed: %+v", p)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("code of the package ran before it was tested")
	}
	said, err := in.run(t.Context(), tool{program: p.Command[0], args: p.Command[1:]})
	if err != nil || string(said) != "ruled\n" {
		t.Errorf("it says %q, %v", said, err)
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err != nil {
		t.Error("the trap does not work:", err)
	}
}

func TestPyPIRefuses(t *testing.T) {
	needs.Programs(t, "a plugin from Python's registry", "python3")
	long(t)
	home, _ := aHome(t)
	setup := "import os; open(os.environ['HOME'] + '/ran', 'w').close()\nfrom setuptools import setup; setup(name='my-rules', version='3.0.0')\n"
	pythonIndex(t, map[string][]byte{
		"my-rules-3.0.0.zip":              zipped(t, map[string]string{"my-rules-3.0.0/setup.py": setup, "my-rules-3.0.0/PKG-INFO": "Metadata-Version: 2.1\nName: my-rules\nVersion: 3.0.0\n"}),
		"my_rules-2.0.0-py3-none-any.whl": aWheel(t, "2.0.0", map[string]string{"my_rules.py": ""}),
	})
	t.Setenv("HOME", home)
	for version, want := range map[string]string{
		"2.0.0": "has no script that starts it",
		"3.0.0": "only wheels are taken", // it would have to be built
		"4.0.0": "pip failed: ",          // there is none
	} {
		in := anInstaller(home)
		p, err := in.Install(t.Context(), Source{Kind: KindPyPI, Name: "my-rules", Version: version}, "")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", version, p, err)
		}
		if left := leftIn(t, in); left != nil {
			t.Errorf("%s left %v", version, left)
		}
	}
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("code of the package ran")
	}
}
