package config

import (
	"crypto/ed25519"
	"encoding/base64"
	"net/url"

	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// PluginIndex is a list of plugins that somebody else keeps, and the key that verifies it.
type PluginIndex struct {
	URL string `yaml:"url"` // https; "" = only what --index names
	Key string `yaml:"key"` // the ed25519 public key that it is signed with: its 32 bytes in base64
}

// PublicKey is the key that the index is signed with, nil if none is configured.
func (p *PluginIndex) PublicKey() ed25519.PublicKey {
	if p == nil {
		return nil
	}
	key, err := base64.StdEncoding.DecodeString(p.Key)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil
	}
	return key
}

func (p *PluginIndex) problem() *yamlfile.Problem {
	if p == nil {
		return nil
	}
	if p.PublicKey() == nil {
		return yamlfile.Problemf("$.plugin_index", "key must be an ed25519 public key, its 32 bytes in base64: without one, anybody's list would do")
	}
	if p.URL == "" {
		return nil
	}
	if at, err := url.Parse(p.URL); err != nil || at.Scheme != "https" || at.Host == "" || at.User != nil {
		return yamlfile.Problemf("$.plugin_index.url", "it begins with https:// and a host, and has no password")
	}
	return nil
}
