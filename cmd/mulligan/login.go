package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/server"
)

func newLogin() *cobra.Command {
	var (
		f      common
		at     string
		rotate bool
	)
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Print a link that signs a browser in to mulligan serve",
		Long: "Print a link that logs one browser in, once, within a minute. The browser stays logged in for 7 days,\n" +
			"until it logs out, or until the token is replaced.\n\n" +
			"Programs use the token itself: it is in the file token of the state folder, which you alone can read,\n" +
			"and is sent as Authorization: Bearer. --rotate replaces it: within a second the old one is refused, and\n" +
			"every browser is logged out.",
		Example: `mulligan login
mulligan login --rotate                      # after somebody saw the token
mulligan login --url https://box.example     # through a proxy or a tunnel`,
		Args: cobra.NoArgs,
		RunE: f.loaded(func(cmd *cobra.Command, a *app, _ []string) error { return a.login(cmd.Context(), at, rotate) }),
	}
	f.register(cmd)
	cmd.Flags().StringVar(&at, "url", "", "the gateway's address as the browser sees it, if that is different")
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the token first")
	return cmd
}

func (a *app) login(ctx context.Context, at string, rotate bool) error {
	if rotate {
		if err := a.RotateToken(ctx); err != nil {
			return err
		}
		a.Screen.Line("The token is replaced; what used the old one is locked out.")
	}
	at, err := a.browserURL(at)
	if err != nil {
		return err
	}
	link, err := a.LoginLink(ctx, at)
	if err != nil {
		return err
	}
	a.Screen.Line("This link works once, within a minute:")
	fmt.Fprintln(a.Screen.Out, link)
	return nil
}

// browserURL is where a browser finds the gateway that was started last.
func (a *app) browserURL(at string) (string, error) {
	if at != "" {
		if !strings.HasPrefix(at, "http://") && !strings.HasPrefix(at, "https://") {
			return "", exit.Usagef("--url %s: it begins with http:// or https://", at)
		}
		return strings.TrimSuffix(at, "/"), nil
	}
	list, err := server.ListeningNow(a.Dir)
	if err != nil {
		return "", err
	}
	for _, s := range list {
		if s.URL != "" {
			return s.URL, nil
		}
	}
	if len(list) > 0 {
		return "", fmt.Errorf("the gateway listens on a unix socket, which no browser reaches: say --url, or start another with `%s`", a.Screen.Hint("serve"))
	}
	return "", fmt.Errorf("no gateway serves %s: start one with `%s`", a.Dir, a.Screen.Hint("serve"))
}
