package keystore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"
)

// Keyring is the system's own place for secrets, which it keeps encrypted while nobody is logged in. It is
// reached through the program that the system has for it, which gets a key on stdin: everybody sees the
// arguments of a program.
type Keyring struct {
	Name    string // for people
	program string
	set     func(name, key string) (args []string, stdin string)
	get     func(name string) []string
	remove  func(name string) []string
	none    string // of what it says on stderr where a key is not there; "" = it says nothing
}

// KeyringFor is the keyring for the keys of a state folder, nil if the system has none that can be used. A
// folder outside the home directory, such as that of a container, keeps its keys in itself.
func KeyringFor(dir, system string, getenv func(string) string) *Keyring {
	me, err := user.Current()
	if err != nil || me.HomeDir == "" || getenv("HOME") != me.HomeDir {
		return nil
	}
	if within, err := filepath.Rel(me.HomeDir, dir); err != nil || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) {
		return nil
	}
	return keyringOf(dir, system, getenv)
}

func keyringOf(dir, system string, getenv func(string) string) *Keyring {
	switch system {
	case "linux":
		program, err := exec.LookPath("secret-tool")
		if err != nil || getenv("DBUS_SESSION_BUS_ADDRESS") == "" {
			return nil
		}
		return secretTool(dir, program)
	case "darwin":
		program, err := exec.LookPath("/usr/bin/security")
		if err != nil {
			return nil
		}
		return keychain(dir, program)
	}
	return nil
}

// secretTool speaks to the Secret Service of the desktop: GNOME Keyring, KWallet, KeePassXC.
func secretTool(dir, program string) *Keyring {
	of := func(verb string, name string) []string {
		return []string{verb, "application", "mulligan", "folder", dir, "variable", name}
	}
	return &Keyring{
		Name: "the system's keyring", program: program,
		set: func(name, key string) ([]string, string) {
			return append([]string{"store", "--label=Mulligan: " + name}, of("", name)[1:]...), key
		},
		get:    func(name string) []string { return of("lookup", name) },
		remove: func(name string) []string { return of("clear", name) },
	}
}

// keychain is that of macOS.
func keychain(dir, program string) *Keyring {
	service := func(name string) string { return "mulligan " + name }
	return &Keyring{
		Name: "the login keychain", program: program, none: "could not be found",
		set: func(name, key string) ([]string, string) { // in hexadecimal no letter means something to its commands
			return []string{"-i"}, fmt.Sprintf("add-generic-password -U -s %q -a %q -X %s\n", service(name), dir, hex.EncodeToString([]byte(key)))
		},
		get: func(name string) []string {
			return []string{"find-generic-password", "-s", service(name), "-a", dir, "-w"}
		},
		remove: func(name string) []string { return []string{"delete-generic-password", "-s", service(name), "-a", dir} },
	}
}

// How long the keyring may take: somebody may have to unlock it before a key is kept there.
const (
	toUnlock = time.Minute
	toAnswer = 5 * time.Second
)

// keep stores a key, and looks whether it is there.
func (k *Keyring) keep(name, key string) error {
	args, stdin := k.set(name, key)
	if _, err := k.run(toUnlock, stdin, args); err != nil {
		return err
	}
	if got, err := k.find(name); err != nil || got != key {
		return errors.Join(fmt.Errorf("%s does not give back what it was given", k.Name), err)
	}
	return nil
}

// find is the key of a name, "" if there is none.
func (k *Keyring) find(name string) (string, error) {
	out, err := k.run(toAnswer, "", k.get(name))
	key := strings.TrimRight(out, "\r\n")
	if err == nil && key != "" && CheckKey(key) != nil {
		return "", fmt.Errorf("what %s has for %s is no key", k.Name, name)
	}
	return key, err
}

func (k *Keyring) forget(name string) error {
	_, err := k.run(toUnlock, "", k.remove(name))
	return err
}

// run runs the keyring's program. Its errors quote nothing that it said on stdout.
func (k *Keyring) run(patience time.Duration, stdin string, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, k.program, args...) //nolint:gosec // the system's own
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = strings.NewReader(stdin), &out, &said, time.Second
	err := cmd.Run()
	why, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	_, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer within %s", k.Name, patience)
	case exited && (why == "" && k.none == "" || k.none != "" && strings.Contains(why, k.none)):
		return "", nil
	}
	return "", fmt.Errorf("%s: %.200s", k.Name, cmp.Or(why, err.Error()))
}
