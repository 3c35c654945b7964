package plugininstall

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/exit"
)

// Remove undoes an install: the config no longer names the plugin, its pin and its grants are
// gone, and so is its folder.
func (in *Installer) Remove(name string) error {
	unlock, err := in.locked()
	if err != nil {
		return err
	}
	defer unlock()
	in.sweep()
	p, source, err := in.installed(name)
	if err != nil {
		return err
	}
	after, err := withoutPlugin(source, name)
	if err != nil {
		return fmt.Errorf("%s: %w", in.Config, err)
	}
	s, err := mark(p.Folder)
	if err != nil {
		return err
	}
	l, err := trust.ReadLock(in.lockPath())
	if err == nil {
		err = s.intends(change{Lock: l.Path, Name: name, Now: l.Plugins[name].SHA256})
	}
	if err == nil {
		err = in.writeConfig(after)
	}
	if err != nil {
		return errors.Join(err, s.finish())
	}
	return errors.Join(l.Set(name, trust.Entry{}), s.discard())
}

// installed is the entry of an installed plugin, and the config.
func (in *Installer) installed(name string) (config.Plugin, []byte, error) {
	c, source, err := in.read()
	if err != nil {
		return config.Plugin{}, nil, err
	}
	i := slices.IndexFunc(c.Plugins, func(p config.Plugin) bool { return p.Name == name })
	switch {
	case i < 0:
		return config.Plugin{}, nil, exit.Usagef("no plugin %q is configured in %s", name, in.Config)
	case filepath.Dir(c.Plugins[i].Folder) != in.Folder:
		return config.Plugin{}, nil, exit.Usagef("plugin %s was not installed by `plugin install`, so its folder is not removed: take its entry out of %s", name, in.Config)
	}
	return c.Plugins[i], source, nil
}
