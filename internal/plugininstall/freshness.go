package plugininstall

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// freshness is what an index says about its age. A signature stays valid for ever: without this,
// whoever hands out the index could hand out an older one, and keep a fix from people.
type freshness struct {
	Serial  uint64    `json:"serial"`  // grows with every change; 0 = not said
	Expires time.Time `json:"expires"` // until when it is good; zero = not said
}

// maxSeen bounds the file in which the newest serials are kept, in bytes.
const maxSeen = 1 << 20

// fresh refuses an index that is older than one that was read before, or whose time is over, and
// remembers its serial otherwise. One that never said its age is accepted, with a warning.
func (in *Installer) fresh(at string, key ed25519.PublicKey, f freshness, now time.Time) error {
	if !strings.Contains(at, "://") {
		absolute, err := filepath.Abs(at)
		if err != nil {
			return err
		}
		at = absolute
	}
	seen, err := in.seen()
	if err != nil {
		return err
	}
	name := base64.StdEncoding.EncodeToString(key) + " " + at
	newest := seen[name]
	switch {
	case f.Serial < newest && f.Serial == 0:
		return fmt.Errorf("%s has no serial any more, and serial %d was read before: it may be an older one. Ask whoever keeps it; if the index was begun anew, remove its line from %s", at, newest, in.seenPath())
	case f.Serial < newest:
		return fmt.Errorf("%s has serial %d, and serial %d was read before: it is an older one, and may hide what was fixed since. Ask whoever keeps it; if the index was begun anew, remove its line from %s", at, f.Serial, newest, in.seenPath())
	case !f.Expires.IsZero() && !now.Before(f.Expires):
		return fmt.Errorf("%s was good until %s: a newer one may be kept from you. Ask whoever keeps it to sign it anew, and check the clock of this machine", at, f.Expires.UTC().Format(time.RFC3339))
	}
	if f.Serial == 0 || f.Expires.IsZero() {
		in.Tell("Warning: " + at + " does not say how new it is (serial, expires), so an older one could be handed out unnoticed.")
	}
	if f.Serial == newest {
		return nil
	}
	seen[name] = f.Serial
	return in.remember(seen)
}

// seenPath is the file that has the newest serial of each index that was read.
func (in *Installer) seenPath() string {
	return filepath.Join(filepath.Dir(in.Folder), "plugin-indexes.json")
}

func (in *Installer) seen() (map[string]uint64, error) {
	seen := map[string]uint64{}
	text, err := wholefile.Read(in.seenPath(), maxSeen)
	if errors.Is(err, fs.ErrNotExist) {
		return seen, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &seen)
	}
	if err != nil {
		return nil, fmt.Errorf("which indexes were read before cannot be told: %s: %w. Mend it or remove it", in.seenPath(), err)
	}
	if seen == nil {
		seen = map[string]uint64{}
	}
	return seen, nil
}

func (in *Installer) remember(seen map[string]uint64) error {
	text, err := json.MarshalIndent(seen, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(in.seenPath()), 0o700)
	}
	if err == nil {
		err = wholefile.ReplaceDurably(in.seenPath(), append(text, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("remember which index was read: %w", err)
	}
	return nil
}
