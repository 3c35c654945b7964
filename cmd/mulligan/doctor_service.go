package main

import (
	"os"
	"time"

	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/show"
)

// service says whether a plugin that is a service can be asked, and how long its
// certificates are valid.
func (d *doctor) service(s host.Status) {
	if s.State != host.StateReady {
		d.bad("see its address and certificates in the config; a run goes on without it", "plugin %s cannot be reached: %s", s.Name, s.LastError)
	} else {
		d.good("plugin %s %s answers at %s", s.Name, s.Version, s.Address)
		d.endsSoon(s.Name, "the server's certificate", s.ServerCertEnds)
		d.endsSoon(s.Name, "the client certificate", s.ClientCertEnds)
	}
	for _, p := range d.Config.AskedPlugins() {
		if p.Name != s.Name || p.TLS == nil || p.TLS.Key == "" {
			continue
		}
		if info, err := os.Stat(p.TLS.Key); err == nil && info.Mode().Perm()&0o077 != 0 {
			d.note("plugin %s: others can use its key %s (mode %04o): chmod 600 %s", s.Name, p.TLS.Key, info.Mode().Perm(), show.ShellQuote(p.TLS.Key))
		}
	}
}

func (d *doctor) endsSoon(plugin, what string, ends time.Time) {
	if left := time.Until(ends); !ends.IsZero() && left < soon {
		d.note("plugin %s: %s ends in %s, at %s", plugin, what, show.Plural(int(left.Hours()/24), "day", "days"), ends.UTC().Format(time.RFC3339))
	}
}

// soon is how long before its expiry a certificate deserves a note.
const soon = 14 * 24 * time.Hour
