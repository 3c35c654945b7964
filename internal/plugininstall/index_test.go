package plugininstall

import (
	"crypto/ed25519"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/plugins/index"
)

// TestOurIndex: the index in this program is readable, and lists exactly the examples.
func TestOurIndex(t *testing.T) {
	list, err := ParseIndex(index.JSON)
	if err != nil {
		t.Fatal(err)
	}
	examples := filepath.Join("..", "..", "plugins", "examples")
	entries, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	var names, listed []string
	for _, entry := range entries {
		if entry.IsDir() {
			names = append(names, entry.Name())
		}
	}
	for _, l := range list {
		listed = append(listed, l.Name)
		if l.Language == "" || l.Description == "" || !strings.HasSuffix(l.Page, "/plugins/examples/"+l.Name) {
			t.Errorf("%+v", l)
		}
		if module, ok := strings.CutPrefix(l.Source, "go:github.com/mulligan-run/mulligan/"); ok {
			if _, err := os.Stat(filepath.Join("..", "..", module, "main.go")); err != nil {
				t.Error(err)
			}
		}
	}
	if !slices.Equal(names, listed) {
		t.Errorf("listed are %v, not %v", listed, names)
	}
	if got := Search(list, []string{"PAGER", "webhook"}); len(got) != 1 || got[0].Name != "python-pager" {
		t.Errorf("found: %+v", got)
	}
	if got := Search(list, nil); len(got) != len(list) {
		t.Errorf("found: %+v", got)
	}
}

const someIndex = `{"version": 1, "plugins": [{"name": "my-rules", "description": "Rules.", "source": "pypi:my-rules"}]}`

// TestASignedIndex signs with a key that is made for the test: an index without a signature by the
// configured key is refused.
func TestASignedIndex(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	others, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) string {
		return base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(text))) + "\n"
	}
	home := t.TempDir()
	in := anInstaller(home)
	lay(t, home, map[string]string{
		"good": someIndex, "good.sig": sign(someIndex), "unsigned": someIndex, "changed": someIndex + " ", "changed.sig": sign(someIndex),
		"nonsense": someIndex, "nonsense.sig": "yes\n", "later": `{"version": 2}`, "later.sig": sign(`{"version": 2}`),
	})
	at := archiveHost(t, in, map[string][]byte{"/index.json": []byte(someIndex), "/index.json.sig": []byte(sign(someIndex))})
	for name, tt := range map[string]struct {
		at   string
		key  ed25519.PublicKey
		want string
	}{
		"good": {"good", public, ""}, "by https": {at + "/index.json", public, ""},
		"no key": {"good", nil, "needs the key"}, "another key": {"good", others, "not signed by the key"}, "unsigned": {"unsigned", public, "no such file"},
		"changed": {"changed", public, "was changed"}, "nonsense": {"nonsense", public, "not a signature"}, "later": {"later", public, "version 2"},
		"by http": {"http://example.com/index.json", public, "https only"},
	} {
		if !strings.Contains(tt.at, "://") {
			tt.at = filepath.Join(home, tt.at)
		}
		list, err := in.ReadIndex(t.Context(), tt.at, tt.key)
		switch {
		case tt.want == "" && (err != nil || len(list) != 1 || list[0].Source != "pypi:my-rules"):
			t.Errorf("%s: %+v, %v", name, list, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

func TestParseIndexRefuses(t *testing.T) {
	for entry, want := range map[string]string{
		`{"name": "A B"}`: "not the name", `{"name": "a", "source": "./here"}`: "folder of this machine", `{"name": "a", "source": "pypi:--x"}`: "not a name",
		`{"name": "a", "page": "javascript:x"}`: "https://", `{"name": "a", "description": "` + strings.Repeat("x", 501) + `"}`: "too long", `1`: "index",
	} {
		if _, err := ParseIndex([]byte(`{"version": 1, "plugins": [` + entry + `]}`)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", entry, err)
		}
	}
}

func TestLookAlike(t *testing.T) {
	list, err := ParseIndex([]byte(someIndex))
	if err != nil {
		t.Fatal(err)
	}
	for text, alike := range map[string]bool{
		"pypi:my-rules": false, "pypi:my_rules": true, "pypi:my-rule": true, "pypi:my-ruless": true, "pypi:mine": false, "npm:my-rule": false, "pypi:my-ru1es": true,
	} {
		s, err := ParseSource(text)
		if got := lookAlike(list, s); err != nil || (got == "pypi:my-rules") != alike {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
