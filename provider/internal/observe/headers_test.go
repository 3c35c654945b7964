package observe

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mulligan-run/mulligan/llm"
)

// askedHeaders is what is told of one call whose request and answer have these headers.
func askedHeaders(secrets *Secrets, sent, received http.Header, body int) (told llm.Headers) {
	t := &exchange{
		observation: observation{secrets: secrets, header: received},
		ask:         Ask{Header: sent, Body: make([]byte, body), OnHeaders: func(h llm.Headers) { told = h }},
	}
	t.connected.Store(true)
	t.tellHeaders()
	return told
}

func TestTellHeaders(t *testing.T) {
	told := askedHeaders(NewSecrets("the-key-0123456789"),
		http.Header{"Authorization": {"Bearer the-key-0123456789"}, "Content-Type": {"application/json"}, "X-Of-The-Caller": {"whatever"}},
		http.Header{"Retry-After": {"3"}, "X-Request-Id": {"req-the-key-0123456789"}, "Set-Cookie": {"session=1"}, "Server": {"a\r\nb"}}, 17)
	want := llm.Headers{
		Sent:     []llm.Header{{Name: "Content-Length", Value: "17"}, {Name: "Content-Type", Value: "application/json"}, {Name: "Authorization"}},
		SentMore: 1,
		Received: []llm.Header{{Name: "Retry-After", Value: "3"}, {Name: "X-Request-Id", Value: "req-[redacted]"}, {Name: "Server", Value: "a b"}}, ReceivedMore: 1,
	}
	if !slices.Equal(told.Sent, want.Sent) || !slices.Equal(told.Received, want.Received) || told.SentMore != 1 || told.ReceivedMore != 1 {
		t.Errorf("%+v", told)
	}
	if none := askedHeaders(NewSecrets(), nil, nil, 0); len(none.Sent) != 1 || none.Received != nil || none.ReceivedMore != 0 {
		t.Errorf("before any answer: %+v", none)
	}
}

// TestHeadersHoldNoSecret: wherever a caller or a provider puts a key, in whatever spelling, and
// whatever else is a caller's own, it is not told; and what is told is bounded.
func TestHeadersHoldNoSecret(t *testing.T) {
	const letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789_-"
	names := slices.Concat(sentPlain, sentHidden, received, []string{"X-Own", "Set-Cookie", "X-Ratelimit-Of-Somebody"})
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 16, 64, -1).Draw(t, "key")
		own := rapid.StringOfN(rapid.SampledFrom([]rune(letters)), 16, 64, -1).Draw(t, "own")
		spelt := rapid.SampledFrom([]string{
			key, "Bearer " + key, url.QueryEscape(key), base64.StdEncoding.EncodeToString([]byte("user:" + key)),
			strings.Repeat(key+" ", 40), strings.Repeat("x", 150) + key, strings.Repeat("x", 1<<10) + key, "a," + key + "\n" + key,
		})
		header := func(label string) http.Header {
			h := http.Header{}
			for range rapid.IntRange(0, 40).Draw(t, label) {
				name := rapid.SampledFrom(names).Draw(t, "name")
				h[name] = append(h[name], spelt.Draw(t, "value"))
			}
			h.Set("X-"+key, "1") // as a name
			return h
		}
		sent := header("sent")
		for _, name := range sentHidden {
			sent.Set(name, own)
		}
		told := askedHeaders(NewSecrets(key), sent, header("received"), 1)
		text, err := json.Marshal(told)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{key, own, base64.RawStdEncoding.EncodeToString([]byte("user:" + key))[8:18]} {
			if strings.Contains(strings.ToLower(string(text)), strings.ToLower(secret)) {
				t.Fatalf("%q is in %s", secret, text)
			}
		}
		for _, list := range [][]llm.Header{told.Sent, told.Received} {
			size := 0
			for _, h := range list {
				size += len(h.Name) + len(h.Value)
			}
			if size > maxHeaders {
				t.Fatalf("%d bytes", size)
			}
		}
	})
}
