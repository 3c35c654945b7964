package server

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/terminal"
)

// invite shows a person, but no log file, how to log in, and opens the browser if open is set.
// rest does the slow part; the links exist before it runs.
func (srv *Server) invite(ctx context.Context, url string, open bool) (rest func()) {
	if url == "" || !open && !srv.Screen.LiveOut {
		return func() {}
	}
	program, there := "", false
	if open {
		program, there = browser(runtime.GOOS, os.Getenv)
	}
	link, err := srv.LoginLink(ctx, url)
	path := filepath.Join(srv.Dir, "login", "open.html")
	if err == nil && there {
		err = srv.writeDoor(ctx, path, url)
	}
	if err != nil {
		srv.Screen.Line("mulligan: " + terminal.OneLine(err.Error()))
		return func() {}
	}
	return func() {
		opened := there && start(ctx, program, path)
		switch {
		case !srv.Screen.LiveOut && !opened:
			srv.Screen.Line("No browser could be opened: `" + srv.Screen.Hint("login") + "` prints a link that lets one in.")
		case srv.Screen.LiveOut && opened:
			srv.Screen.Line("The page is open in your browser. If it is not there, open " + link + " within a minute.")
		case srv.Screen.LiveOut:
			srv.Screen.Line("Open " + link + " within a minute; `" + srv.Screen.Hint("login") + "` prints another link.")
		}
	}
}

// InviteToRunning is for when the page is started a second time: it opens the page of a "serve"
// of this state folder that is already running, and reports whether there is one.
func (srv *Server) InviteToRunning(ctx context.Context) (found bool, err error) {
	list, err := ListeningNow(srv.Dir)
	for _, l := range list {
		if l.URL != "" {
			srv.Screen.Line("Mulligan is running at " + l.URL + ".")
			srv.invite(ctx, l.URL, true)()
			return true, nil
		}
	}
	return false, err
}

// start runs program on a file, and reports whether that worked. A program that is still running
// after a while is taken for the browser itself.
func start(ctx context.Context, program, path string) bool {
	const most = 10 * time.Second
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, path) //nolint:gosec // the user's own browser
	if cmd.Start() != nil {
		return false
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err == nil
	case <-time.After(most):
	case <-ctx.Done():
	}
	return true
}

// writeDoor writes a page, readable by its owner only, that redirects to a new login link. This
// keeps the link out of the program's arguments, which everybody on this machine can read.
func (srv *Server) writeDoor(ctx context.Context, path, url string) error {
	link, err := srv.LoginLink(ctx, url)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	safe := html.EscapeString(link)
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=utf-8><title>Mulligan</title><meta http-equiv=refresh content=\"0; url=%s\"><a href=\"%s\">Open Mulligan</a>\n", safe, safe)
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// browser is the program that opens a file in a browser: what $BROWSER names, else the desktop's own.
func browser(system string, env func(string) string) (program string, ok bool) {
	first, _, _ := strings.Cut(env("BROWSER"), ":")
	switch {
	case first != "" && !strings.ContainsAny(first, " %"):
		return first, true
	case system == "darwin":
		return "open", true
	case system == "linux" && (env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""):
		return "xdg-open", true
	}
	return "", false
}
