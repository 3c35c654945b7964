package host

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"grpcs://policy.example.com:7443": {"tcp", "policy.example.com:7443", true},
		"grpcs://[2001:db8::1]:7443":      {"tcp", "[2001:db8::1]:7443", true},
		"grpc://127.0.0.1:7443":           {"tcp", "127.0.0.1:7443", false},
		"grpc://127.9.9.9:1":              {"tcp", "127.9.9.9:1", false},
		"grpc://[::1]:7443":               {"tcp", "[::1]:7443", false},
		"grpc://localhost:7443":           {"tcp", "localhost:7443", false},
		"unix:///run/policy.sock":         {"unix", "/run/policy.sock", false},
	} {
		if got, err := parseAddress(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	const secret = "hunter2"
	for _, text := range []string{
		"", "policy.example.com:7443", "https://policy.example.com", "grpcs://policy.example.com", "grpcs://:7443", "grpcs://h:0", "grpcs://h:65536",
		"grpcs://me:" + secret + "@h:1", "grpcs://h:1/" + secret, "grpcs://h:1?" + secret, "grpcs://h:1#" + secret, "grpcs://h:1?", "grpcs:h:1",
		"grpc://192.0.2.1:7443", "grpc://0.0.0.0:7443", "grpc://[2001:db8::1]:7443", "grpc://169.254.169.254:80",
		"unix://run/policy.sock", "unix:run/policy.sock", "unix:///run/../etc/s", "unix:///a%0ab", "unix:///" + strings.Repeat("x", 100),
		"grpcs://h\x1b:1", "grpcs://" + strings.Repeat("h", 600) + ":1",
	} {
		if err := CheckAddress(text, nil); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzAddress: whatever passes is one host and port, or one clean path, and plaintext
// never is an IP address elsewhere.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"grpcs://h:1", "grpc://127.0.0.1:1", "unix:///s", "grpc://[::ffff:192.0.2.1]:1", "grpc://[::1%25lo]:1", "grpcs://%41:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parseAddress(text)
		if err != nil {
			return
		}
		if a.network == "unix" {
			if !filepath.IsAbs(a.at) || filepath.Clean(a.at) != a.at || len(a.at) > maxSocketPath || a.secure {
				t.Errorf("%q: %+v", text, a)
			}
			return
		}
		host, port, err := net.SplitHostPort(a.at)
		if err != nil || host == "" || port == "" {
			t.Errorf("%q: %+v", text, a)
		}
		if ip := net.ParseIP(host); ip != nil && !a.secure && !ip.IsLoopback() {
			t.Errorf("%q: %+v", text, a)
		}
	})
}

// A name that resolves to an address elsewhere is refused before anything is sent.
func TestPlaintextStaysHere(t *testing.T) {
	for _, at := range []string{"192.0.2.1:443", "[2001:db8::1]:443", "0.0.0.0:443", "169.254.169.254:80"} {
		if err := onlyHere("tcp", at, nil); !errors.Is(err, errNotHere) {
			t.Errorf("%s: %v", at, err)
		}
		r := &remote{}
		if _, err := r.dial(t.Context(), address{network: "tcp", at: at}); !errors.Is(err, errNotHere) {
			t.Errorf("%s: %v", at, err)
		}
	}
	for _, at := range []string{"127.0.0.1:443", "[::1]:443", "[::ffff:127.0.0.1]:443"} {
		if err := onlyHere("tcp", at, nil); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
}

func TestSocketsOfServices(t *testing.T) {
	dir := shortPlace(t)
	socket, link, file := filepath.Join(dir, "s"), filepath.Join(dir, "l"), filepath.Join(dir, "f")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := errors.Join(os.Symlink(socket, link), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	change := func(path string, mode os.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(path, want string) {
		t.Helper()
		if err := checkServiceSocket(path); err == nil && want != "" || err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, not %q", path, err, want)
		}
	}
	change(socket, 0o660)
	refused(socket, "")
	refused(link, "is not a socket")
	refused(file, "is not a socket")
	refused(filepath.Join(dir, "gone"), "no such file")
	change(socket, 0o666)
	refused(socket, "everyone may write to "+socket)
	change(socket, 0o600)
	change(dir, 0o777)
	refused(socket, "everyone may write to "+dir)
	change(dir, 0o700)
	if os.Geteuid() != 0 {
		return
	}
	if err := os.Chown(socket, 4711, 4711); err != nil {
		t.Fatal(err)
	}
	refused(socket, "belongs to user 4711")
}

func TestSpecsOfServices(t *testing.T) {
	good := Spec{Name: "fleet", Address: "grpcs://h:1"}
	for want, change := range map[string]func(*Spec){
		"":                               func(*Spec) {},
		"either a command or an address": func(s *Spec) { s.Command = []string{"x"} },
		"a command or an address":        func(s *Spec) { s.Address = "" },
		"configured where it runs":       func(s *Spec) { s.Config = []byte(`{"a":1}`) },
		"its address is all":             func(s *Spec) { s.Env = []string{"A=b"} },
		"needs its key":                  func(s *Spec) { s.TLS = &RemoteTLS{Cert: "c"} },
		"are for an address":             func(s *Spec) { s.Address, s.TLS = "unix:///s", &RemoteTLS{} },
		"are for a plugin with an":       func(s *Spec) { s.Address, s.Command, s.TLS = "", []string{"x"}, &RemoteTLS{} },
		"grpcs://HOST:PORT":              func(s *Spec) { s.Address = "h:1" },
	} {
		spec := good
		change(&spec)
		if err := checkSpec(spec); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	empty := good
	empty.Config = []byte(" {} ")
	if err := checkSpec(empty); err != nil {
		t.Error(err)
	}
	if _, _, err := HashFolder(good); err == nil {
		t.Error("a service has a hash")
	}
}
