package plugininstall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// fromNPM has npm install a package and its dependencies below node_modules, without running any
// of their scripts.
func (in *Installer) fromNPM(ctx context.Context, p *Package) error {
	in.Tell("Fetching " + p.Source.String() + " with npm…")
	if err := os.WriteFile(filepath.Join(p.Folder, "package.json"), []byte("{\"private\": true}\n"), 0o600); err != nil {
		return err
	}
	_, err := in.run(ctx, tool{program: "npm", dir: p.Folder, needs: "Node 20 with npm", args: []string{
		"install", "--ignore-scripts", "--omit=dev", "--save-exact", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error",
		"--prefix", p.Folder, p.Source.at("@", ""),
	}})
	if err != nil {
		return err
	}
	if err := p.readNPMLock(); err != nil {
		return err
	}
	at := filepath.Join(p.Folder, "node_modules", filepath.FromSlash(p.Source.Name))
	if err := p.adopt(at); err != nil {
		return err
	}
	script, err := nodeProgram(at, p.Source.Name)
	if err != nil {
		return err
	}
	p.Command = []string{"node", script}
	return nil
}

// readNPMLock reads from package-lock.json what was fetched.
func (p *Package) readNPMLock() error {
	text, err := os.ReadFile(filepath.Join(p.Folder, "package-lock.json"))
	if err != nil {
		return err
	}
	var lock struct {
		Packages map[string]struct {
			Version   string `json:"version"`
			Integrity string `json:"integrity"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("package-lock.json: %w", err)
	}
	fetched, ok := lock.Packages["node_modules/"+p.Source.Name]
	if !ok {
		return errors.New("package-lock.json does not have the package that was asked for")
	}
	p.Version, p.Checksum = fetched.Version, fetched.Integrity
	return nil
}

// nodeProgram is the file that starts a package: its bin or, if it has several, the one with the
// package's name; without a bin, its main.
func nodeProgram(folder, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if err != nil {
		return "", err
	}
	var said struct {
		Bin  json.RawMessage `json:"bin"`
		Main string          `json:"main"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return "", fmt.Errorf("the package's package.json: %w", err)
	}
	var one string
	several := map[string]string{}
	if said.Bin != nil && json.Unmarshal(said.Bin, &one) != nil && json.Unmarshal(said.Bin, &several) != nil {
		return "", errors.New("bin in the package's package.json is neither a file nor files by names")
	}
	candidates := []string{one, several[filepath.Base(name)], said.Main}
	if len(several) == 1 {
		for _, file := range several {
			candidates[1] = file
		}
	}
	i := slices.IndexFunc(candidates, func(file string) bool { return file != "" })
	if i < 0 {
		return "", errors.New("the package has neither a program (bin in its package.json) nor a main, so it is not a plugin")
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	file := filepath.Clean(filepath.FromSlash(candidates[i]))
	if info, err := root.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("the package's program %q is not a file in it", candidates[i])
	}
	return filepath.Join(folder, file), nil
}
