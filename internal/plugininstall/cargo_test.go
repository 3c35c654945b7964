package plugininstall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/needs"
)

// crateRegistry serves one version of my-rules, and is the only registry that cargo uses.
func crateRegistry(t *testing.T, home, version string, files map[string]string) (sum string) {
	t.Helper()
	all := map[string]string{}
	for name, text := range files {
		all["my-rules-"+version+"/"+name] = text
	}
	crate := tarred(t, all)
	digest := sha256.Sum256(crate)
	sum = hex.EncodeToString(digest[:])
	registry := httptest.NewUnstartedServer(nil)
	at := "http://" + registry.Listener.Addr().String()
	registry.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/config.json":
			_, _ = w.Write([]byte(`{"dl": "` + at + `/crates"}`))
		case "/my/-r/my-rules":
			_, _ = w.Write([]byte(`{"name": "my-rules", "vers": "` + version + `", "deps": [], "cksum": "` + sum + `", "features": {}, "yanked": false}` + "\n"))
		case "/crates/my-rules/" + version + "/download":
			_, _ = w.Write(crate)
		default:
			http.NotFound(w, r)
		}
	})
	registry.Start()
	t.Cleanup(registry.Close)
	lay(t, home, map[string]string{"cargo/config.toml": "[source.crates-io]\nreplace-with = \"mine\"\n[source.mine]\nregistry = \"sparse+" + at + "/\"\n"})
	if old, err := os.UserHomeDir(); err == nil && os.Getenv("RUSTUP_HOME") == "" {
		t.Setenv("RUSTUP_HOME", filepath.Join(old, ".rustup"))
	}
	t.Setenv("CARGO_HOME", filepath.Join(home, "cargo"))
	return sum
}

func TestCargo(t *testing.T) {
	needs.Programs(t, "a plugin from Rust's registry", "cargo")
	long(t)
	home, _ := aHome(t)
	sum := crateRegistry(t, home, "0.2.0", map[string]string{
		"Cargo.toml":       "[package]\nname = \"my-rules\"\nversion = \"0.2.0\"\nedition = \"2021\"\n",
		"Cargo.lock":       "version = 3\n\n[[package]]\nname = \"my-rules\"\nversion = \"0.2.0\"\n",
		"src/main.rs":      "fn main() { println!(\"ruled\"); }\n",
		trust.ManifestName: "env: [TOKEN]\n",
	})
	in := anInstaller(home)
	var asked []string
	in.Agree = func(_ context.Context, lines []string) error {
		asked = append(asked, lines...)
		return errors.New("no")
	}
	source := Source{Kind: KindCargo, Name: "my-rules"}
	if p, err := in.Install(t.Context(), source, ""); err == nil || len(asked) != 1 || !strings.Contains(asked[0], "build scripts") {
		t.Errorf("it was not asked before it was compiled: %+v, %v, %q", p, err, asked)
	}
	if left := leftIn(t, in); left != nil {
		t.Errorf("left behind: %v", left)
	}
	in = anInstaller(home)
	p, err := in.Install(t.Context(), source, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "my-rules" || p.Version != "0.2.0" || p.Checksum != "sha256 "+sum || len(p.Manifest.Env) != 1 {
		t.Errorf("installed: %+v", p)
	}
	said, err := in.run(t.Context(), tool{program: p.Command[0]})
	if err != nil || string(said) != "ruled\n" {
		t.Errorf("it says %q, %v", said, err)
	}
}
