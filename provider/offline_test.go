package provider_test

import (
	"testing"

	"github.com/mulligan-run/mulligan/provider"
)

func TestOnline(t *testing.T) {
	s, err := provider.New([]provider.Entry{
		{Name: "anthropic", Type: provider.TypeAnthropic},
		{Name: "here", Type: provider.TypeOpenAI, BaseURL: "http://127.0.0.1:9/v1"},
		{Name: "proxied", Type: provider.TypeOpenAI, Proxy: "http://localhost:9"},
		{Name: "private", Type: provider.TypeOpenAI, BaseURL: "http://127.0.0.2:9/v1", AllowPrivate: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, models := range map[string][]string{
		"none":                              nil,
		"unknown ones":                      {"nobody/m", "m", ""},
		"one of this machine":               {"here/m"},
		"one of this machine among others":  {"anthropic/m", "nobody/m", "here/m"},
		"one behind a proxy of the machine": {"anthropic/m", "proxied/m"},
		"another address of the machine":    {"private/m"},
	} {
		if s.Offline(t.Context(), models) {
			t.Errorf("%s: offline", name)
		}
	}
}
