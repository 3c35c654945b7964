package gateway_test

import (
	"net/http"
	"testing"
)

// TestSessionsThatNoAddressEndsIn: "." and ".." have a meaning in an address, and are no ids.
func TestSessionsThatNoAddressEndsIn(t *testing.T) {
	g := guard(t, nil)
	for name, ok := range map[string]bool{".": false, "..": false, "...": true, "..a": true, ".a": true, "a.": true, "a": true, "": true, "a/b": false} {
		got := g.send("POST", "/v1/runs", `{"prompt":"x","session":"`+name+`"}`, g.bearer())
		if name == "" {
			ok = false // it is no name, and no name need be given
		}
		if (got.code == http.StatusCreated) != ok {
			t.Errorf("%q: %d %s", name, got.code, got.body)
		}
	}
	for _, path := range []string{"/v1/sessions/%2e", "/v1/sessions/%2e%2e", "/v1/sessions/."} {
		if got := g.send("PUT", path, `{}`, g.bearer()); got.code == http.StatusOK {
			t.Errorf("%s: %d %s", path, got.code, got.body)
		}
	}
}

// TestS06KindsOfABody: a media type has no case, and may have parameters.
func TestS06KindsOfABody(t *testing.T) {
	g := guard(t, nil)
	for kind, want := range map[string]int{
		"application/json": 201, "application/JSON": 201, "Application/Json; charset=utf-8": 201, "text/json": 415, "application/json-patch+json": 415, "application/jsonx": 415,
	} {
		if got := g.send("POST", "/v1/runs", `{"prompt":"x"}`, g.bearer(), "Content-Type: "+kind); got.code != want {
			t.Errorf("%s: %d %s", kind, got.code, got.body)
		}
	}
}
