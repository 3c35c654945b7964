package peers

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"math/big"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

// certificateLife is longer than a process lives: how long the certificate is trusted depends on
// its member's row.
const certificateLife = 10 * 365 * 24 * time.Hour

// newCertificate makes a certificate, the key of which never leaves this process, and gives its
// seal.
func newCertificate() (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	now := time.Now()
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-certificateLife), NotAfter: now.Add(certificateLife)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, "", err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, sealOf(der), nil
}

// sealOf is the digest of a certificate, as a member's row holds it.
func sealOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

var errStranger = errors.New("its certificate is not that of a member")

// shown is the seal of the certificate at the other end.
func shown(state *tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 {
		return ""
	}
	return sealOf(state.PeerCertificates[0].Raw)
}

// asClient is the TLS configuration of a connection to the member with that seal.
func (p *Peers) asClient(seal string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{p.certificate},
		InsecureSkipVerify: true, //nolint:gosec // instead of a name it is known by its digest
		VerifyConnection: func(state tls.ConnectionState) error {
			if subtle.ConstantTimeCompare([]byte(shown(&state)), []byte(seal)) != 1 {
				return errStranger
			}
			return nil
		},
	}
}

// asServer is the TLS configuration of the listener.
func (p *Peers) asServer() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{p.certificate}, ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(state tls.ConnectionState) error {
			ctx, cancel := context.WithTimeout(p.ctx, patience)
			defer cancel()
			if _, ok := p.known.find(ctx, func(m timeline.Member) bool { return m.Seal != "" && m.Seal == shown(&state) }); !ok {
				return errStranger
			}
			return nil
		},
	}
}

// known is the list of the members as it was last read.
type known struct {
	members func(context.Context) ([]timeline.Member, error)

	mu   sync.Mutex
	list []timeline.Member
	read time.Time
}

// find gives the living member that fits, from a list that is at most a second old.
func (k *known) find(ctx context.Context, fits func(timeline.Member) bool) (timeline.Member, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.read) > fresh {
		list, err := k.members(ctx)
		if err != nil {
			return timeline.Member{}, false
		}
		k.list, k.read = list, time.Now()
	}
	for _, m := range k.list {
		if !m.Gone && fits(m) {
			return m, true
		}
	}
	return timeline.Member{}, false
}
