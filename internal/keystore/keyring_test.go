package keystore

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	ringName = "SOME_API_KEY"
	ringKey  = `sk-canary"$\'0123456789`
)

// Fakes of the programs secret-tool and security, each with its keys in a folder of its own. A fake
// records how it was called, and behaves as the file "mood" says.
const (
	fakeSecretTool = `#!/bin/sh
cd "$(dirname "$0")" && echo "$@" >>called
case "$(cat mood 2>/dev/null)" in locked) echo "secret-tool: Cannot create an item in a locked collection" >&2; exit 1;; esac
for variable; do :; done
case $1 in
store) cat >"kept-$variable" ;;
lookup) test -s "kept-$variable" && cat "kept-$variable" ;;
clear) rm "kept-$variable" 2>/dev/null ;;
esac`
	fakeSecurity = `#!/bin/sh
cd "$(dirname "$0")" && echo "$@" >>called
if test "$1" = -i; then
	read -r line; eval "set -- $line"
	test "$1 $2 $3 $5 $7" = "add-generic-password -U -s -a -X" || { echo "usage" >&2; exit 2; }
	echo "$8" | sed 's/../\\x&/g' | xargs -0 printf | tr -d '\n' >"kept-$4"
	exit
fi
test -e "kept-$3" || { echo "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain." >&2; exit 44; }
case $1 in
find-generic-password) cat "kept-$3"; echo ;;
delete-generic-password) rm "kept-$3" ;;
esac`
)

// fakeRing is a system's keyring whose program is a fake.
func fakeRing(t *testing.T, script string, of func(dir, program string) *Keyring) (ring *Keyring, folder string) {
	t.Helper()
	folder = t.TempDir()
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	return of("/home/ada/.local/state/mulligan", program), folder
}

func contents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestKeyring: a key is stored in the keyring, and neither in the file nor in a program's
// arguments. Each process with the same folder can read it, until it is removed.
func TestKeyring(t *testing.T) {
	for system, c := range map[string]struct {
		script string
		of     func(dir, program string) *Keyring
	}{"linux": {fakeSecretTool, secretTool}, "darwin": {fakeSecurity, keychain}} {
		t.Run(system, func(t *testing.T) {
			ring, folder := fakeRing(t, c.script, c.of)
			dir := t.TempDir()
			one, other := Open(dir, ring), Open(dir, ring)
			if err := one.Remove(ringName); err != nil || one.Get(ringName) != "" {
				t.Fatalf("of nothing: %v", err)
			}
			for _, key := range []string{ringKey, ringKey + "2"} {
				if err := one.Set(ringName, key); err != nil {
					t.Fatal(err)
				}
				if one.Get(ringName) != key || other.Get(ringName) != key || other.Place(ringName) != ring.Name || one.Check() != nil {
					t.Errorf("%q and %q, in %s: %v", one.Get(ringName), other.Get(ringName), other.Place(ringName), one.Check())
				}
			}
			if said := contents(t, one.Path()) + contents(t, filepath.Join(folder, "called")); strings.Contains(said, "canary") || !strings.Contains(said, ringName) {
				t.Error(said)
			}
			if err := other.Remove(ringName); err != nil || one.Get(ringName) != "" || other.Check() != nil {
				t.Errorf("after it was removed: %v, %v", err, other.Check())
			}
			if left, err := filepath.Glob(filepath.Join(folder, "kept-*")); len(left) > 0 || err != nil {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// TestALockedKeyring: if the keyring does not accept a key, the key is stored in the file; if it
// does not return one, that is reported.
func TestALockedKeyring(t *testing.T) {
	ring, folder := fakeRing(t, fakeSecretTool, secretTool)
	dir, mood := t.TempDir(), filepath.Join(folder, "mood")
	if err := Open(dir, ring).Set("BEFORE_KEY", ringKey); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mood, []byte("locked"), 0o600); err != nil {
		t.Fatal(err)
	}
	locked := Open(dir, ring)
	if err := locked.Check(); err == nil || !strings.Contains(err.Error(), "BEFORE_KEY") || !strings.Contains(err.Error(), "unlock it, or paste the key again") || !strings.Contains(err.Error(), "locked collection") {
		t.Errorf("%v", err)
	}
	if err := locked.Set(ringName, ringKey); err != nil || locked.Place(ringName) != locked.Path() || locked.Get(ringName) != ringKey {
		t.Errorf("%v: %s, %q", err, locked.Place(ringName), locked.Get(ringName))
	}
	if err := locked.Set("BEFORE_KEY", ringKey+"2"); err != nil || locked.Check() != nil || locked.Get("BEFORE_KEY") != ringKey+"2" {
		t.Errorf("pasted again: %v, %v", err, locked.Check())
	}
	if err := Open(dir, nil).Remove(ringName); err != nil {
		t.Error(err)
	}
}

// TestWhichKeyring: a keyring is used if a person is logged in to a desktop and owns the folder.
func TestWhichKeyring(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "secret-tool"), []byte("#!/bin/sh\n"), 0o700); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", folder)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	home := me.HomeDir
	state := filepath.Join(home, ".local/state/mulligan")
	for _, c := range []struct {
		dir, system, home, bus string
		want                   bool
	}{
		{state, "linux", home, "unix:path=/run/user/1000/bus", true},
		{state, "linux", home, "", false},
		{"/var/lib/mulligan", "linux", home, "unix:path=/run/user/1000/bus", false},
		{state, "linux", folder, "unix:path=/run/user/1000/bus", false},
		{state, "freebsd", home, "unix:path=/run/user/1000/bus", false},
	} {
		env := map[string]string{"HOME": c.home, "DBUS_SESSION_BUS_ADDRESS": c.bus}
		if got := KeyringFor(c.dir, c.system, func(name string) string { return env[name] }); (got != nil) != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if _, err := exec.LookPath("/usr/bin/security"); runtime.GOOS == "darwin" && err != nil {
		t.Error(err)
	}
}
