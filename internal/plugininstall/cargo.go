package plugininstall

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// fromCargo has cargo compile a crate with the versions that its author locked. That runs build
// scripts, so a person must have agreed before (Source.runsCode).
func (in *Installer) fromCargo(ctx context.Context, p *Package) error {
	in.Tell("Fetching and compiling " + p.Source.String() + " with cargo, which takes minutes…")
	args := []string{"install", "--locked", "--root", p.Folder, p.Source.Name}
	if p.Source.Version != "" {
		args = append(args, "--version", "="+strings.TrimPrefix(p.Source.Version, "="))
	}
	home, err := cargoHome()
	if err != nil {
		return err
	}
	if _, err := in.run(ctx, tool{program: "cargo", args: args, dir: p.Folder, needs: "Rust 1.85 or later"}); err != nil {
		return err
	}
	program, err := onlyProgram(filepath.Join(p.Folder, "bin"))
	if err != nil {
		return err
	}
	p.Command = []string{program}
	return p.fromCrate(home)
}

func cargoHome() (string, error) {
	if home := os.Getenv("CARGO_HOME"); home != "" {
		return home, nil
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cargo"), err
}

// fromCrate reads what cargo recorded about the install, and its copy of the crate.
func (p *Package) fromCrate(home string) error {
	tracked := filepath.Join(p.Folder, ".crates2.json")
	text, err := os.ReadFile(tracked)
	if err != nil {
		return err
	}
	var said struct {
		Installs map[string]json.RawMessage `json:"installs"` // by "NAME VERSION (REGISTRY)"
	}
	if err := json.Unmarshal(text, &said); err != nil || len(said.Installs) != 1 {
		return errors.Join(err, fmt.Errorf("cargo says that it installed %d crates", len(said.Installs)))
	}
	for crate := range said.Installs {
		_, rest, _ := strings.Cut(crate, " ")
		p.Version, _, _ = strings.Cut(rest, " ")
	}
	if err := errors.Join(os.Remove(tracked), os.Remove(filepath.Join(p.Folder, ".crates.toml"))); err != nil {
		return err
	}
	crate := p.Source.Name + "-" + p.Version
	archives, err := filepath.Glob(filepath.Join(home, "registry", "cache", "*", crate+".crate"))
	if err != nil || len(archives) != 1 {
		return errors.Join(err, fmt.Errorf("cargo keeps %d archives of %s, and which one was taken is not known", len(archives), crate))
	}
	archive, err := os.ReadFile(archives[0])
	if err != nil {
		return err
	}
	sum := sha256.Sum256(archive)
	p.Checksum = "sha256 " + hex.EncodeToString(sum[:])
	return p.adopt(filepath.Join(home, "registry", "src", filepath.Base(filepath.Dir(archives[0])), crate))
}
