package pi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mulligan-run/mulligan/internal/wholefile"
)

// What Pi finds in its private folder.
const (
	settingsFile  = "settings.json"
	modelsFile    = "models.json"
	authFile      = "auth.json"
	extensionFile = "going_on.js"
	observeFile   = "observe.js"
	limitFile     = "limit.js"
	sessionsDir   = "mulligan-sessions"

	maxPersonFile = 4 << 20 // bytes of a file of the person's own Pi
)

var (
	//go:embed going_on.js
	extension string
	//go:embed observe.js
	observeExtension []byte
	//go:embed limit.js
	limitExtension []byte
)

// folder is a private PI_CODING_AGENT_DIR.
type folder struct {
	path    string
	from    string // the folder of the person's own Pi; "" = none
	retries Retries
}

// prepare writes what Pi needs. Pi may have changed its settings since the last time.
func (f folder) prepare() error {
	if f.path == "" {
		return errors.New("none is configured")
	}
	if err := os.MkdirAll(filepath.Join(f.path, sessionsDir), 0o700); err != nil {
		return err
	}
	settings, err := json.Marshal(f.retries.settings())
	if err != nil {
		return err
	}
	goOnJS, err := json.Marshal(goOn)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		settingsFile:  settings,
		extensionFile: []byte(strings.Replace(extension, `"GO_ON"`, string(goOnJS), 1)),
		observeFile:   observeExtension,
		limitFile:     limitExtension,
	} {
		if err := write(filepath.Join(f.path, name), content); err != nil {
			return err
		}
	}
	if f.from == "" {
		return nil
	}
	for _, name := range []string{authFile, modelsFile} {
		if err := f.copy(name); err != nil {
			return fmt.Errorf("copy Pi's %s: %w", name, err)
		}
	}
	return nil
}

// settings are Pi's settings. Its client libraries never retry; a base delay of 8 s leaves time to
// ask for advice while Pi sleeps.
func (r Retries) settings() map[string]any {
	retry := map[string]any{"enabled": r == RetriesPi, "provider": map[string]any{"maxRetries": 0}}
	if r == RetriesPi {
		retry["maxRetries"], retry["baseDelayMs"] = 3, 8000
	}
	return map[string]any{"retry": retry, "quietStartup": true}
}

// write replaces a file in one step, unless it already has that content.
func write(path string, content []byte) error {
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, content) {
		return nil
	}
	return wholefile.Replace(path, content, 0o600)
}

// copy takes a file over from the person's own Pi if that is newer than ours. A login that Pi has
// renewed in our copy stays.
func (f folder) copy(name string) error {
	from, to := filepath.Join(f.from, name), filepath.Join(f.path, name)
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	const empty = 4 // bytes: what Pi itself writes if there is nothing
	if ours, err := os.Stat(to); err == nil && ours.Size() > empty && !info.ModTime().After(ours.ModTime()) {
		return nil
	}
	content, err := wholefile.Read(from, maxPersonFile)
	if err != nil {
		return err
	}
	if err := write(to, content); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// session is the file in which Pi keeps the conversation of that name.
func (f folder) session(name string) string {
	return filepath.Join(f.path, sessionsDir, digest(name)+".jsonl")
}

// extension is the path of one of our extensions, by its file's name.
func (f folder) extension(file string) string { return filepath.Join(f.path, file) }

// system writes the text that is added to Pi's system prompt into its own file.
func (f folder) system(text string) (path string, err error) {
	path = filepath.Join(f.path, sessionsDir, digest(text)+".system.md")
	return path, write(path, []byte(text))
}

// digest makes the name of a file of any name.
func digest(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// secrets are the values of the person's logins.
func (f folder) secrets() (values []string) {
	for _, name := range []string{authFile, modelsFile} {
		content, err := wholefile.Read(filepath.Join(f.path, name), maxPersonFile)
		if err != nil {
			continue
		}
		var document any
		if json.Unmarshal(content, &document) == nil {
			values = append(values, secretsIn(document, "", 0)...)
		}
	}
	return values
}

// secretNames are the members that hold secrets, in lower case.
var secretNames = []string{"key", "token", "access", "refresh", "secret", "authorization"}

func secretsIn(value any, name string, depth int) (found []string) {
	const deepest = 16
	switch v := value.(type) {
	case string:
		for _, secret := range secretNames {
			if strings.Contains(strings.ToLower(name), secret) {
				return []string{v}
			}
		}
	case map[string]any:
		for key, inner := range v {
			if depth < deepest {
				found = append(found, secretsIn(inner, key, depth+1)...)
			}
		}
	case []any:
		for _, inner := range v {
			if depth < deepest {
				found = append(found, secretsIn(inner, name, depth+1)...)
			}
		}
	}
	return found
}
