package observe

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/netguard"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/wire"
)

// words is a wire of its own: each event is a word, and "." ends the answer.
type wordDecoder struct{ state wire.State }

func (w *wordDecoder) Decode(data []byte, deltas []llm.Delta) ([]llm.Delta, error) {
	if string(data) == "." {
		w.state = wire.Done
		return deltas, nil
	}
	return append(deltas, llm.Delta{Kind: llm.DeltaText, Text: string(data)}), nil
}

func (w *wordDecoder) State() wire.State    { return w.state }
func (w *wordDecoder) Stop() llm.StopReason { return llm.StopEnd }

// talkTo asks c, and gives what was said and how it ended.
func talkTo(t *testing.T, c *Client) (string, error) {
	t.Helper()
	said := ""
	for delta, err := range c.Stream(t.Context(), func() (Ask, error) {
		return Ask{Model: "p/m", Path: "/say", Header: http.Header{}, Secrets: NewSecrets(), Decoder: &wordDecoder{}}, nil
	}) {
		if err != nil {
			return said, err
		}
		said += delta.Text
	}
	return said, nil
}

func failureKind(err error) failure.Kind {
	if f, ok := failure.AsFailure(err); ok {
		return f.Kind
	}
	return ""
}

func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("HTTP/%d", r.ProtoMajor)
		}
		if strings.HasPrefix(r.URL.Path, "/never") {
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: Hi\n\n")
		_ = http.NewResponseController(w).Flush()
		if strings.HasPrefix(r.URL.Path, "/broken") {
			panic(http.ErrAbortHandler) // RST_STREAM, INTERNAL_ERROR
		}
		_, _ = io.WriteString(w, "data: .\n\n")
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ours := transport(Config{ConnectTimeout: DefaultConnectTimeout}, netguard.Guard{Loopback: true}, nil, maxConnecting)
	defer ours.CloseIdleConnections()
	ours.TLSClientConfig.RootCAs = x509.NewCertPool()
	ours.TLSClientConfig.RootCAs.AddCert(server.Certificate())
	for path, want := range map[string]struct {
		text  string
		kind  failure.Kind
		phase failure.Phase
	}{
		"":        {"Hi", "", ""},
		"/broken": {"Hi", failure.KindStreamInterrupted, failure.PhaseMidStream},
		"/never":  {"", failure.KindUnreachable, failure.PhaseBeforeFirstEvent},
	} {
		c, err := New(Config{Provider: "p", BaseURL: server.URL + path, RoundTripper: ours})
		if err != nil {
			t.Fatal(err)
		}
		text, err := talkTo(t, c)
		f, _ := failure.AsFailure(err)
		if text != want.text || failureKind(err) != want.kind || f != nil && f.Phase != want.phase {
			t.Errorf("%q: %q, %v", path, text, err)
		}
	}
}

// TestRebinding: a name that leads elsewhere the second time is refused at the dial.
func TestRebinding(t *testing.T) {
	var turn atomic.Int32
	resolve(t, func() [4]byte {
		if turn.Load() == 0 {
			return [4]byte{127, 0, 0, 1}
		}
		return [4]byte{169, 254, 169, 254}
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: Hi\n\ndata: .\n\n")
	}))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	base := "http://rebinding.example:" + port
	c, err := New(Config{Provider: "p", BaseURL: base, AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := talkTo(t, c); text != "Hi" || err != nil {
		t.Fatalf("the first time: %q, %v", text, err)
	}
	turn.Store(1)
	_, err = talkTo(t, c)
	if refused := (*netguard.RefusedAddressError)(nil); !errors.As(err, &refused) || refused.Address != "169.254.169.254:"+port || failureKind(err) != failure.KindMisconfigured {
		t.Errorf("the second time: %v", err)
	}
	// Without leave for private addresses a public name may not even lead here.
	turn.Store(0)
	c, err = New(Config{Provider: "p", BaseURL: "https://rebinding.example:" + port})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = talkTo(t, c); failureKind(err) != failure.KindMisconfigured {
		t.Errorf("a public name that leads here: %v", err)
	}
}

// resolve has all names looked up at a name server of the test's own.
func resolve(t *testing.T, address func() [4]byte) {
	t.Helper()
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", server.LocalAddr().String())
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		query := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			_, _ = server.WriteTo(reply(query[:n], address()), from)
		}
	}()
	t.Cleanup(func() {
		net.DefaultResolver = usual
		server.Close()
		<-done
	})
}

// reply answers a question for an IPv4 address; any other one gets an empty answer.
func reply(query []byte, address [4]byte) []byte {
	var message dnsmessage.Message
	if message.Unpack(query) != nil || len(message.Questions) != 1 {
		return nil
	}
	q := message.Questions[0]
	message.Response, message.Additionals = true, nil
	if q.Type == dnsmessage.TypeA {
		message.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
			Body:   &dnsmessage.AResource{A: address},
		}}
	}
	out, _ := message.Pack()
	return out
}
