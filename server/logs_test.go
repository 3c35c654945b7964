package server

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/config"
)

// lockedBuffer may be written and read at once.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestUnsolicitedBytesAreNotLogged has a server that says something, with the prompt in it, on
// a connection where nobody asked: net/http complains in the standard logger.
func TestUnsolicitedBytesAreNotLogged(t *testing.T) {
	var out lockedBuffer
	before := log.Writer()
	log.SetOutput(libraryWriter{cleanWriter{&out}})
	defer log.SetOutput(before)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = conn.Read(make([]byte, 4096))
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokthe prompt, and more of it")
		_, _ = io.Copy(io.Discard, conn)
		conn.Close()
	}()
	response, err := (&http.Client{Transport: &http.Transport{}}).Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(response.Body)
	response.Body.Close()
	for end := time.Now().Add(20 * time.Second); !strings.Contains(out.String(), "Unsolicited") && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if said := out.String(); !strings.Contains(said, "Unsolicited") || strings.Contains(said, "prompt") {
		t.Errorf("%q", said)
	}
}

// TestTheStandardLoggerIsOurs: what libraries say goes nowhere unless somebody wants to know.
func TestTheStandardLoggerIsOurs(t *testing.T) {
	before := log.Writer()
	defer log.SetOutput(before)
	t.Setenv("MULLIGAN_DEBUG", "")
	t.Setenv("CANARY_KEY", "canary-key-0123456789")
	OwnLogs()
	if log.Writer() != io.Discard {
		t.Errorf("it goes to %T", log.Writer())
	}
	var out bytes.Buffer
	for _, asJSON := range []bool{true, false} {
		LogTo(&out, asJSON, slog.LevelInfo).Info("canary-key-0123456789", "url", `https://x/?k=canary%2dkey-0123456789"`)
	}
	if strings.Contains(out.String(), "0123") || strings.Count(out.String(), "[redacted]") != 4 {
		t.Error(out.String())
	}
}

// TestServeSaysWhichKeyIsMissing: before anybody has asked anything.
func TestServeSaysWhichKeyIsMissing(t *testing.T) {
	for _, usual := range usualModels {
		t.Setenv(usual.key, "")
	}
	for model, want := range map[string]string{"": "export ANTHROPIC_API_KEY=…", "openai/gpt-5.2": "export OPENAI_API_KEY=…", "ollama/x": ""} {
		m, err := NewModels(&config.Config{})
		if err != nil {
			t.Fatal(err)
		}
		missing := m.lacks(&config.Config{Model: model})
		if (missing == nil) != (want == "") || missing != nil && !strings.Contains(missing.Error(), want) {
			t.Errorf("%q: %v", model, missing)
		}
	}
}
