package labserver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/show"
)

// brokenTransports are faults below HTTP, and the folder with the certificates that
// clients must trust for them.
type brokenTransports struct {
	list []brokenTransport
	dir  string
}

type brokenTransport struct {
	faultlab.Transport
	*faultlab.Broken
	trust string // the file of its certificate; "" = none to trust
}

// breakAll starts every broken transport that this system supports and a server can play.
func (o *Order) breakAll() (*brokenTransports, error) {
	all := &brokenTransports{}
	if !o.Transports {
		return all, nil
	}
	var err error
	if all.dir, err = os.MkdirTemp("", "mulligan-faults-"); err != nil {
		return all, err
	}
	for _, t := range faultlab.Transports() {
		b, err := faultlab.Break(t.Name)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			return all, err
		}
		broken := brokenTransport{Transport: t, Broken: b}
		if b.CA != nil {
			broken.trust = filepath.Join(all.dir, t.Name+".pem")
			err = os.WriteFile(broken.trust, b.CA, 0o600)
		}
		if all.list = append(all.list, broken); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (all *brokenTransports) close() error {
	var errs []error
	for _, b := range all.list {
		errs = append(errs, b.Close())
	}
	if all.dir != "" {
		errs = append(errs, os.RemoveAll(all.dir))
	}
	return errors.Join(errs...)
}

// where says how to reach it.
func (b brokenTransport) where() []string {
	if b.Dial != nil {
		return nil // no server can play it
	}
	lines := []string{b.URL}
	if b.Resolver != "" {
		lines = append(lines, "with the name server "+b.Resolver+" (UDP)")
	}
	if b.Proxy != "" {
		lines = append(lines, "with HTTPS_PROXY="+b.Proxy)
	}
	if b.trust != "" {
		lines = append(lines, "with SSL_CERT_FILE="+b.trust+" (Node: NODE_EXTRA_CA_CERTS)")
	}
	return lines
}

// introduce lists them: a base URL for a client, and what else the client needs.
func (all *brokenTransports) introduce(s *show.Screen) {
	if len(all.list) == 0 {
		return
	}
	fmt.Fprintf(s.Out, "\n%s each of these is a base URL of its own\n", s.Ink.Bold("Below HTTP:"))
	for _, b := range all.list {
		for i, line := range b.where() {
			if i == 0 {
				fmt.Fprintf(s.Out, "  %s  %-16s  %s\n", s.Ink.Cyan(fmt.Sprintf("%-11s", b.ID)), b.Name, line)
				fmt.Fprintf(s.Out, "  %31s%s\n", "", s.Ink.Dim(b.Doc))
				continue
			}
			fmt.Fprintf(s.Out, "  %31s%s\n", "", line)
		}
	}
}
