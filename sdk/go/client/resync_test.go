package client_test

import (
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

// TestAClientThatIsTooSlowComesBack: it reconnects again and again, also if no durable event comes
// in between, and its pauses do not grow as they do for a gateway that is down.
func TestAClientThatIsTooSlowComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := story(t)
		const delta = "event: delta\ndata: {\"run\":\"r1\",\"attempt\":1,\"offset\":0,\"text\":\"hm\",\"thinking\":true}\n\n"
		var asked []time.Duration
		began := time.Now()
		gateway := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, time.Since(began))
			said := delta + "event: resync\ndata: {}\n\n"
			if len(asked) == 6 {
				data, _ := json.Marshal(log[0])
				said = fmt.Sprintf("id: 1\nevent: event\ndata: %s\n\nevent: end\ndata: {}\n\n", data)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(said)), Request: r}, nil
		})
		c, err := client.New("http://gateway.test", client.WithHTTPClient(&http.Client{Transport: gateway}))
		if err != nil {
			t.Fatal(err)
		}
		events, deltas := 0, 0
		for item, err := range c.Follow(t.Context(), "r1", 0) {
			switch {
			case err != nil:
				t.Fatal(err)
			case item.Event != nil:
				events++
			case item.Delta != nil:
				deltas++
			}
		}
		if events != 1 || deltas != 5 || len(asked) != 6 || asked[5] > 2*time.Second {
			t.Errorf("it got %d events and %d deltas, and asked at %v", events, deltas, asked)
		}
	})
}
