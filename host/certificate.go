package host

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// newIdentity makes a certificate authority for one start of one plugin and a client
// certificate signed by it; the authority's key is discarded. It uses P-256 and a leaf
// that is not an authority, because other TLS stacks reject what go-plugin's AutoMTLS
// makes.
func newIdentity() (authorityPEM string, client *tls.Config, err error) {
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ephemeral plugin host CA"},
		NotBefore: now.Add(-time.Minute), NotAfter: now.AddDate(30, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", nil, err
	}
	authorityDER, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return "", nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", nil, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, authority, leafKey.Public(), authorityKey)
	if err != nil {
		return "", nil, err
	}
	authorityPEM = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authorityDER}))
	return authorityPEM, &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{leafDER}, PrivateKey: leafKey}},
		ServerName:   "localhost", MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert,
	}, nil
}
