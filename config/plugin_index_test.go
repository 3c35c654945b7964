package config

import (
	"bytes"
	"strings"
	"testing"
)

func TestPluginIndex(t *testing.T) {
	key := strings.Repeat("A", 43) + "="
	c, err := Parse([]byte("plugin_index: {url: \"https://plugins.example.com/index.json\", key: \"" + key + "\"}\n"))
	if err != nil || !bytes.Equal(c.PluginIndex.PublicKey(), make([]byte, 32)) {
		t.Errorf("%+v, %v", c, err)
	}
	for source, want := range map[string]string{
		"plugin_index: {url: \"https://x/i.json\"}\n":                           "public key",
		"plugin_index: {key: \"" + key[4:] + "\"}\n":                            "public key",
		"plugin_index: {url: \"http://x/i.json\", key: \"" + key + "\"}\n":      "https://",
		"plugin_index: {url: \"https://a:b@x/i.json\", key: \"" + key + "\"}\n": "password",
	} {
		if _, err := Parse([]byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
	}
	if (&Config{}).PluginIndex.PublicKey() != nil {
		t.Error("there is a key where there is no index")
	}
}
