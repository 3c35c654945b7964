package faultlab_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/faultlab/catalogue"
)

// askBroken starts a transport and asks it once.
func askBroken(t *testing.T, name, path string) (*http.Response, error) {
	t.Helper()
	b, err := faultlab.Break(name)
	if err != nil {
		t.Fatal(err)
	}
	client := b.Client()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	if !mayHang[name] {
		ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	}
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL+path, strings.NewReader(`{"stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	r.GetBody = nil // net/http would ask again by itself
	if r.URL.Hostname() != b.Host {
		t.Errorf("host %q of %s", b.Host, b.URL)
	}
	return client.Do(r)
}

// mayHang are the transports where nothing happens until the client has enough.
var mayHang = map[string]bool{"dns-timeout": true, "blackhole": true, "tls-silent": true, "no-headers": true}

func TestTransports(t *testing.T) {
	is := func(target error) func(error) bool {
		return func(err error) bool { return errors.Is(err, target) }
	}
	says := func(words string) func(error) bool {
		return func(err error) bool { return strings.Contains(err.Error(), words) }
	}
	tests := map[string]func(error) bool{
		"dns-nxdomain": func(err error) bool {
			e, ok := errors.AsType[*net.DNSError](err)
			return ok && e.IsNotFound
		},
		"dns-timeout": is(context.DeadlineExceeded), // net/http says so before the resolver does
		"refused":     is(syscall.ECONNREFUSED),
		"blackhole": func(err error) bool {
			return errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, syscall.ECONNREFUSED)
		},
		"unreachable": is(syscall.ENETUNREACH),
		"tls-silent":  is(context.DeadlineExceeded),
		"tls-unknown-ca": func(err error) bool {
			_, ok := errors.AsType[x509.UnknownAuthorityError](err)
			return ok
		},
		"tls-wrong-host": func(err error) bool {
			_, ok := errors.AsType[x509.HostnameError](err)
			return ok && says("valid for example.com, not localhost")(err)
		},
		"tls-expired": func(err error) bool {
			e, ok := errors.AsType[x509.CertificateInvalidError](err)
			return ok && e.Reason == x509.Expired
		},
		"plain-http":       is(http.ErrSchemeMismatch),
		"proxy-407":        says("Proxy Authentication Required"),
		"no-headers":       is(context.DeadlineExceeded),
		"reset":            is(syscall.ECONNRESET),
		"eof":              is(io.EOF),
		"ssh":              says(`malformed HTTP response "SSH-2.0-OpenSSH_9.2"`),
		"h2-reset":         says("stream error: stream ID 1; INTERNAL_ERROR; received from peer"),
		"h2-refused":       says("REFUSED_STREAM; received from peer"),
		"h2-goaway-unread": says("received Server's graceful shutdown GOAWAY"),
		"h2-goaway":        says(`server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR`),
	}
	for _, transport := range faultlab.Transports() {
		right, ok := tests[transport.Name]
		if !ok {
			continue // h2-reset-mid
		}
		t.Run(transport.Name, func(t *testing.T) {
			t.Parallel()
			resp, err := askBroken(t, transport.Name, "/v1/messages")
			if err == nil {
				resp.Body.Close()
				t.Fatal("it answers: ", resp.Status)
			}
			if !right(err) {
				t.Errorf("%T: %v", err, err)
			}
		})
	}
}

func TestH2ResetInMidStream(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/messages": "text_delta", "/v1/chat/completions": `"choices"`, "/v1/responses": "response.output_text.delta",
		"/v1beta/models/m:streamGenerateContent?alt=sse": "candidates",
	} {
		resp, err := askBroken(t, "h2-reset-mid", path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.ProtoMajor != 2 || !strings.Contains(string(body), want) || err == nil || !strings.Contains(err.Error(), "stream error: stream ID 1; INTERNAL_ERROR") {
			t.Errorf("%s: %s, %v: %s", path, resp.Proto, err, body)
		}
	}
}

func TestNameServerThatSaysNothing(t *testing.T) {
	b, err := faultlab.Break("dns-timeout")
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	resolver := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", b.Resolver)
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = resolver.LookupHost(ctx, b.Host)
	if e, ok := errors.AsType[*net.DNSError](err); !ok || !e.IsTimeout {
		t.Errorf("%T: %v", err, err)
	}
}

// TestTransportsAreTheRows: the catalogue and this package name the same transports.
func TestTransportsAreTheRows(t *testing.T) {
	var named []string
	for _, s := range catalogue.All() {
		if s.Transport != "" && !slices.Contains(named, s.Transport) {
			named = append(named, s.Transport)
		}
	}
	for _, transport := range faultlab.Transports() {
		i := slices.Index(named, transport.Name)
		if i < 0 || catalogue.Scripts(transport.ID)[0].Transport != transport.Name || transport.Doc == "" {
			t.Errorf("%+v is not the catalogue's", transport)
			continue
		}
		named = slices.Delete(named, i, i+1)
	}
	if len(named) > 0 {
		t.Errorf("no transports: %v", named)
	}
	if _, err := faultlab.Break("nonsense"); err == nil {
		t.Error("broke nonsense")
	}
}

func TestBrokenCanBeAskedAgain(t *testing.T) {
	b, err := faultlab.Break("reset")
	if err != nil {
		t.Fatal(err)
	}
	client := b.Client()
	defer client.CloseIdleConnections()
	for range 3 {
		resp, err := client.Post(b.URL, "application/json", strings.NewReader("{}"))
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	}
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	resp, err := client.Post(b.URL, "application/json", strings.NewReader("{}"))
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("closed, and yet %v", err)
	}
}
