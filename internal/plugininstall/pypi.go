package plugininstall

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan/host/trust"
)

// fromPyPI creates a virtual environment and has pip install wheels into it. A wheel is only
// unpacked; building a package would run its code, so other packages are refused. Afterwards nothing
// is started in the environment, because what a wheel puts beside its modules (.pth) runs with every
// Python there.
func (in *Installer) fromPyPI(ctx context.Context, p *Package) error {
	const needs = "Python 3.11 with venv, and pip 22.3"
	in.Tell("Fetching " + p.Source.String() + " with pip…")
	if _, err := in.run(ctx, tool{program: "python3", name: "python3 -m venv", args: []string{"-m", "venv", "--without-pip", ".venv"}, dir: p.Folder, needs: needs}); err != nil {
		return err
	}
	const report = "pip-report.json"
	_, err := in.run(ctx, tool{program: "python3", name: "pip", dir: p.Folder, needs: needs, args: []string{
		"-m", "pip", "--python", filepath.Join(p.Folder, ".venv", "bin", "python"), "install",
		"--only-binary", ":all:", "--no-compile", "--no-input", "--quiet", "--disable-pip-version-check", "--no-warn-script-location",
		"--report", report, p.Source.at("==", ""),
	}})
	if err != nil && strings.Contains(err.Error(), "No matching distribution") {
		return fmt.Errorf("%w (only wheels are taken, since building a package runs its code)", err)
	}
	if err != nil {
		return err
	}
	if err := p.readPipReport(filepath.Join(p.Folder, report)); err != nil {
		return err
	}
	return p.fromDistribution()
}

// readPipReport reads pip's report on the requested package, and removes it.
func (p *Package) readPipReport(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var said struct {
		Install []struct {
			Requested bool `json:"requested"`
			Metadata  struct {
				Version string `json:"version"`
			} `json:"metadata"`
			Download struct {
				Archive struct {
					Hashes map[string]string `json:"hashes"`
				} `json:"archive_info"`
			} `json:"download_info"`
		} `json:"install"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return fmt.Errorf("pip's report: %w", err)
	}
	for _, item := range said.Install {
		if item.Requested {
			p.Version = item.Metadata.Version
			if sum := item.Download.Archive.Hashes["sha256"]; sum != "" {
				p.Checksum = "sha256 " + sum
			}
			return os.Remove(file)
		}
	}
	return errors.New("pip's report does not have the package that was asked for")
}

// fromDistribution reads what pip recorded about the requested package: how it starts, and where its
// manifest is.
func (p *Package) fromDistribution() error {
	found, err := filepath.Glob(filepath.Join(p.Folder, ".venv", "lib", "python*", "site-packages", "*.dist-info", "REQUESTED"))
	if err != nil || len(found) != 1 {
		return errors.Join(err, fmt.Errorf("pip installed %d packages that were asked for", len(found)))
	}
	about := filepath.Dir(found[0])
	if err := p.manifestOfRecord(about); err != nil {
		return err
	}
	script, err := p.consoleScript(filepath.Join(about, "entry_points.txt"))
	if err != nil {
		return err
	}
	start := filepath.Join(p.Folder, "start_plugin.py")
	if err := os.WriteFile(start, []byte(script), 0o600); err != nil {
		return err
	}
	// -I: neither the environment nor this folder changes what is imported.
	p.Command = []string{filepath.Join(p.Folder, ".venv", "bin", "python"), "-I", start}
	return nil
}

// manifestOfRecord takes the manifest from wherever the wheel has it.
func (p *Package) manifestOfRecord(about string) error {
	record, err := os.Open(filepath.Join(about, "RECORD"))
	if err != nil {
		return err
	}
	defer func() { _ = record.Close() }()
	var at []string
	rows := csv.NewReader(record)
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the package's RECORD: %w", err)
		}
		if path.Base(row[0]) == trust.ManifestName {
			at = append(at, row[0])
		}
	}
	switch len(at) {
	case 0:
		return p.adopt()
	case 1:
		return p.adopt(filepath.Dir(filepath.Join(filepath.Dir(about), filepath.FromSlash(at[0]))))
	}
	return fmt.Errorf("the package has %d files %s", len(at), trust.ManifestName)
}

// A console script is NAME = MODULE:FUNCTION.
var consoleScript = regexp.MustCompile(`^([A-Za-z0-9._-]+)\s*=\s*([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*):([A-Za-z_][A-Za-z0-9_]*)$`)

// consoleScript is a program that does what the package's only script does, or the script with the
// package's name. The script itself contains the path of the environment's Python, so that a copy,
// which runs once the plugin is pinned, would leave the copy's folder.
func (p *Package) consoleScript(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	var names, programs []string
	section, lines := "", bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") {
			section = line
			continue
		}
		if m := consoleScript.FindStringSubmatch(line); section == "[console_scripts]" && m != nil {
			names = append(names, m[1])
			programs = append(programs, fmt.Sprintf("import sys\n\nfrom %s import %s\n\nsys.exit(%s())\n", m[2], m[3], m[3]))
		}
	}
	for i, name := range names {
		if len(names) == 1 || name == p.Source.Name {
			return programs[i], nil
		}
	}
	if len(names) > 1 {
		return "", fmt.Errorf("the package has several scripts (%s), and none is called %s", strings.Join(names, ", "), p.Source.Name)
	}
	return "", errors.New("the package has no script that starts it ([project.scripts] in its pyproject.toml), so it is not a plugin")
}
