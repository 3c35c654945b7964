package observe

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/internal/netguard"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/redact"
)

func TestSecretsInEveryForm(t *testing.T) {
	const secret = `k3y<"with/odd+chars&%é`
	s := NewSecrets(secret)
	quoted, _ := json.Marshal(map[string]string{"k": secret})
	forms := map[string]string{
		"raw": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret), "JSON": string(quoted),
	}
	for _, prefix := range []string{"", "u:", "user:"} {
		forms["base64 "+prefix] = base64.StdEncoding.EncodeToString([]byte(prefix + secret + "tail"))
		forms["base64url "+prefix] = base64.URLEncoding.EncodeToString([]byte(prefix + secret))
	}
	for name, form := range forms {
		if clean := s.Text("before " + form + " after"); !strings.Contains(clean, redact.Mark) || strings.Contains(clean, secret) {
			t.Errorf("%s: %q became %q", name, form, clean)
		}
	}
	if err := s.Error(errors.New("bad " + secret)); strings.Contains(err.Error(), "k3y") || errors.Unwrap(err) != nil {
		t.Error(err)
	}
	shaped := "sk-" + strings.Repeat("a1", 12)
	if text := s.Text("Authorization: Bearer abcdefgh12345, " + shaped + "!"); text != "Authorization: "+redact.Mark+", "+redact.Mark+"!" {
		t.Error(text)
	}
	if text := s.Text("a task-oriented risk-free talk"); strings.Contains(text, redact.Mark) {
		t.Error(text)
	}
}

// TestShapesAreSearched: the expression matches nothing that is not searched with it.
func TestShapesAreSearched(t *testing.T) {
	piece := rapid.SampledFrom([]string{"sk-", "pk-", "rk", "-", "Bearer ", "bEARER a1a1a1a1", "Bearer a1a1a1a1", "rk-a1a1a1a1a1a1a1a1a1", "bear", "er", "B", "b", " ", "\t", "\n", strings.Repeat("a1", 8), "Ø", "\xff", "ſk-", "\u212a", "="})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), "")
		if got, want := unshaped(text), shapes.ReplaceAllString(text, redact.Mark); got != want {
			t.Fatalf("%q becomes %q, and not %q", text, got, want)
		}
	})
}

func TestHalfASecretAtTheEndOfABody(t *testing.T) {
	s := NewSecrets("0123456789abcdef")
	body := strings.Repeat("0123456789abcdef ", 4000)
	body = body[:len(body)-6]
	if clean := string(s.body([]byte(body), true)); strings.Contains(clean, "0123") || len(clean) > maxErrorBody {
		t.Error(clean[len(clean)-40:])
	}
}

func TestGuard(t *testing.T) {
	public := netguard.Guard{}
	private := netguard.Guard{AllowPrivate: true}
	for _, c := range []struct {
		g    netguard.Guard
		addr string
		ok   bool
	}{
		{public, "160.79.104.10", true},
		{public, "2607:6bc0::10", true},
		{public, "127.0.0.1", false},
		{public, "::1", false},
		{public, "::ffff:127.0.0.1", false},
		{public, "10.1.2.3", false},
		{public, "192.168.1.1", false},
		{public, "100.64.0.1", false},
		{public, "169.254.1.1", false},
		{public, "169.254.169.254", false},
		{public, "64:ff9b::a9fe:a9fe", false},
		{public, "2002:a00:1::", false},
		{public, "fe80::1", false},
		{public, "fd00::1", false},
		{public, "0.0.0.0", false},
		{public, "::", false},
		{public, "224.0.0.1", false},
		{private, "10.1.2.3", true},
		{private, "127.0.0.1", true},
		{private, "169.254.169.254", false},
		{private, "fd00:ec2::254", false},
		{netguard.Guard{Plain: true, Loopback: true}, "127.0.0.1", true},
		{netguard.Guard{Plain: true, Loopback: true}, "160.79.104.10", false},
		{netguard.Guard{Plain: true, AllowPrivate: true}, "160.79.104.10", false},
		{netguard.Guard{Plain: true, AllowPrivate: true}, "192.168.1.1", true},
	} {
		err := c.g.Control("tcp", netip.AddrPortFrom(netip.MustParseAddr(c.addr), 443).String(), nil)
		if (err == nil) != c.ok {
			t.Errorf("%+v %s: %v", c.g, c.addr, err)
		}
	}
}

func TestUnanswered(t *testing.T) {
	timeout := &net.OpError{Op: "dial", Err: errTimeout{}}
	for _, c := range []struct {
		err       error
		connected bool
		want      failure.Kind
	}{
		{&net.DNSError{Err: "no such host"}, false, failure.KindUnreachable},
		{&net.DNSError{Err: "i/o timeout", IsTimeout: true}, false, failure.KindUnreachable},
		{syscall.ECONNREFUSED, false, failure.KindUnreachable},
		{syscall.ENETUNREACH, false, failure.KindUnreachable},
		{timeout, false, failure.KindTimeout},
		{timeout, true, failure.KindUnreachable},
		{&netguard.RefusedAddressError{}, false, failure.KindMisconfigured},
		{&proxyError{407}, false, failure.KindMisconfigured},
		{&proxyError{502}, false, failure.KindUnreachable},
		{errors.New(`malformed HTTP response "SSH-2.0"`), true, failure.KindMisconfigured},
		{errors.New("stream error: stream ID 1; INTERNAL_ERROR"), true, failure.KindUnreachable},
	} {
		if got := unanswered(&url.Error{Op: "Post", URL: "https://x", Err: c.err}, c.connected); got != c.want {
			t.Errorf("%v: %s, want %s", c.err, got, c.want)
		}
	}
}

type errTimeout struct{}

func (errTimeout) Error() string   { return "i/o timeout" }
func (errTimeout) Timeout() bool   { return true }
func (errTimeout) Temporary() bool { return true }

func TestReportsError(t *testing.T) {
	for body, want := range map[string]bool{
		`{"error":{"code":503}}`:               true,
		`{"type":"error"}`:                     true,
		`[{"error":{"code":503}}]`:             true,
		`[{"candidates":[]},{"error":"boom"}]`: true,
		`{"error":null,"candidates":[]}`:       false,
		`[{"candidates":[]}]`:                  false,
		`[1]`:                                  false,
		`[`:                                    false,
		``:                                     false,
	} {
		if got := reportsError([]byte(body)); got != want {
			t.Errorf("%s: %v", body, got)
		}
	}
}
