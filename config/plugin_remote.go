package config

import (
	"path/filepath"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// TLS says how a plugin that is a service is authenticated, and how it authenticates us. Paths
// are relative to the config.
type TLS struct {
	CA         string `yaml:"ca"`          // "" = the system's authorities
	Cert       string `yaml:"cert"`        // our certificate
	Key        string `yaml:"key"`         // its private key
	ServerName string `yaml:"server_name"` // "" = the address's host
}

// IsRemote reports whether the plugin is a service, so that nothing is started here.
func (p Plugin) IsRemote() bool { return p.Address != "" }

// HasFolder reports whether the plugin is a program of the user's, in a folder.
func (p Plugin) HasFolder() bool { return !p.IsBuiltin() && !p.IsRemote() }

// Nature says what a plugin without a folder is.
func (p Plugin) Nature() string {
	if p.IsRemote() {
		return "is a service at " + terminal.OneLine(p.Address)
	}
	return "is part of this program"
}

// remoteProblem checks the fields that depend on whether an entry has an address.
func (p Plugin) remoteProblem(at string) *yamlfile.Problem {
	switch {
	case !p.IsRemote() && p.TLS != nil:
		return yamlfile.Problemf(at+".tls", "certificates are for a plugin with an address")
	case !p.IsRemote():
		return nil
	case len(p.Command) > 0:
		return yamlfile.Problemf(at+".address", "a plugin has either a command or an address")
	case len(p.Config) > 0:
		return yamlfile.Problemf(at+".config", "a service is configured where it runs: others use it, too, so no configuration is sent to it")
	case len(p.Env) > 0:
		return yamlfile.Problemf(at+".env", "a service does not get anything of this environment")
	case p.Folder != "":
		return yamlfile.Problemf(at+".folder", "a service has no folder here")
	}
	if err := host.CheckAddress(p.Address, p.TLS.Files()); err != nil {
		return yamlfile.Problemf(at+".address", "%v", err)
	}
	return nil
}

// Files converts t to the host's form.
func (t *TLS) Files() *host.RemoteTLS {
	if t == nil {
		return nil
	}
	return &host.RemoteTLS{CA: t.CA, Cert: t.Cert, Key: t.Key, ServerName: t.ServerName}
}

// placeCertificates resolves the paths of certificates, relative to the config's folder.
func (c *Config) placeCertificates() {
	for _, p := range c.Plugins {
		if p.TLS == nil {
			continue
		}
		for _, path := range []*string{&p.TLS.CA, &p.TLS.Cert, &p.TLS.Key} {
			if *path != "" && !filepath.IsAbs(*path) {
				*path = filepath.Join(filepath.Dir(c.Path), *path)
			}
		}
	}
}
