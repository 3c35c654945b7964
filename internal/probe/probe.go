package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/server"
)

// Ready says why no "mulligan serve" of the state folder could begin a run now: none listens
// there, or none of those that do is ready. It takes 3 s at the most.
func Ready(ctx context.Context, state string) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	all, err := server.ListeningNow(state)
	if err != nil {
		return err
	}
	err = fmt.Errorf("no mulligan serve of %s listens", state)
	for _, one := range all {
		if err = ask(ctx, one); err == nil {
			return nil
		}
	}
	return err
}

// ask asks one that listens on this machine.
func ask(ctx context.Context, s server.Listening) error {
	network, address := "tcp", s.Address
	if path, ok := strings.CutPrefix(s.Address, "unix:"); ok {
		network, address = "unix", path
	} else if host, port, err := net.SplitHostPort(s.Address); err == nil {
		if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
			address = net.JoinHostPort("127.0.0.1", port)
		}
	}
	url, name := "http://", address
	if s.TLS {
		url = "https://"
	}
	if network == "unix" {
		name = "localhost"
	}
	question, err := http.NewRequestWithContext(ctx, http.MethodGet, url+name+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	way := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // nothing is told it, and the certificate is of another name
	}
	defer way.CloseIdleConnections()
	answer, err := (&http.Client{Transport: way}).Do(question)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New("it is not ready: " + answer.Status)
	}
	return nil
}
