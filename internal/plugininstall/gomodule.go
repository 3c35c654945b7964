package plugininstall

import (
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fromGo has go compile a package, which runs none of its code: without cgo no other compiler is
// called.
func (in *Installer) fromGo(ctx context.Context, p *Package) error {
	in.Tell("Fetching and compiling " + p.Source.String() + " with go…")
	bin := filepath.Join(p.Folder, "bin")
	_, err := in.run(ctx, tool{
		program: "go", args: []string{"install", "-trimpath", p.Source.at("@", "latest")}, dir: p.Folder, needs: "Go",
		env: []string{"GOBIN=" + bin, "CGO_ENABLED=0", "GOWORK=off"},
	})
	if err != nil {
		return err
	}
	program, err := onlyProgram(bin)
	if err != nil {
		return err
	}
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	p.Version, p.Checksum, p.Command = built.Main.Version, built.Main.Sum, []string{program}
	return in.adoptOfModule(ctx, p, built.Main.Path, strings.TrimPrefix(strings.TrimPrefix(p.Source.Name, built.Main.Path), "/"))
}

// adoptOfModule uses the manifest in the package, or at the top of its module.
func (in *Installer) adoptOfModule(ctx context.Context, p *Package, module, below string) error {
	text, err := in.run(ctx, tool{
		program: "go", args: []string{"mod", "download", "-json", module + "@" + p.Version}, dir: p.Folder, needs: "Go", env: []string{"GOWORK=off"},
	})
	if err != nil {
		return err
	}
	var at struct{ Dir string }
	if err := json.Unmarshal(text, &at); err != nil || at.Dir == "" {
		return errors.Join(err, fmt.Errorf("go does not say where it keeps %s", module))
	}
	return p.adopt(filepath.Join(at.Dir, filepath.FromSlash(below)), at.Dir)
}

// onlyProgram is the only file in a folder.
func onlyProgram(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	if len(entries) != 1 || !entries[0].Type().IsRegular() {
		return "", fmt.Errorf("the package has %d programs, and a plugin has one", len(entries))
	}
	return filepath.Join(folder, entries[0].Name()), nil
}
