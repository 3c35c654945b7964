package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/web"
)

// reach is how the HTTP face is reached: where it listens, and by what names.
type reach struct {
	address   string // host:port or unix:/path; noFace = there is none
	usual     bool   // nobody chose it
	cert, key string // PEM files; "" = no TLS
	expose    bool
	hosts     []string
	origins   []string
}

func (r *reach) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&r.address, "listen", "127.0.0.1:8484", "serve the chat page and the HTTP API at this address, or at unix:/run/user/1000/mulligan.sock; none = not at all")
	flags.StringVar(&r.cert, "tls-cert", "", "the certificate to serve with, a PEM file with the chain to its authority")
	flags.StringVar(&r.key, "tls-key", "", "its key, a PEM file")
	flags.BoolVar(&r.expose, "expose", false, "listen without TLS where others can reach it, because a proxy or a tunnel takes care of that")
	flags.StringArrayVar(&r.hosts, "allow-host", nil, "one more name, with its port, that the gateway is reached by, such as box.example:8484 (repeatable)")
	flags.StringArrayVar(&r.origins, "allow-origin", nil, "the origin of a proxy before it, such as https://box.example (repeatable)")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
}

// noFace is the address of serve where nothing is served.
const noFace = "none"

func (r *reach) tls() bool { return r.cert != "" }

// tlsConfig has the certificate, which is read once; nil without.
func (r *reach) tlsConfig() (*tls.Config, error) {
	if !r.tls() {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(r.cert, r.key)
	if err != nil {
		return nil, usagef("--tls-cert %s, --tls-key %s: %w", r.cert, r.key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// listen listens, if the address is one that a gateway may have.
func (r *reach) listen(ctx context.Context) (net.Listener, error) {
	if err := gateway.CheckBind(r.address, r.tls(), r.expose); err != nil {
		return nil, usagef("--listen %s: %w", r.address, err)
	}
	listener, err := gateway.Listen(ctx, r.address)
	if err != nil {
		return nil, usagef("--listen %s: %w; choose another address, for example 127.0.0.1:0", r.address, err)
	}
	return listener, nil
}

// guard puts the guard before the API.
func (r *reach) guard(state string, api http.Handler, limits gateway.Limits, log *slog.Logger) (http.Handler, error) {
	token, err := gateway.OpenToken(state)
	if err != nil {
		return nil, err
	}
	logins, err := gateway.OpenLogins(state, nil)
	if err != nil {
		return nil, err
	}
	guard, err := gateway.NewGuard(gateway.GuardConfig{
		Token: token.Holds, Logins: logins, Hosts: r.hosts, Origins: r.origins, TLS: r.tls(), Limits: limits, Logger: log,
	}, api, web.Handler())
	return guard, usage(err)
}

// listening is what other processes are told about it.
func (r *reach) listening(at net.Addr) *listening {
	l := &listening{PID: os.Getpid(), Address: at.String(), TLS: r.tls(), Since: time.Now().UTC()}
	if at.Network() == "unix" {
		l.Address = "unix:" + l.Address
		return l
	}
	l.URL = "http://" + onLoopback(l.Address)
	if r.tls() {
		l.URL = "https://" + onLoopback(l.Address)
	}
	return l
}

// onLoopback is an address as this machine reaches it: one that stands for all addresses
// is no destination.
func onLoopback(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil || !net.ParseIP(host).IsUnspecified() {
		return address
	}
	if strings.Contains(host, ":") {
		return net.JoinHostPort("::1", port)
	}
	return net.JoinHostPort("127.0.0.1", port)
}
