package host

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var certificate60 = strings.Repeat("A", 60)

func TestCheckHandshake(t *testing.T) {
	for line, want := range map[string]string{
		"1|1|unix|/d/s|grpc|" + certificate60 + "\n":                                "1|1|unix|/d/s|grpc|" + certificate60,
		"1|1|unix|/d/s|grpc|" + certificate60 + "\r\n":                              "1|1|unix|/d/s|grpc|" + certificate60,
		"1|1|unix|/d/s|grpc|" + certificate60 + "|true\n":                           "1|1|unix|/d/s|grpc|" + certificate60,
		"1|1|unix|/d/s|grpc|" + certificate60:                                       "", // no newline
		" 1|1|unix|/d/s|grpc|" + certificate60 + "\n":                               "",
		"\ufeff1|1|unix|/d/s|grpc|" + certificate60 + "\n":                          "",
		"1|01|unix|/d/s|grpc|" + certificate60 + "\n":                               "",
		"1|1|unix|/d/../d/s|grpc|" + certificate60 + "\n":                           "",
		"1|1|unix|/d/e/s|grpc|" + certificate60 + "\n":                              "",
		"1|1|unix|s|grpc|" + certificate60 + "\n":                                   "",
		"1|1|unix|/d/s|grpc|" + certificate60 + "=\n":                               "",
		"1|1|unix|/d/" + strings.Repeat("s", 100) + "|grpc|" + certificate60 + "\n": "",
		"\n": "",
		"":   "",
	} {
		got, err := checkHandshake(line, "/d", true)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v", line, got, err)
		}
	}
	if got, err := checkHandshake("1|1|unix|/d/s|grpc\n", "/d", false); err != nil || got != "1|1|unix|/d/s|grpc|" {
		t.Errorf("without TLS: %q %v", got, err)
	}
}

// PL-7: whatever a plugin prints first, go-plugin gets a line that it cannot stumble
// over, or there is an error that may be shown.
func FuzzHandshake(f *testing.F) {
	for _, line := range []string{
		"1|1|unix|/d/s|grpc|" + certificate60 + "\n", "1|1|tcp|127.0.0.1:1|grpc|\n", "2|1|unix|/d/s\n", "Welcome!\n", "\x1b]52;c;x\a\n", "|||||||\n", "1|1|unix|/d/\xff|grpc|\n",
	} {
		f.Add(line, true)
		f.Add(line, false)
	}
	f.Fuzz(func(t *testing.T, line string, withTLS bool) {
		got, err := checkHandshake(line, "/d", withTLS)
		if err != nil {
			if text := err.Error(); !utf8.ValidString(text) || len(text) > 2*quoted+200 || printable(text, len(text)) != text {
				t.Errorf("error of %d bytes: %q", len(text), text)
			}
			return
		}
		fields := strings.Split(got, "|")
		if len(fields) != 6 || fields[0] != "1" || fields[1] != "1" || fields[2] != "unix" || !strings.HasPrefix(fields[3], "/d/") ||
			fields[4] != "grpc" || (len(fields[5]) > 50) != withTLS {
			t.Errorf("%q is let through", got)
		}
	})
}
