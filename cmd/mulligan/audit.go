package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/server"
	"github.com/mulligan-run/mulligan/show"
)

// audit checks what keeps others out, as numbered security controls (S30). It starts
// nothing and changes nothing; each finding says what to type.
func (d *doctor) audit() error {
	d.auditListeners()
	d.auditToken()
	d.auditState()
	d.auditPlugins()
	if d.missing > 0 {
		d.screen.Line("")
		d.screen.Line(show.Plural(d.missing, "thing is", "things are") + " wrong.")
		return &exit.Error{Code: exit.CodeFailed}
	}
	return nil
}

// auditListeners says who can reach the running gateways (S01).
func (d *doctor) auditListeners() {
	list, err := server.ListeningNow(d.Dir)
	if err != nil {
		d.bad("remove it: rm -r "+show.ShellQuote(server.ListeningDir(d.Dir)), "S01 what serves cannot be told: %v", err)
		return
	}
	if len(list) == 0 {
		d.good("S01 no gateway runs")
	}
	for _, s := range list {
		switch {
		case gateway.CheckBind(s.Address, false, false) == nil:
			d.good("S01 the gateway of process %d is reached from this machine alone (%s)", s.PID, s.Address)
		case s.TLS:
			d.good("S01 the gateway of process %d is reached from elsewhere, with TLS (%s)", s.PID, s.Address)
		default:
			d.bad("stop it, and start it with --listen 127.0.0.1:8484, or with --tls-cert and --tls-key",
				"S01 the gateway of process %d is reached from elsewhere without TLS, and others can read along (%s)", s.PID, s.Address)
		}
	}
}

// auditToken checks the token's file (S02).
func (d *doctor) auditToken() {
	_, err := gateway.ReadToken(d.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.good("S02 there is no token yet; the first gateway makes it")
	case err != nil:
		d.bad("replace it: "+d.screen.Hint("login --rotate"), "S02 %v", err)
	default:
		d.good("S02 the token is long enough, and its file is yours alone")
	}
}

// auditState checks everything in the state folder (S16), which contains what was
// said.
func (d *doctor) auditState() {
	const most = 20 // are told
	var wrong, looked int
	err := filepath.WalkDir(d.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path != d.Dir && errors.Is(err, fs.ErrNotExist) {
				return nil // it was removed meanwhile
			}
			return err
		}
		info, err := entry.Info()
		if err != nil || info.Mode().Type() == fs.ModeSymlink {
			return nil //nolint:nilerr // it was removed meanwhile; a link has no mode of its own
		}
		looked++
		if why, fix := othersReach(path, info); why != "" {
			if wrong++; wrong <= most {
				d.bad(fix, "S16 %s", why)
			}
		}
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.good("S16 there is no state yet (%s)", d.Dir)
	case err != nil:
		d.bad("make it readable for you", "S16 the state cannot be looked at: %v", err)
	case wrong > most:
		d.bad("chmod -R go= "+show.ShellQuote(d.Dir), "S16 … and %d more", wrong-most)
	case wrong == 0:
		d.good("S16 the state is yours alone (%s, %s)", d.Dir, show.Plural(looked, "file or folder", "files and folders"))
	}
}

// othersReach says how others could access a file or folder, and how to prevent it.
func othersReach(path string, info fs.FileInfo) (why, fix string) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != uint32(os.Geteuid()) {
		return path + " belongs to user " + strconv.Itoa(int(stat.Uid)), "chown " + strconv.Itoa(os.Geteuid()) + " " + show.ShellQuote(path)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Sprintf("%s is open to others (mode %04o)", path, mode), "chmod go= " + show.ShellQuote(path)
	}
	return "", ""
}

// auditPlugins says who could replace a plugin (S23).
func (d *doctor) auditPlugins() {
	for _, p := range d.Config.AskedPlugins() {
		spec, err := d.Spec(p)
		if err == nil {
			err = host.CheckOwners(spec)
		}
		switch {
		case err != nil:
			d.bad("take the right to write from others (chmod go-w), or pin it: "+d.screen.Hint("plugin pin "+p.Name), "S23 plugin %s: %v", p.Name, err)
		case spec.Address != "":
			d.note("S23 plugin %s is a service: whoever runs %s decides what it does", p.Name, spec.Address)
		case spec.Pin != "":
			d.good("S23 plugin %s is pinned", p.Name)
		default:
			d.good("S23 plugin %s can be replaced by you and root alone", p.Name)
		}
	}
}
