package faultlab

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"time"
)

// certFault is what is wrong with a certificate.
type certFault int

const (
	certGood certFault = iota
	certUnknown
	certWrongHost
	certExpired
)

// breakTLS does a TLS handshake with a bad certificate. A client that accepts it gets no further.
func breakTLS(fault certFault) func(*Broken) error {
	return func(b *Broken) error {
		return b.serveTLS(fault, nil, func(c *tls.Conn) { _ = c.HandshakeContext(context.Background()) })
	}
}

// serveTLS is serve after a TLS handshake, on localhost: certificates are mostly for names.
func (b *Broken) serveTLS(fault certFault, protocols []string, handle func(*tls.Conn)) error {
	cert, ca, err := throwaway(fault)
	if err != nil {
		return err
	}
	if fault != certUnknown {
		b.CA = ca
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: protocols, MinVersion: tls.VersionTLS12}
	err = b.serve("https", func(c net.Conn) {
		secure := tls.Server(c, config)
		handle(secure)
		_ = secure.CloseWrite()
	})
	b.URL = strings.Replace(b.URL, "127.0.0.1", "localhost", 1)
	return err
}

// throwaway makes an authority and its certificate for localhost, which is valid except for the
// fault.
func throwaway(fault certFault) (tls.Certificate, []byte, error) {
	now := time.Now()
	parent := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "faultlab"},
		NotBefore: now.Add(-10 * 24 * time.Hour), NotAfter: now.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "faultlab server"},
		NotBefore: now.Add(-9 * 24 * time.Hour), NotAfter: now.Add(24 * time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	switch fault {
	case certWrongHost:
		leaf.DNSNames, leaf.IPAddresses = []string{"example.com"}, nil
	case certExpired:
		leaf.NotAfter = now.Add(-24 * time.Hour)
	}
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	root, err := x509.CreateCertificate(rand.Reader, parent, parent, authority.Public(), authority)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, parent, key.Public(), authority)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, ca, err
}
