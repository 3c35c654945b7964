package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestASilentStreamIsLeft: if a gateway vanishes silently the client reconnects; a stream that only
// sends keep-alives is kept.
func TestASilentStreamIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := story(t)
		var asked []time.Duration
		began := time.Now()
		gateway := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(began))
			body, text := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = text.CloseWithError(context.Canceled) })
			go func(n int) {
				data, _ := json.Marshal(log[n-1])
				fmt.Fprintf(text, "id: %d\nevent: event\ndata: %s\n\n", n, data)
				if n == 1 {
					return // and nothing more is heard of it
				}
				for range 4 {
					time.Sleep(30 * time.Second)
					_, _ = io.WriteString(text, ": still here\n\n")
				}
				_, _ = io.WriteString(text, "event: end\ndata: {}\n\n")
			}(len(asked))
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: r}, nil
		})
		c, err := client.New("http://gateway.test", client.WithHTTPClient(&http.Client{Transport: gateway}))
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for item, err := range c.Follow(t.Context(), "r1", 0) {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, fmt.Sprint(item.Event.Seq))
		}
		if len(asked) != 2 || asked[1] != 40*time.Second || strings.Join(seen, " ") != "1 2" {
			t.Errorf("it was asked after %v and gave events %v", asked, seen)
		}
	})
}
