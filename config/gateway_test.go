package config

import (
	"strings"
	"testing"
)

func TestHowMuchTheGatewayServes(t *testing.T) {
	c, err := Parse([]byte("gateway: {writes: 100, streams: 5, live: 'box:8485'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if l := c.Gateway.Limits(); l.Writes != 100 || l.Streams != 5 || l.Reads != 0 || c.Gateway.Live != "box:8485" {
		t.Errorf("%+v", l)
	}
	for _, wrong := range []string{"writes: 0", "reads: -1", "streams: 100001", "nothing: 1", "writes: many", "live: here", "live: ':8485'"} {
		if _, err := Parse([]byte("gateway: {" + wrong + "}\n")); err == nil || !strings.Contains(err.Error(), wrong[:4]) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
