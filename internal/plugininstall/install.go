package plugininstall

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/wholefile"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Installer installs plugins for one config.
type Installer struct {
	Folder       string   // of all installed plugins, absolute
	Config       string   // the file, which may be missing
	AllowPrivate bool     // archives may come from private addresses
	Known        []Listed // plugins that people may mean if a name is almost theirs

	Tell  func(line string)                               // is told what is happening
	Agree func(ctx context.Context, lines []string) error // asks a person; nil = they agree
	Test  func(ctx context.Context, p *Package) error     // tests the plugin against its protocol

	roots *x509.CertPool // nil = the system's
}

// Install installs a plugin, under that name or, if it is "", under its own.
func (in *Installer) Install(ctx context.Context, s Source, name string) (*Package, error) {
	if err := in.mayHave(name); err != nil {
		return nil, err
	}
	if risk := s.runsCode(); risk != "" {
		if err := in.Agree(ctx, append(in.warning(s), risk)); err != nil {
			return nil, err
		}
	}
	st, err := in.begin(filepath.Base(s.Name))
	if err != nil {
		return nil, err
	}
	p, err := in.prepare(ctx, s, st.folder, name)
	if err == nil {
		err = in.settle(st, p)
	}
	if err != nil {
		return nil, errors.Join(err, st.discard())
	}
	return p, st.finish()
}

// prepare makes a plugin complete except for its entry in the config.
func (in *Installer) prepare(ctx context.Context, s Source, folder, name string) (*Package, error) {
	p, err := in.fetch(ctx, s, folder)
	if err != nil {
		return nil, err
	}
	p.Name = cmp.Or(name, p.Name)
	if err := in.mayHave(p.Name); err != nil {
		return nil, err
	}
	if err := in.receipt(p).write(p.Folder); err != nil {
		return nil, err
	}
	if err := p.examine(); err != nil {
		return nil, err
	}
	if _, err := in.withEntry(p); err != nil {
		return nil, err
	}
	if err := in.Agree(ctx, append(in.warning(s), p.offer()...)); err != nil {
		return nil, err
	}
	return p, in.tested(ctx, p)
}

// warning says that a name may be a misspelling of another one.
func (in *Installer) warning(s Source) []string {
	if alike := lookAlike(in.Known, s); alike != "" {
		return []string{"! " + s.String() + " is nearly called like " + alike + " of the index, and is another package."}
	}
	return nil
}

func (in *Installer) receipt(p *Package) Receipt {
	return Receipt{Source: p.Source.String(), Version: p.Version, Checksum: p.Checksum, Config: in.Config}
}

// tested runs the plugin for the first time. If it writes into its own folder, that would break its
// pin.
func (in *Installer) tested(ctx context.Context, p *Package) error {
	if err := in.Test(ctx, p); err != nil {
		return err
	}
	before, contents := p.SHA256, trust.Contents(p.Folder)
	if err := p.examine(); err != nil {
		return err
	}
	if p.SHA256 != before {
		return fmt.Errorf("plugin %s changed its own folder while it was tested, so that it could not be pinned: %s",
			p.Name, cmp.Or(trust.WhatChanged(contents, trust.Contents(p.Folder)), "which files is not known"))
	}
	return nil
}

// mayHave says why a plugin cannot have that name; "" is not known yet.
func (in *Installer) mayHave(name string) error {
	switch {
	case name == "":
		return nil
	case !yamlfile.EntryName.MatchString(name):
		return exit.Usagef("%q is not the name of a plugin: use small letters, digits, '.', '_' and '-'", name)
	case config.IsBuiltinName(name):
		return exit.Usagef("%s is the name of a plugin of this program: say --name", name)
	}
	c, _, err := in.read()
	if err != nil {
		return err
	}
	for _, p := range c.Plugins {
		if p.Name == name {
			return exit.Usagef("a plugin %s is configured already: `plugin update %s` updates it, --name installs another beside it", name, name)
		}
	}
	return nil
}

// read returns the config and its text; both are empty if there is no file.
func (in *Installer) read() (*config.Config, []byte, error) {
	source, err := yamlfile.Read(in.Config)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, exit.Usage(err)
	}
	c, err := config.Parse(source)
	if err != nil {
		return nil, nil, exit.Usagef("%s: %w", in.Config, err)
	}
	return c, source, nil
}

// withEntry is the config with the plugin in it.
func (in *Installer) withEntry(p *Package) ([]byte, error) {
	_, source, err := in.read()
	if err != nil {
		return nil, err
	}
	text, err := withPlugin(source, p.entry())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Config, err)
	}
	return text, nil
}

// settle completes the install: first the pin and the grants, which have no effect until a config
// names the plugin.
func (in *Installer) settle(st *stage, p *Package) error {
	unlock, err := in.locked()
	if err != nil {
		return err
	}
	defer unlock()
	if err := in.mayHave(p.Name); err != nil {
		return err // somebody was faster
	}
	text, err := in.withEntry(p)
	if err != nil {
		return err
	}
	return in.write(st, p.Name, p.grant(), text)
}

// write writes what a plugin may do, and then the config. The caller holds the lock.
func (in *Installer) write(st *stage, name string, e trust.Entry, text []byte) error {
	l, err := trust.ReadLock(in.lockPath())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(in.Config), 0o700); err != nil {
		return err
	}
	was := l.Plugins[name]
	if err := st.intends(change{Lock: l.Path, Name: name, Was: was, Now: e.SHA256}); err != nil {
		return err
	}
	if err := l.Set(name, e); err != nil {
		return err
	}
	if err := in.writeConfig(text); err != nil {
		return errors.Join(err, l.Set(name, was))
	}
	return nil
}

// lockPath is mulligan.lock, beside the config.
func (in *Installer) lockPath() string { return filepath.Join(filepath.Dir(in.Config), trust.LockName) }

// writeConfig replaces the whole config; a symbolic link to it stays one.
func (in *Installer) writeConfig(text []byte) error {
	path, mode := in.Config, fs.FileMode(0o600)
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	return wholefile.ReplaceDurably(path, text, mode)
}
