package plugininstall

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/near"
	"github.com/mulligan-run/mulligan/internal/wholefile"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
)

// Listed is a plugin in an index.
type Listed struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Language    string `json:"language,omitempty"`
	Source      string `json:"source,omitempty"` // as "plugin install" accepts it; "" = not in any registry
	Page        string `json:"page,omitempty"`   // where people read about it
}

// Limits on an index.
const (
	indexVersion   = 1
	maxIndex       = 4 << 20 // bytes
	maxListed      = 10_000
	maxDescription = 500 // bytes
	maxPage        = 500 // bytes
	maxSignature   = 1 << 10
	signatureEnd   = ".sig"
)

// ParseIndex reads an index. It is text from others, so everything in it is bounded, and no source may
// be a folder on this machine.
func ParseIndex(text []byte) ([]Listed, error) {
	list, _, err := parseIndex(text)
	return list, err
}

func parseIndex(text []byte) ([]Listed, freshness, error) {
	var index struct {
		Version int      `json:"version"`
		Plugins []Listed `json:"plugins"`
		freshness
	}
	if len(text) > maxIndex {
		return nil, freshness{}, fmt.Errorf("the index has more than %d bytes", maxIndex)
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, freshness{}, fmt.Errorf("the index: %w", err)
	}
	if index.Version != indexVersion {
		return nil, freshness{}, fmt.Errorf("the index has version %d, and this program reads %d", index.Version, indexVersion)
	}
	if len(index.Plugins) > maxListed {
		return nil, freshness{}, fmt.Errorf("the index has more than %d plugins", maxListed)
	}
	for _, l := range index.Plugins {
		if err := l.check(); err != nil {
			return nil, freshness{}, fmt.Errorf("the index, plugin %.70q: %w", l.Name, err)
		}
	}
	return index.Plugins, index.freshness, nil
}

func (l Listed) check() error {
	switch {
	case !yamlfile.EntryName.MatchString(l.Name):
		return errors.New("it is not the name of a plugin")
	case len(l.Description) > maxDescription || len(l.Page) > maxPage || len(l.Language) > len("typescript"):
		return errors.New("its description, its page or its language is too long")
	case l.Page != "" && !strings.HasPrefix(l.Page, "https://"):
		return errors.New("its page does not begin with https://")
	case l.Source == "":
		return nil
	}
	s, err := ParseSource(l.Source)
	if err == nil && s.Kind == KindFolder {
		err = errors.New("its source is a folder of this machine")
	}
	return err
}

// ReadIndex reads an index at a path or an https:// address. Its signature, which key verifies, has
// the same name with .sig.
func (in *Installer) ReadIndex(ctx context.Context, at string, key ed25519.PublicKey) ([]Listed, error) {
	if key == nil {
		return nil, exit.Usagef("an index of somebody else's needs the key that it is signed with: plugin_index: {key: …} in mulligan.yaml")
	}
	text, err := in.readSmall(ctx, at, maxIndex)
	if err != nil {
		return nil, err
	}
	signature, err := in.readSmall(ctx, at+signatureEnd, maxSignature)
	if err != nil {
		return nil, fmt.Errorf("the signature of the index: %w", err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(signature)), ""))
	if err != nil || len(raw) != ed25519.SignatureSize {
		return nil, fmt.Errorf("%s%s is not a signature, which is 64 bytes in base64", at, signatureEnd)
	}
	if !ed25519.Verify(key, text, raw) {
		return nil, fmt.Errorf("%s is not signed by the key in mulligan.yaml, or was changed: nothing in it is believed", at)
	}
	list, age, err := parseIndex(text)
	if err != nil {
		return nil, err
	}
	if err := in.fresh(at, key, age, time.Now()); err != nil {
		return nil, err
	}
	return list, nil
}

func (in *Installer) readSmall(ctx context.Context, at string, most int) ([]byte, error) {
	if !strings.Contains(at, "://") {
		return wholefile.Read(at, most)
	}
	if s, err := ParseSource(at); err != nil || s.Kind != KindArchive || s.SHA256 != "" {
		return nil, errors.Join(err, exit.Usagef("an index is a file, or an address that begins with https://"))
	}
	file, _, err := in.download(ctx, at)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(file, 0, int64(most)+1))
	if err == nil && len(text) > most {
		err = fmt.Errorf("%s has more than %d bytes", at, most)
	}
	return text, err
}

// Search returns the plugins that contain every word, ignoring case, in the order of the
// index.
func Search(list []Listed, words []string) []Listed {
	return slices.DeleteFunc(slices.Clone(list), func(l Listed) bool {
		text := strings.ToLower(strings.Join([]string{l.Name, l.Description, l.Language, l.Source}, " "))
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) })
	})
}

// lookAlike is a listed package with almost the same name as this one, "" if there is none: the oldest
// trick is a name with one letter wrong.
func lookAlike(list []Listed, s Source) string {
	for _, l := range list {
		known, err := ParseSource(l.Source)
		if err != nil || known.Kind != s.Kind || s.Kind == KindArchive {
			continue
		}
		if known.Name != s.Name && near.Distance(plainName(known.Name), plainName(s.Name)) <= len(s.Name)/8+1 {
			return known.String()
		}
	}
	return ""
}

// plainName is a name without differences that registries ignore and eyes miss.
func plainName(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}
