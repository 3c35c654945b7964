package conformance

import (
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// What a handshake line may hold, in bytes.
const (
	maxLine       = 8191
	maxSocketPath = 100
)

// handshake is what a plugin says first.
type handshake struct {
	version string
	socket  string
	server  *x509.Certificate // nil without TLS
}

// parseHandshake reads the first line of standard output, newline included.
func parseHandshake(line, sockets string, wantTLS bool) (handshake, error) {
	if len(line) > maxLine || !strings.HasSuffix(line, "\n") {
		return handshake{}, fmt.Errorf("the first line of standard output is not a line of at most %d bytes: %.200q", maxLine, line)
	}
	fields := strings.Split(strings.TrimSuffix(line, "\n"), "|")
	if len(fields) < 5 || len(fields) > 6 || fields[0] != "1" || fields[2] != "unix" || fields[4] != "grpc" {
		return handshake{}, fmt.Errorf("the handshake line is not 1|VERSION|unix|PATH|grpc|CERTIFICATE: %.200q", line)
	}
	h := handshake{version: fields[1], socket: fields[3]}
	if filepath.Dir(h.socket) != sockets || len(h.socket) > maxSocketPath {
		return h, fmt.Errorf("the socket %q is not in %s, or its path has more than %d bytes", h.socket, sockets, maxSocketPath)
	}
	var certificate string
	if len(fields) == 6 {
		certificate = fields[5]
	}
	switch {
	case !wantTLS && certificate != "":
		return h, errors.New("a server certificate, though PLUGIN_CLIENT_CERT is not set")
	case !wantTLS:
		return h, nil
	case certificate == "":
		return h, errors.New("no server certificate in the handshake line")
	}
	der, err := base64.RawStdEncoding.Strict().DecodeString(certificate)
	if err != nil {
		return h, fmt.Errorf("the server certificate is not base64 without padding: %w", err)
	}
	h.server, err = x509.ParseCertificate(der)
	return h, err
}
