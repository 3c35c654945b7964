package plugininstall

import (
	"context"

	"github.com/mulligan-run/mulligan/host/trust"
)

// Package is a plugin in a folder.
type Package struct {
	Source   Source
	Name     string // of the plugin
	Version  string // "" = unknown
	Checksum string // of what was fetched, prefixed with its algorithm; "" = a folder
	Folder   string
	Command  []string // starts the plugin
	Manifest trust.Manifest
	SHA256   string // of the whole folder
	Files    int
}

// fetch fills the folder. No code from the package runs, unless Source.runsCode says
// so.
func (in *Installer) fetch(ctx context.Context, s Source, folder string) (*Package, error) {
	p := &Package{Source: s, Folder: folder}
	var err error
	switch s.Kind {
	case KindFolder:
		err = p.fromFolder(ctx, s.Name)
	case KindPyPI:
		err = in.fromPyPI(ctx, p)
	case KindNPM:
		err = in.fromNPM(ctx, p)
	case KindGo:
		err = in.fromGo(ctx, p)
	case KindCargo:
		err = in.fromCargo(ctx, p)
	case KindArchive:
		err = in.fromArchive(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// examine hashes the folder.
func (p *Package) examine() error {
	now, err := trust.Examine(p.spec())
	p.SHA256, p.Files = now.Sha256, now.Files
	return err
}
