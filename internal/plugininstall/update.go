package plugininstall

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
)

// ErrNewest says that what would be installed is already installed.
var ErrNewest = errors.New("this version is already installed")

// Update replaces an installed plugin with the current version from its source, or from another
// source. The changes are shown before any new code runs. The rest of its entry stays as it is, and a
// revoked grant stays revoked.
func (in *Installer) Update(ctx context.Context, name string, from *Source) (*Package, error) {
	there, _, err := in.installed(name)
	if err != nil {
		return nil, err
	}
	old, err := installedPackage(there)
	if err != nil {
		return nil, err
	}
	if from == nil {
		from = &old.Source
	}
	if risk := from.runsCode(); risk != "" {
		if err := in.Agree(ctx, []string{risk}); err != nil {
			return nil, err
		}
	}
	st, err := in.begin(name)
	if err != nil {
		return nil, err
	}
	p, err := in.successor(ctx, old, *from, st.folder)
	if err == nil {
		err = in.replace(st, old, p)
	}
	if err != nil {
		return nil, errors.Join(err, st.discard())
	}
	return p, errors.Join(st.finish(), in.drop(old.Folder))
}

// installedPackage is what is known about an installed plugin.
func installedPackage(entry config.Plugin) (*Package, error) {
	p := &Package{Name: entry.Name, Folder: entry.Folder, Command: entry.Command}
	r, err := readReceipt(entry.Folder)
	if err != nil {
		return nil, exit.Usagef("where plugin %s came from is not known (%w): remove it, and install it again", entry.Name, err)
	}
	if p.Source, err = ParseSource(r.Source); err != nil {
		return nil, err
	}
	p.Version, p.Checksum = r.Version, r.Checksum
	if p.Manifest, err = trust.ReadManifest(entry.Folder); err != nil {
		return nil, err
	}
	p.Manifest.Occasions = entry.Occasions
	return p, nil
}

// successor makes the plugin that will replace old.
func (in *Installer) successor(ctx context.Context, old *Package, s Source, folder string) (*Package, error) {
	p, err := in.fetch(ctx, s, folder)
	if err != nil {
		return nil, err
	}
	p.Name = old.Name
	if err := in.receipt(p).write(p.Folder); err != nil {
		return nil, err
	}
	if err := p.examine(); err != nil {
		return nil, err
	}
	files, same := compare(old, p)
	if same {
		return nil, ErrNewest
	}
	_, source, err := in.read()
	if err != nil {
		return nil, err
	}
	if _, err := replacedPlugin(source, old.entry(), p.entry()); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Config, err)
	}
	if err := in.Agree(ctx, append(differences(old, p, files), p.offer()...)); err != nil {
		return nil, err
	}
	return p, in.tested(ctx, p)
}

// compare says which files differ, "" if unknown, and whether everything is the same.
func compare(old, p *Package) (files string, same bool) {
	if p.Checksum != "" && p.Checksum == old.Checksum && p.Source == old.Source {
		return "", true
	}
	before, now := trust.Contents(old.Folder), trust.Contents(p.Folder)
	for _, list := range []map[string]string{before, now} { // these name the folder
		delete(list, receiptName)
		delete(list, ".venv/pyvenv.cfg")
	}
	if before == nil || now == nil {
		return "", false
	}
	if maps.Equal(before, now) {
		return "", p.Source == old.Source
	}
	return trust.WhatChanged(before, now), false
}

// differences are the changes that a person sees first.
func differences(old, p *Package, files string) []string {
	lines := []string{fmt.Sprintf("Plugin %s: %s, to be replaced by %s", old.Name, orUnknown(old.Version), orUnknown(p.Version))}
	add := func(what, text string) {
		if text != "" {
			lines = append(lines, fmt.Sprintf("  %-10s %s", what, text))
		}
	}
	add("files", files)
	if old.Source.String() != p.Source.String() {
		add("source", old.Source.String()+" before")
	}
	before, now := asks(old.Manifest), asks(p.Manifest)
	if !slices.Equal(before, now) {
		add("got before", strings.Join(before, "; and "))
		if len(before) == 0 {
			add("got before", "nothing")
		}
	}
	if !slices.Equal(old.occasions(), p.occasions()) {
		add("occasions", "its entry says "+strings.Join(old.occasions(), ", ")+", and that stays: change it there if you agree")
	}
	return lines
}

func orUnknown(version string) string {
	if version == "" {
		return "an unknown version"
	}
	return version
}

// replace completes the update.
func (in *Installer) replace(st *stage, old, p *Package) error {
	unlock, err := in.locked()
	if err != nil {
		return err
	}
	defer unlock()
	now, source, err := in.installed(old.Name)
	if err != nil {
		return err
	}
	if now.Folder != old.Folder {
		return fmt.Errorf("plugin %s was changed meanwhile by another process", old.Name)
	}
	text, err := replacedPlugin(source, now, p.entry())
	if err != nil {
		return fmt.Errorf("%s: %w", in.Config, err)
	}
	l, err := trust.ReadLock(in.lockPath())
	if err != nil {
		return err
	}
	return in.write(st, p.Name, regranted(old.Manifest, p, l.Plugins[old.Name]), text)
}

// regranted are the plugin's new grants: those that it had and still asks for, and what it newly asks
// for.
func regranted(before trust.Manifest, p *Package, had trust.Entry) trust.Entry {
	e := p.grant()
	e.Env = slices.DeleteFunc(e.Env, func(name string) bool {
		return slices.Contains(before.Env, name) && !slices.Contains(had.Env, name)
	})
	if before.Transcript == trust.TranscriptMessages {
		e.Transcript = ""
		if p.Manifest.Transcript == trust.TranscriptMessages {
			e.Transcript = had.Transcript
		}
	}
	return e
}

// drop removes a folder that no config names.
func (in *Installer) drop(folder string) error {
	s, err := mark(folder)
	if err != nil {
		return err
	}
	return s.discard()
}
