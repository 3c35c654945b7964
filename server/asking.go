package server

import (
	"context"
	"html"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
)

// asks notifies people that a call waits for their answer: in the log and, if there is a
// desktop and the configuration allows it, there, too. It reveals nothing that was said.
func (srv *Server) asks(log *slog.Logger) func(run string, s recovery.Suggestion) {
	return func(run string, s recovery.Suggestion) {
		where := srv.where("recover", run)
		log.Info("a call waits for an answer", "run", run, "why", s.Title, "answer", where)
		if !srv.Config.Proxy.Notifies() {
			return
		}
		go func() {
			if err := notify("A call waits for your answer", s.Title+"\n"+where); err != nil {
				log.Debug("no desktop was told", "err", err)
			}
		}()
	}
}

// where says where people find a run: on the page of a gateway that serves the same store, or else
// with the command of that name.
func (srv *Server) where(command, run string) string {
	list, err := ListeningNow(srv.Dir)
	if err != nil {
		list = nil
	}
	for _, l := range list {
		if l.URL != "" {
			return l.URL + "/#/r/" + run
		}
	}
	return srv.Screen.Hint(command + " " + run)
}

// notify shows a line on this machine's desktop, using the system's own program. Without one
// it does nothing.
func notify(title, text string) error {
	name, args := notifier(runtime.GOOS, os.Getenv, terminal.OneLine(title), terminal.Printable(text, true))
	if name == "" {
		return nil
	}
	const most = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), most)
	defer cancel()
	return exec.CommandContext(ctx, name, args...).Run()
}

// notifier returns that program and its arguments; the text cannot become a command.
func notifier(system string, env func(string) string, title, text string) (name string, args []string) {
	switch {
	case system == "darwin":
		return "osascript", []string{
			"-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run", title, text,
		}
	case system == "linux" && (env("DISPLAY") != "" || env("WAYLAND_DISPLAY") != ""):
		return "notify-send", []string{"--app-name=Mulligan", "--", title, html.EscapeString(text)} // it interprets markup
	}
	return "", nil
}
