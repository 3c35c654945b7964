package host

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/internal/protoconv"
)

// quoted is how much is quoted of a first line that is not a handshake, in bytes.
const quoted = 200

var errUncertified = errors.New("the plugin did not return a certificate: its SDK is too old, or TLS is off in it")

// checkHandshake checks the first line of a plugin's standard output, newline
// included, before go-plugin sees it; sockets is the folder where the plugin's socket
// must be. It returns the line to hand to go-plugin.
func checkHandshake(line, sockets string, withTLS bool) (string, error) {
	text := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	fields := strings.Split(text, "|")
	switch {
	case line == "":
		return "", errors.New("the plugin wrote no handshake line")
	case text == line || len(fields) < 4:
		return "", fmt.Errorf("the first line on standard output is not a handshake: %s", quote(text))
	case fields[0] != "1":
		return "", fmt.Errorf("the plugin speaks version %s of go-plugin's core protocol, this host version 1", quote(fields[0]))
	case fields[1] != strconv.Itoa(protoconv.ProtocolVersion):
		return "", fmt.Errorf("the plugin speaks version %s of the plugin service, this host version %d", quote(fields[1]), protoconv.ProtocolVersion)
	case len(fields) < 5 || fields[4] != "grpc":
		return "", fmt.Errorf("the plugin does not speak gRPC: %s", quote(text))
	}
	if err := checkSocket(fields[2], fields[3], sockets); err != nil {
		return "", err
	}
	fields = append(fields, "")[:6]
	if err := checkCertificate(fields[5], withTLS); err != nil {
		return "", err
	}
	return strings.Join(fields, "|"), nil
}

// checkSocket refuses every address but a socket in the plugin's own folder.
func checkSocket(network, address, sockets string) error {
	switch {
	case network != "unix":
		return fmt.Errorf("the plugin listens on %s %s: only unix sockets are allowed", quote(network), quote(address))
	case filepath.Dir(address) != sockets || filepath.Clean(address) != address:
		return fmt.Errorf("the plugin's socket %s is not in its folder %s", quote(address), sockets)
	case len(address) > maxSocketPath:
		return fmt.Errorf("the path of the plugin's socket has %d bytes, at most %d", len(address), maxSocketPath)
	}
	return nil
}

// checkCertificate checks field 6. go-plugin treats a short one as no certificate.
func checkCertificate(field string, withTLS bool) error {
	given := len(field) > 50
	switch {
	case withTLS && !given:
		return errUncertified
	case !withTLS && given:
		return errors.New("the plugin uses TLS, which is off for it")
	case !given:
		return nil
	}
	if _, err := base64.RawStdEncoding.DecodeString(field); err != nil {
		return errors.New("the plugin's certificate is not base64 without padding")
	}
	return nil
}

func quote(s string) string { return `"` + printable(s, quoted-2) + `"` }
