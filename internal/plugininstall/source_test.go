package plugininstall

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestParseSource(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("0a", 32)
	for text, want := range map[string]Source{
		"pypi:my-rules":                {Kind: KindPyPI, Name: "my-rules"},
		"pypi:my-rules@1.0rc1":         {Kind: KindPyPI, Name: "my-rules", Version: "1.0rc1"},
		"npm:@scope/rules":             {Kind: KindNPM, Name: "@scope/rules"},
		"npm:@scope/rules@2.0.0":       {Kind: KindNPM, Name: "@scope/rules", Version: "2.0.0"},
		"go:example.com/a/cmd/x@v1.2.": {Kind: KindGo, Name: "example.com/a/cmd/x", Version: "v1.2."},
		"cargo:my_rules@0.1.0":         {Kind: KindCargo, Name: "my_rules", Version: "0.1.0"},
		"./rules":                      {Kind: KindFolder, Name: filepath.Join(here, "rules")},
		"..":                           {Kind: KindFolder, Name: filepath.Dir(here)},
		"https://example.com/a.tar.gz#sha256=" + sum: {Kind: KindArchive, Name: "https://example.com/a.tar.gz", SHA256: sum},
	} {
		if got, err := ParseSource(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}

func TestParseSourceRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"rules":                               "not a place that plugins come from",
		"gem:rules":                           "not a place that plugins come from",
		"pypi:--index-url=https://evil":       "not a name",
		"pypi:a@--pre":                        "not a version",
		"npm:../../etc":                       "not a name",
		"npm:a b":                             "not a name",
		"go:-x.com/a":                         "not a name",
		"go:local":                            "not a name",
		"cargo:--git":                         "not a name",
		"http://example.com/a.zip":            "https only",
		"https://":                            "not an address",
		"https://me:pw@example.com/a.zip":     "password",
		"https://example.com/a.zip#sha1=1234": "64 hex digits",
		"https://x/" + strings.Repeat("a", maxSource): "more than",
	} {
		if got, err := ParseSource(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
