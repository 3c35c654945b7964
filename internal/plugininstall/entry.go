package plugininstall

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/procgroup"
)

// entry is the plugin's entry in the config.
func (p *Package) entry() config.Plugin {
	return config.Plugin{Name: p.Name, Command: p.Command, Folder: p.Folder, Occasions: p.Manifest.Occasions}
}

func (p *Package) spec() host.Spec { return config.FolderOf(p.entry()) }

// Local is a plugin in its author's folder.
func Local(folder string) (*Package, error) {
	p := &Package{Source: Source{Kind: KindFolder, Name: folder}, Folder: folder}
	return p, p.byManifest()
}

// byManifest takes the name, the version and the command from the manifest.
func (p *Package) byManifest() error {
	var err error
	if p.Manifest, err = trust.ReadManifest(p.Folder); err != nil {
		return err
	}
	m := p.Manifest
	switch {
	case m.Name == "":
		return fmt.Errorf("the plugin's %s does not say its name", trust.ManifestName)
	case len(m.Command) == 0:
		return fmt.Errorf("the plugin's %s does not say the command by which it starts", trust.ManifestName)
	}
	p.Name, p.Version = m.Name, string(m.Version)
	p.Command, err = placed(p.Folder, m.Command)
	return err
}

// placed makes words of a command that are files in the folder absolute, so that it
// works from anywhere.
func placed(folder string, words []string) ([]string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	var command []string
	for i, word := range words {
		name := filepath.Clean(word)
		local := filepath.IsLocal(name)
		if local {
			_, err := root.Lstat(name)
			local = err == nil
		}
		switch {
		case local && (i > 0 || strings.ContainsRune(word, filepath.Separator)):
			word = filepath.Join(folder, name)
		case i > 0:
		case filepath.IsAbs(word) || !filepath.IsLocal(name):
			return nil, fmt.Errorf("the plugin's command %q is neither in its folder nor on the PATH", word)
		case strings.ContainsRune(word, filepath.Separator):
			return nil, fmt.Errorf("the plugin's command %s is not in its folder: build it first", word)
		}
		command = append(command, word)
	}
	if _, err := procgroup.LookUp(command[0], ""); err != nil {
		return nil, fmt.Errorf("the plugin's command cannot be started here: %w", err)
	}
	return command, nil
}

// adopt uses the first manifest found in one of these folders as the plugin's own, if there is one,
// and takes the name from it or from the package.
func (p *Package) adopt(folders ...string) error {
	for _, folder := range folders {
		if _, err := trust.ReadManifest(folder); err != nil { // it may be a link to the outside
			return err
		}
		text, err := os.ReadFile(filepath.Join(folder, trust.ManifestName))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(p.Folder, trust.ManifestName), text, 0o600); err != nil {
			return err
		}
		break
	}
	var err error
	p.Manifest, err = trust.ReadManifest(p.Folder)
	p.Name = cmp.Or(p.Manifest.Name, nameOf(p.Source))
	return err
}
