package faultlab_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestControl(t *testing.T) {
	_, client, url := start(t)
	post := func(kind, body string) int {
		resp, err := client.Post(url+"/faultlab/script", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		kind, body string
		want       int
	}{
		{"application/json", `{"model":"m","script":"503, answer:Hi"}`, 200},
		{"text/plain", `{"model":"m","script":"401"}`, 415},
		{"application/json", `{"model":"m","script":"nope"}`, 400},
		{"application/json", `{"model":"m","scrip":"503"}`, 400},
		{"application/json", `{"model":"` + strings.Repeat("m", 300) + `","script":"503"}`, 400},
	} {
		if got := post(c.kind, c.body); got != c.want {
			t.Errorf("%s: status %d, want %d", c.body, got, c.want)
		}
	}
	if h := sides[0].hear(t.Context(), client, url, sides[0].ask); h.status != 503 {
		t.Errorf("status %d", h.status)
	}
	resp, err := client.Get(url + "/faultlab/requests")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var list []map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil || len(list) != 1 || list[0]["step"] != "503" || list[0]["body"] != sides[0].ask {
		t.Errorf("%v %v", err, list)
	}
}

func TestUnknownRoute(t *testing.T) {
	_, client, url := start(t)
	resp, err := client.Get(url + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound || resp.Header.Get("Content-Type") != "application/json" {
		t.Error(resp.Status, resp.Header)
	}
}
