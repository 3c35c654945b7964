package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/mulligan-run/mulligan/host"
)

// tlsEntry says how a plugin that is a service is trusted, and how it trusts us. The
// paths are relative to the config.
type tlsEntry struct {
	CA         string `yaml:"ca"` // "" = the system's authorities
	Cert       string `yaml:"cert"`
	Key        string `yaml:"key"`
	ServerName string `yaml:"server_name"` // "" = the address's host
}

// isRemote reports whether the plugin is a service: nothing of it is started here.
func (p pluginEntry) isRemote() bool { return p.Address != "" }

// hasFolder reports whether the plugin is a program of the user's, which lies in a folder.
func (p pluginEntry) hasFolder() bool { return !p.isBuiltin() && !p.isRemote() }

// nature is what a plugin without a folder is.
func (p pluginEntry) nature() string {
	if p.isRemote() {
		return "is a service at " + oneLine(p.Address)
	}
	return "is part of this program"
}

// remoteProblem finds what is wrong with an entry because it has an address, or none.
func (p pluginEntry) remoteProblem(at string) *problem {
	switch {
	case !p.isRemote() && p.TLS != nil:
		return problemf(at+".tls", "certificates are for a plugin with an address")
	case !p.isRemote():
		return nil
	case len(p.Command) > 0:
		return problemf(at+".address", "a plugin has either a command or an address")
	case len(p.Config) > 0:
		return problemf(at+".config", "a service is configured where it runs: others use it, too, so that no configuration is sent to it")
	case len(p.Env) > 0:
		return problemf(at+".env", "a service does not get anything of this environment")
	case p.Folder != "":
		return problemf(at+".folder", "a service has no folder here")
	}
	if err := host.CheckAddress(p.Address, p.TLS.files()); err != nil {
		return problemf(at+".address", "%v", err)
	}
	return nil
}

// files is the same in the host's terms.
func (t *tlsEntry) files() *host.RemoteTLS {
	if t == nil {
		return nil
	}
	return &host.RemoteTLS{CA: t.CA, Cert: t.Cert, Key: t.Key, ServerName: t.ServerName}
}

// placeCertificates makes the paths of certificates relative to the config's folder.
func (c *config) placeCertificates() {
	for _, p := range c.Plugins {
		if p.TLS == nil {
			continue
		}
		for _, path := range []*string{&p.TLS.CA, &p.TLS.Cert, &p.TLS.Key} {
			if *path != "" && !filepath.IsAbs(*path) {
				*path = filepath.Join(filepath.Dir(c.path), *path)
			}
		}
	}
}

// soon is how long before its end a certificate is worth a note.
const soon = 14 * 24 * time.Hour

// service says whether a plugin that is a service can be asked, and for how long.
func (d *doctor) service(s host.Status) {
	if s.State != host.StateReady {
		d.bad("see its address and certificates in the config; a run goes on without it", "plugin %s cannot be reached: %s", s.Name, s.LastError)
	} else {
		d.good("plugin %s %s answers at %s", s.Name, s.Version, s.Address)
		d.endsSoon(s.Name, "the server's certificate", s.ServerCertEnds)
		d.endsSoon(s.Name, "the client certificate", s.ClientCertEnds)
	}
	for _, p := range d.config.plugins() {
		if p.Name != s.Name || p.TLS == nil || p.TLS.Key == "" {
			continue
		}
		if info, err := os.Stat(p.TLS.Key); err == nil && info.Mode().Perm()&0o077 != 0 {
			d.note("plugin %s: others can use its key %s (mode %04o): chmod 600 %s", s.Name, p.TLS.Key, info.Mode().Perm(), shellQuote(p.TLS.Key))
		}
	}
}

func (d *doctor) endsSoon(plugin, what string, ends time.Time) {
	if left := time.Until(ends); !ends.IsZero() && left < soon {
		d.note("plugin %s: %s ends in %s, at %s", plugin, what, plural(int(left.Hours()/24), "day", "days"), ends.UTC().Format(time.RFC3339))
	}
}
