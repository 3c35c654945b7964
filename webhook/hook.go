package webhook

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/netguard"
)

// Hook is a receiver.
type Hook struct {
	URL    string   // https; http only with AllowPrivate and to private addresses
	Secret string   // messages are signed with it: whsec_ and base64, or at least 24 bytes as they are
	Events []string // some of suggested, waiting, noted, ended; nil = all
	// AllowPrivate allows a receiver on this machine or in its network.
	AllowPrivate bool
}

// types are the types of events that are reported.
var types = []string{"suggested", "waiting", "noted", "ended"}

// minSecret is the length of the shortest secret, in bytes.
const minSecret = 24

// Check says what is wrong with a hook, as far as that can be seen without asking it. The error
// repeats neither its secret nor its URL, which may contain one.
func (h Hook) Check() error {
	u, err := url.Parse(h.URL)
	switch {
	case err != nil || u.Host == "":
		return errors.New("url: it is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return errors.New("url: it must begin with https://")
	case u.User != nil || u.Fragment != "":
		return errors.New("url: it must hold no user and no fragment")
	case u.Scheme == "http" && !h.AllowPrivate:
		return errors.New("url: http is for private addresses, which need allow_private: true; else use https")
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		if why := h.guard(u).Refuse(addr); why != "" {
			return fmt.Errorf("url: %s; allow_private: true allows private ones", why)
		}
	}
	for _, name := range h.Events {
		if !slices.Contains(types, name) {
			return fmt.Errorf("events: %q is not known; there are: %s", name, strings.Join(types, ", "))
		}
	}
	return nil
}

func (h Hook) guard(u *url.URL) netguard.Guard {
	return netguard.Guard{Plain: u.Scheme == "http", AllowPrivate: h.AllowPrivate}
}

// key is the key that messages are signed with.
func (h Hook) key() ([]byte, error) {
	key := []byte(h.Secret)
	if text, ok := strings.CutPrefix(h.Secret, "whsec_"); ok {
		var err error
		if key, err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, errors.New("the secret is not base64 after whsec_")
		}
	}
	if len(key) < minSecret {
		return nil, fmt.Errorf("the secret has %d bytes, and needs %d: make one with `openssl rand -base64 32`", len(key), minSecret)
	}
	return key, nil
}

// tells reports whether a hook wants events of a type.
func (h Hook) tells(name string) bool {
	if h.Events == nil {
		return slices.Contains(types, name)
	}
	return slices.Contains(h.Events, name)
}
