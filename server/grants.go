package server

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/show"
)

// give gives spec what the plugin asks for and was granted, and reports what it asks for and was
// not.
func (srv *Server) give(spec *host.Spec, p config.Plugin) {
	m, err := trust.ManifestOf(config.FolderOf(p))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return // its program is missing, which is reported
	}
	if err != nil {
		srv.Screen.Line(srv.Screen.Ink.Amber("! ") + "Plugin " + p.Name + " gets nothing of what it asks for: " + show.Excerpt(err.Error()))
		return
	}
	grant := srv.Lock.Plugins[p.Name]
	if missing := m.Missing(p.Env, p.Transcript, grant); len(missing) > 0 {
		srv.Screen.Line(srv.Screen.Ink.Amber("! ") + "Plugin " + p.Name + " asks for " + strings.Join(missing, ", ") + ", which it does not get: " + srv.Screen.Hint("plugin grant "+p.Name))
	}
	for _, name := range m.Env {
		if value, set := os.LookupEnv(name); set && slices.Contains(grant.Env, name) && !trust.Gives(p.Env, name) {
			spec.Env = append(spec.Env, name+"="+value)
		}
	}
	if m.Transcript == trust.TranscriptMessages && grant.Transcript == trust.TranscriptMessages {
		spec.Transcript = true
	}
}

// tellMissing reports the plugins whose program is not there. The host says so when it would ask
// them, which in a run that does not fail is never.
func (srv *Server) tellMissing() {
	for _, p := range srv.Config.AskedPlugins() {
		if len(p.Command) == 0 || srv.developed[p.Name] != nil {
			continue
		}
		if _, err := procgroup.LookUp(p.Command[0], ""); err != nil {
			srv.Screen.Line(srv.Screen.Ink.Amber("! ") + "Plugin " + p.Name + " cannot be started: " + show.Excerpt(err.Error()))
		}
	}
}
