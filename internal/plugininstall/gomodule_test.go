package plugininstall

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/host/trust"
)

// goProxy writes a proxy's files of example.com/mine/v2, and is the only proxy that go uses.
func goProxy(t *testing.T, home, version string, files map[string]string) {
	t.Helper()
	all := map[string]string{}
	for name, text := range files {
		all["example.com/mine/v2@"+version+"/"+name] = text
	}
	lay(t, filepath.Join(home, "proxy/example.com/mine/v2/@v"), map[string]string{
		"list": version + "\n", version + ".info": `{"Version": "` + version + `"}`, version + ".mod": files["go.mod"], version + ".zip": string(zipped(t, all)),
	})
	for name, value := range map[string]string{
		"GOPROXY": "file://" + filepath.Join(home, "proxy"), "GONOSUMDB": "*", "GOFLAGS": "-trimpath -modcacherw", "GOMODCACHE": filepath.Join(home, "mod"), "GOTOOLCHAIN": "local",
	} {
		t.Setenv(name, value)
	}
}

func TestGo(t *testing.T) {
	long(t)
	home, _ := aHome(t)
	goProxy(t, home, "v2.1.0", map[string]string{
		"go.mod": "module example.com/mine/v2\n\ngo 1.24\n", "cmd/my-rules/main.go": "package main\n\nfunc main() { println(\"ruled\") }\n",
		trust.ManifestName: "env: [TOKEN]\n", "cmd/two/main.go": "package other\n",
	})
	in := anInstaller(home)
	p, err := in.Install(t.Context(), Source{Kind: KindGo, Name: "example.com/mine/v2/cmd/my-rules"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "my-rules" || p.Version != "v2.1.0" || !strings.HasPrefix(p.Checksum, "h1:") || len(p.Manifest.Env) != 1 || p.Command[0] != filepath.Join(p.Folder, "bin", "my-rules") {
		t.Errorf("installed: %+v", p)
	}
	if _, err := in.run(t.Context(), tool{program: p.Command[0]}); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"example.com/mine/v2/cmd/two", "example.com/nobody"} {
		if p, err := in.Install(t.Context(), Source{Kind: KindGo, Name: name}, "other"); err == nil || !strings.Contains(err.Error(), "go failed: ") && !strings.Contains(err.Error(), "no such file") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if left := leftIn(t, in); len(left) != 1 {
		t.Errorf("left are %v", left)
	}
}
