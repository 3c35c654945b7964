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

// certificateLife is longer than a process lives: the row of its member says how long it is
// believed.
const certificateLife = 10 * 365 * 24 * time.Hour

// newCertificate makes one whose key never leaves this process, and gives its seal.
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

// sealOf is what a member's row has of its certificate.
func sealOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

var errStranger = errors.New("its certificate is not that of a member")

// shown is the seal of the certificate that the other end has.
func shown(state *tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 {
		return ""
	}
	return sealOf(state.PeerCertificates[0].Raw)
}

// asClient are the settings of a connection to the member with a seal.
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

// asServer are the settings of what listens.
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

// known are the members, as far as they were asked for.
type known struct {
	members func(context.Context) ([]timeline.Member, error)

	mu   sync.Mutex
	list []timeline.Member
	read time.Time
}

// find gives the living member that fits, from a list that is not older than a second.
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
