package server

import (
	"fmt"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/show"
)

// Breach says, in lines, how a plugin differs from what was pinned.
type Breach []string

// Breach compares a plugin's folder with its pin; nil if they match.
func (srv *Server) Breach(p config.Plugin, pin trust.Entry) Breach {
	now, err := trust.Examine(config.FolderOf(p))
	switch {
	case err != nil:
		return Breach{"it cannot be examined: " + show.Excerpt(err.Error()), "expected  " + pin.SHA256}
	case now.Sha256 == pin.SHA256:
		return nil
	}
	lines := Breach{"folder    " + terminal.OneLine(now.Folder), "expected  " + pin.SHA256, "actual    " + now.Sha256}
	if changed := trust.WhatChanged(pin.Contents, trust.Contents(now.Folder)); changed != "" {
		lines = append(lines, "what      "+changed)
	} else {
		lines = append(lines, fmt.Sprintf("what      unknown: %s then, %d now", show.Plural(pin.Files, "file", "files"), now.Files))
	}
	return append(lines, "If it may run as it is now: "+srv.Screen.Hint("plugin pin "+p.Name))
}

// tellBreaches reports the configured plugins that differ from their pins.
func (srv *Server) tellBreaches() {
	for _, p := range srv.Config.AskedPlugins() {
		if pin := srv.Lock.Plugins[p.Name]; pin.SHA256 != "" && p.HasFolder() {
			if b := srv.Breach(p, pin); b != nil {
				TellBreach(srv.Screen, p, b)
			}
		}
	}
}

// TellBreach says that a plugin does not run, and why.
func TellBreach(s *show.Screen, p config.Plugin, b Breach) {
	s.Line(s.Ink.Red("✗ ") + "Plugin " + p.Name + " is not what was pinned, and does not run:")
	for _, line := range b {
		s.Line("    " + line)
	}
}
