package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/web"
)

// Reach says how the HTTP server is reached: where it listens, and under which names.
type Reach struct {
	Address   string // host:port or unix:/path; "none" = it does not listen
	Usual     bool   // the address is the default
	Open      bool   // open it in the browser of the person who starts it
	Cert, Key string // PEM files; "" = no TLS
	Expose    bool
	Hosts     []string
	Origins   []string
	Role      string // among the members that share a database; "" = RoleAll
}

// noFace is the address of a serve without an HTTP server.
const noFace = "none"

func (r *Reach) tls() bool { return r.Cert != "" }

// private reports whether nobody between the page and this process can read along.
func (r *Reach) private() bool {
	return r.Role != roleGateway && gateway.CheckBind(r.Address, r.tls(), false) == nil
}

// tlsConfig contains the certificate, which is read once; nil if there is none.
func (r *Reach) tlsConfig() (*tls.Config, error) {
	if !r.tls() {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(r.Cert, r.Key)
	if err != nil {
		return nil, exit.Usagef("--tls-cert %s, --tls-key %s: %w", r.Cert, r.Key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// listen listens at the address if gateway.CheckBind allows it.
func (r *Reach) listen(ctx context.Context) (net.Listener, error) {
	if err := gateway.CheckBind(r.Address, r.tls(), r.Expose); err != nil {
		return nil, exit.Usagef("--listen %s: %w", r.Address, err)
	}
	listener, err := gateway.Listen(ctx, r.Address)
	if r.Usual && r.Open && errors.Is(err, syscall.EADDRINUSE) {
		listener, err = gateway.Listen(ctx, "127.0.0.1:0") // nobody has to know the address
	}
	if err != nil {
		return nil, exit.Usagef("--listen %s: %w; choose another address, for example 127.0.0.1:0", r.Address, err)
	}
	return listener, nil
}

// guard puts authentication in front of the API, and returns the token that it checks.
func (srv *Server) guard(ctx context.Context, r *Reach, api http.Handler, log *slog.Logger) (http.Handler, Token, error) {
	own, err := srv.Token(ctx)
	if err != nil {
		return nil, nil, err
	}
	token := &outspoken{Token: own, log: log}
	logins, err := srv.logins(ctx)
	if err != nil {
		return nil, nil, err
	}
	guard, err := gateway.NewGuard(gateway.GuardConfig{
		Token: token.Holds, Logins: logins, Hosts: r.Hosts, Origins: r.Origins, TLS: r.tls(), Limits: srv.Config.Gateway.Limits(), Logger: log,
	}, api, web.Handler())
	return guard, token, exit.Usage(err)
}

// listening is what other processes are told.
func (r *Reach) listening(at net.Addr) *Listening {
	l := &Listening{PID: os.Getpid(), Address: at.String(), TLS: r.tls(), Since: time.Now().UTC()}
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

// onLoopback is an address as this machine reaches it. A wildcard address such as 0.0.0.0
// cannot be connected to.
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
