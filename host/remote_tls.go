package host

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// maxPEM is how much of a file with certificates or a key is read, in bytes.
const maxPEM = 1 << 20

// certificates are when a connection's certificates expire; zero if there are none.
type certificates struct {
	server time.Time
	client time.Time
}

// credentials reads the files on each connect, because they may have been replaced.
func (r *remote) credentials(a address, files *RemoteTLS) (credentials.TransportCredentials, error) {
	if !a.secure {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, VerifyConnection: func(s tls.ConnectionState) error {
		r.certificates.server = trustedUntil(s.VerifiedChains)
		return nil
	}}
	if files == nil {
		return credentials.NewTLS(config), nil
	}
	config.ServerName = files.ServerName
	if files.CA != "" {
		roots, err := readRoots(files.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = roots
	}
	if files.Cert != "" {
		pair, err := readPair(files.Cert, files.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
		r.certificates.client = pair.Leaf.NotAfter
	}
	return credentials.NewTLS(config), nil
}

func readRoots(path string) (*x509.CertPool, error) {
	text, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", path)
	}
	return roots, nil
}

// readPair hides the errors of the key's parser, which may quote the key.
func readPair(certFile, keyFile string) (pair tls.Certificate, err error) {
	cert, err := readPEM(certFile)
	if err != nil {
		return pair, err
	}
	key, err := readPEM(keyFile)
	if err != nil {
		return pair, err
	}
	pair, err = tls.X509KeyPair(cert, key)
	if err != nil || pair.Leaf == nil {
		return pair, fmt.Errorf("%s and %s are not a certificate and its key, in PEM and without a passphrase", certFile, keyFile)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) {
		return pair, fmt.Errorf("the client certificate %s ended at %s", certFile, pair.Leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return pair, nil
}

// readPEM refuses a pipe, which would block until somebody writes to it.
func readPEM(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return wholefile.Read(path, maxPEM)
}

// trustedUntil is when the last of the chains expires; a chain expires with its first
// certificate.
func trustedUntil(chains [][]*x509.Certificate) (until time.Time) {
	for _, chain := range chains {
		first := slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if first.NotAfter.After(until) {
			until = first.NotAfter
		}
	}
	return until
}
