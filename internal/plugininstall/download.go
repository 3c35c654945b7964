package plugininstall

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/mulligan-run/mulligan/internal/netguard"
)

// Limits on a download.
const (
	maxArchive   = 256 << 20 // bytes
	downloadFor  = 10 * time.Minute
	dialFor      = 30 * time.Second
	answerFor    = time.Minute // until its headers have arrived
	maxHeader    = 1 << 20     // bytes
	maxRedirects = 5           // to the same host
)

// fromArchive downloads and unpacks a packed folder. Nothing in it runs.
func (in *Installer) fromArchive(ctx context.Context, p *Package) error {
	in.Tell("Fetching " + p.Source.Name + " …")
	archive, sum, err := in.download(ctx, p.Source.Name)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	if p.Source.SHA256 != "" && p.Source.SHA256 != sum {
		return fmt.Errorf("what %s gives has the SHA-256 %s, not %s: it is not what you know", p.Source.Name, sum, p.Source.SHA256)
	}
	p.Checksum = "sha256 " + sum
	if err := unpack(ctx, archive, p.Folder, bounds{maxFiles, maxBytes}); err != nil {
		return fmt.Errorf("unpack %s: %w", p.Source.Name, err)
	}
	return p.byManifest()
}

// download returns a file without a name, and the SHA-256 of its content.
func (in *Installer) download(ctx context.Context, from string) (file *os.File, sum string, err error) {
	ctx, cancel := context.WithTimeout(ctx, downloadFor)
	defer cancel()
	at, err := url.Parse(from)
	if err != nil {
		return nil, "", err
	}
	client := in.client(at)
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s answers %s", from, response.Status)
	}
	return keep(response.Body)
}

// keep writes what is read to a file that disappears when it is closed.
func keep(body io.Reader) (file *os.File, sum string, err error) {
	if file, err = os.CreateTemp("", "mulligan-plugin-"); err != nil {
		return nil, "", err
	}
	err = os.Remove(file.Name())
	digest := sha256.New()
	n, copyErr := io.Copy(io.MultiWriter(file, digest), io.LimitReader(body, maxArchive+1))
	if err = errors.Join(err, copyErr); err == nil && n > maxArchive {
		err = fmt.Errorf("it has more than %d bytes", maxArchive)
	}
	if err != nil {
		return nil, "", errors.Join(err, file.Close())
	}
	return file, hex.EncodeToString(digest.Sum(nil)), nil
}

// client connects only to that host, by https, and to private addresses only if they
// are allowed.
func (in *Installer) client(at *url.URL) *http.Client {
	guard := netguard.Guard{Loopback: isLoopback(at.Hostname()), AllowPrivate: in.AllowPrivate}
	dialer := &net.Dialer{Timeout: dialFor, Control: guard.Control}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, TLSHandshakeTimeout: dialFor, ResponseHeaderTimeout: answerFor, MaxResponseHeaderBytes: maxHeader,
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: in.roots}, DisableCompression: true, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			switch {
			case next.URL.Scheme != "https" || next.URL.Host != at.Host:
				return fmt.Errorf("it redirects to %s://%s: name that address yourself, if you trust it", next.URL.Scheme, next.URL.Host)
			case len(before) > maxRedirects:
				return fmt.Errorf("it redirects more than %d times", maxRedirects)
			}
			return nil
		},
	}
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}
