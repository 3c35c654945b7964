package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	grpccredentials "google.golang.org/grpc/credentials"

	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// policy starts a plugin that is a service for the host fleet.test, with a throwaway
// authority and clients' certificates demanded; all certificates end after DAYS. It
// writes ca.pem, me.pem and me-key.pem, and its entry in a config as the file fleet.
func policy(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: policy DAYS")
	}
	days, err := strconv.Atoi(args[0])
	ts.Check(err)
	pair, files, err := throwaway("fleet.test", time.Now().AddDate(0, 0, days).Add(time.Minute))
	ts.Check(err)
	for name, text := range files {
		ts.Check(os.WriteFile(ts.MkAbs(name), text, 0o600))
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(files["ca.pem"])
	demanding := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	ts.Check(err)
	server := plugin.NewService(plugin.Func(func(context.Context, plugin.Event) (plugin.Decision, error) {
		return plugin.Fail("the fleet says no"), nil
	}), []grpc.ServerOption{grpc.Creds(grpccredentials.NewTLS(demanding))}, plugin.WithVersion("7.0"))
	go func() { _ = server.Serve(listener) }()
	ts.Defer(server.Stop)
	entry := fmt.Sprintf("plugins:\n  - name: fleet\n    address: grpcs://%s\n    tls: {ca: ca.pem, cert: me.pem, key: me-key.pem, server_name: fleet.test}\n", listener.Addr())
	ts.Check(os.WriteFile(ts.MkAbs("fleet"), []byte(entry), 0o600))
}

// throwaway makes one certificate that is its own authority, for a server and a client.
func throwaway(name string, ends time.Time) (pair tls.Certificate, files map[string][]byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: ends,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return pair, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair, nil, err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	files = map[string][]byte{"ca.pem": cert, "me.pem": cert, "me-key.pem": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})}
	pair, err = tls.X509KeyPair(cert, files["me-key.pem"])
	return pair, files, err
}
