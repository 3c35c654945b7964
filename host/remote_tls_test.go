package host

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/mulligan-run/mulligan/recovery"
)

// testAuthority is a throwaway one.
type testAuthority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	ends time.Time // of what it signs
}

func newAuthority(t *testing.T, name string) *testAuthority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &testAuthority{cert: cert, key: key, ends: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
}

// pair signs a certificate for a name.
func (a *testAuthority) pair(t *testing.T, name string, ends time.Time) (cert, key []byte) {
	t.Helper()
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: ends, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, own.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
}

// server demands clients of this authority.
func (a *testAuthority) server(t *testing.T, name string) *tls.Config {
	t.Helper()
	return a.serverUntil(t, name, a.ends)
}

func (a *testAuthority) serverUntil(t *testing.T, name string, ends time.Time) *tls.Config {
	t.Helper()
	pair, err := tls.X509KeyPair(a.pair(t, name, ends))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
}

// files are those of a client of this authority.
func (a *testAuthority) files(t *testing.T) *RemoteTLS {
	t.Helper()
	dir := t.TempDir()
	f := &RemoteTLS{CA: filepath.Join(dir, "ca.pem"), Cert: filepath.Join(dir, "me.pem"), Key: filepath.Join(dir, "me-key.pem")}
	a.write(t, f, a.ends)
	return f
}

func (a *testAuthority) write(t *testing.T, f *RemoteTLS, ends time.Time) {
	t.Helper()
	cert, key := a.pair(t, "a host", ends)
	for path, text := range map[string][]byte{f.CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), f.Cert: cert, f.Key: key} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestServicesThatAreNotTrusted(t *testing.T) {
	ours, other := newAuthority(t, "fleet CA"), newAuthority(t, "another CA")
	past := time.Now().Add(-time.Hour)
	for name, c := range map[string]struct {
		server func(*testing.T) *tls.Config // nil = without TLS
		client func(*testing.T, *RemoteTLS)
		want   string // "" = any error: what a server says at its end may be lost
	}{
		"wrong authority":         {server: func(t *testing.T) *tls.Config { return other.server(t, "localhost") }, want: "unknown authority"},
		"the system's roots":      {client: func(_ *testing.T, f *RemoteTLS) { f.CA = "" }, want: "unknown authority"},
		"no client certificate":   {client: func(_ *testing.T, f *RemoteTLS) { f.Cert, f.Key = "", "" }},
		"another's certificate":   {client: func(t *testing.T, f *RemoteTLS) { o := other.files(t); f.Cert, f.Key = o.Cert, o.Key }},
		"expired":                 {server: func(t *testing.T) *tls.Config { return ours.serverUntil(t, "localhost", past) }, want: "has expired"},
		"our own expired":         {client: func(t *testing.T, f *RemoteTLS) { ours.write(t, f, past) }, want: "me.pem ended at"},
		"another name":            {server: func(t *testing.T) *tls.Config { return ours.server(t, "elsewhere.test") }, want: "elsewhere.test"},
		"another name wanted":     {client: func(_ *testing.T, f *RemoteTLS) { f.ServerName = "wanted.test" }, want: "wanted.test"},
		"no TLS":                  {server: func(*testing.T) *tls.Config { return nil }},
		"TLS 1.1":                 {server: func(t *testing.T) *tls.Config { return old(ours.server(t, "localhost")) }, want: "protocol version"},
		"no authority file":       {client: func(_ *testing.T, f *RemoteTLS) { f.CA += ".gone" }, want: "no such file"},
		"an empty authority file": {client: func(_ *testing.T, f *RemoteTLS) { f.CA = f.Key }, want: "holds no certificate"},
		"a key of another":        {client: func(t *testing.T, f *RemoteTLS) { f.Key = other.files(t).Key }, want: "are not a certificate and its key"},
		"a file that is none":     {client: func(_ *testing.T, f *RemoteTLS) { f.Key = filepath.Dir(f.Key) }, want: "not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := ours.server(t, "localhost")
			if c.server != nil {
				config = c.server(t)
			}
			var options []grpc.ServerOption
			if config != nil {
				options = append(options, grpc.Creds(credentials.NewTLS(config)))
			}
			s := &service{}
			_, at := s.serve(t, "tcp", "127.0.0.1:0", options...)
			spec := quick("grpcs://" + strings.Replace(at, "127.0.0.1", "localhost", 1))
			spec.TLS = ours.files(t)
			if c.client != nil {
				c.client(t, spec.TLS)
			}
			h := remoteHost(t, spec)
			vote, took := ask(t, h)
			if vote.Error == "" || !strings.Contains(vote.Error, c.want) || took > spec.Deadline+busy {
				t.Errorf("%+v after %v", vote, took)
			}
			if s.calls.Load() != 0 {
				t.Error("it was asked")
			}
			noKey(t, spec.TLS.Key, vote.Error+h.Statuses()[0].LastError)
		})
	}
}

// old takes nothing newer than TLS 1.1.
func old(config *tls.Config) *tls.Config {
	config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	return config
}

// noKey fails if the text has a piece of the key.
func noKey(t *testing.T, path, text string) {
	t.Helper()
	source, _ := os.ReadFile(path)
	if block, _ := pem.Decode(source); block != nil {
		key := base64.StdEncoding.EncodeToString(block.Bytes)
		for i := 0; i+12 <= len(key); i += 12 {
			if strings.Contains(text, key[i:i+12]) {
				t.Errorf("a key in %s", text)
			}
		}
	}
}

// New files hold from the next connection on.
func TestCertificatesAreReadAnew(t *testing.T) {
	before, after := newAuthority(t, "CA of before"), newAuthority(t, "CA of after")
	s := &service{}
	server, at := s.serve(t, "tcp", "127.0.0.1:0", grpc.Creds(credentials.NewTLS(before.server(t, "localhost"))))
	spec := quick("grpcs://" + at)
	spec.TLS = before.files(t)
	spec.TLS.ServerName = "localhost"
	h := remoteHost(t, spec)
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Fatalf("%+v", vote)
	}
	server.Stop()
	waitFor(t, "the news", func() bool { return h.Statuses()[0].State == StateBackoff })
	s.serve(t, "tcp", at, grpc.Creds(credentials.NewTLS(after.server(t, "localhost"))))
	if vote, _ := ask(t, h); !strings.Contains(vote.Error, "unknown authority") {
		t.Errorf("%+v", vote)
	}
	after.write(t, spec.TLS, after.ends)
	if vote, _ := ask(t, h); vote.Action != recovery.ActionRetry {
		t.Errorf("%+v", vote)
	}
}
