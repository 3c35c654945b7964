package plugininstall

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnIndexIsFresh: a validly signed index is refused if a newer one is known or it has expired,
// also by a new installer.
func TestAnIndexIsFresh(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	home, later := t.TempDir(), time.Now().Add(time.Hour)
	read := func(name string, serial int, expires time.Time) (string, error) {
		age := ""
		if serial > 0 {
			age = fmt.Sprintf(`"serial": %d, `, serial)
		}
		if !expires.IsZero() {
			age += fmt.Sprintf(`"expires": %q, `, expires.UTC().Format(time.RFC3339))
		}
		text := `{"version": 1, ` + age + `"plugins": []}`
		lay(t, home, map[string]string{name: text, name + ".sig": base64.StdEncoding.EncodeToString(ed25519.Sign(private, []byte(text)))})
		said := ""
		in := anInstaller(home)
		in.Tell = func(line string) { said += line }
		_, err := in.ReadIndex(t.Context(), filepath.Join(home, name), public)
		return said, err
	}
	for _, step := range []struct {
		name    string
		serial  int
		expires time.Time
		refused string
		warns   bool
	}{
		{"index", 0, time.Time{}, "", true},
		{"index", 7, later, "", false},
		{"index", 7, later, "", false},
		{"index", 6, later, "serial 6, and serial 7 was read before", false},
		{"index", 0, later, "no serial any more", false},
		{"index", 8, time.Now().Add(-time.Hour), "was good until", false},
		{"index", 7, later, "", false}, // an index that was refused is not remembered
		{"index", 9, time.Time{}, "", true},
		{"another", 1, later, "", false},
		{"index", 8, later, "serial 9 was read before", false},
	} {
		said, err := read(step.name, step.serial, step.expires)
		if step.refused == "" && err != nil || step.refused != "" && (err == nil || !strings.Contains(err.Error(), step.refused)) {
			t.Errorf("%+v: %v", step, err)
		}
		if (said != "") != step.warns {
			t.Errorf("%+v: it says %q", step, said)
		}
	}
	if err := os.WriteFile(anInstaller(home).seenPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read("index", 10, later); err == nil || !strings.Contains(err.Error(), "plugin-indexes.json") {
		t.Errorf("what was seen before cannot be read, and yet: %v", err)
	}
}
