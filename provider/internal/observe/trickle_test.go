package observe

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/llm"
)

// drops are an answer that comes byte by byte, each after a pause.
type drops struct {
	text  string
	pause time.Duration
}

func (d *drops) Read(p []byte) (int, error) {
	if d.text == "" {
		return 0, io.EOF
	}
	time.Sleep(d.pause)
	p[0] = d.text[0]
	d.text = d.text[1:]
	return 1, nil
}

func (d *drops) Close() error { return nil }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streaming asks a provider whose answer is a stream with that body.
func streaming(t *testing.T, body io.ReadCloser) *Client {
	t.Helper()
	c, err := New(Config{Provider: "p", BaseURL: "https://p.example", RoundTripper: tripper(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {eventStream}}, Body: body}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAPartOfAnEventIsASignOfLife: bytes that are no whole event yet are told of, but not
// each of them.
func TestAPartOfAnEventIsASignOfLife(t *testing.T) {
	for name, tt := range map[string]struct {
		pause time.Duration
		leave int // after so many pings; 0 = never
		want  int
	}{
		"slow":                  {pause: 10 * time.Second, want: 13}, // of 15 bytes: with the first the answer begins, with the last the event is whole
		"fast":                  {pause: 100 * time.Millisecond, want: 1},
		"nobody listens longer": {pause: 10 * time.Second, leave: 2, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				body := &drops{text: "data: {\"a\":1}\n\n", pause: tt.pause}
				c := streaming(t, body)
				pings := 0
				for d, err := range c.Stream(t.Context(), func() (Ask, error) {
					return Ask{Model: "p/m", Header: http.Header{}, Secrets: NewSecrets(), Decoder: &wordDecoder{}}, nil
				}) {
					if err == nil && d.Kind == llm.DeltaPing {
						pings++
					}
					if pings == tt.leave && tt.leave > 0 {
						break
					}
				}
				if pings != tt.want {
					t.Errorf("%d signs of life, want %d", pings, tt.want)
				}
			})
		})
	}
}
