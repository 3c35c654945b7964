package failure

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// copyText is the copy catalogue's text for a class or variant.
type copyText struct {
	Code     Code                `json:"code"`
	Short    string              `json:"short"`
	Title    string              `json:"title"`
	Message  string              `json:"message"`
	Variants map[string]copyText `json:"variants"`
}

// copyCatalogue reads the wording for the clients, which is outside of this repository.
func copyCatalogue(t *testing.T) map[string]copyText {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "ui", "copy.en.json"))
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("the copy catalogue is missing: %v", err)
	}
	if err != nil {
		t.Skipf("NOT TESTED: the copy catalogue is missing: %v", err)
	}
	var file struct {
		Classes map[string]copyText `json:"classes"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Classes
}

// kindsOfCopy are the classes and variants that are kinds with another name here.
var kindsOfCopy = map[string]Kind{
	"rate_limit/plan": KindQuota, "unavailable/overloaded": KindOverloaded, "stream_interrupted/empty": KindEmptyResponse,
}

// notSaid are the texts that no Failure has, each with the reason.
var notSaid = map[string]string{
	"plugin_failure": "a warning beside a run, of whoever asks the plugins; no attempt fails of it",
}

// ours are the kinds that are newer than the catalogue.
var ours = map[Kind]bool{KindRoundLimit: true}

// lacking are the variants for a failure of which something is not known.
var lacking = map[string]func(f *Failure){
	"no_step":  func(f *Failure) { f.LastStep = "" },
	"no_reset": func(f *Failure) { f.RetryAfter, f.ResetsAt = 0, time.Time{} },
}

// TestWordsAreTheCopyCatalogues compares the words of every class and variant, with everything
// known, with the catalogue's title and message, letter by letter.
func TestWordsAreTheCopyCatalogues(t *testing.T) {
	classes := copyCatalogue(t)
	said := map[Kind]bool{}
	for class, text := range classes {
		all := map[string]copyText{"": text}
		for name, variant := range text.Variants {
			variant.Short, variant.Code = cmp.Or(variant.Short, cmp.Or(variant.Title, text.Short)), text.Code
			variant.Title, variant.Message = cmp.Or(variant.Title, text.Title), cmp.Or(variant.Message, text.Message)
			all[name] = variant
		}
		for variant, text := range all {
			name := strings.TrimSuffix(class+"/"+variant, "/")
			if why := notSaid[name]; why != "" {
				t.Logf("%s: %s", name, why)
				continue
			}
			f := fromCopy(class, variant)
			said[f.Kind] = true
			if f.Code != text.Code {
				t.Errorf("%s: code %s, the catalogue has %s", name, f.Code, text.Code)
			}
			for what, pair := range map[string][2]string{"title": {f.Title, text.Title}, "message": {f.Message, text.Message}} {
				if want := filledCopy(t, f.Kind, pair[1]); pair[0] != want {
					t.Errorf("%s, %s:\n got %s\nwant %s", name, what, pair[0], want)
				}
			}
			if want := filledCopy(t, f.Kind, text.Short); variant == "" && f.Short() != want {
				t.Errorf("%s, short: %s, want %s", name, f.Short(), want)
			}
		}
	}
	for _, kind := range Kinds() {
		if !said[kind] && !ours[kind] {
			t.Errorf("the catalogue has no words for %s", kind)
		}
	}
}

// fromCopy is a failure of the catalogue's class and variant with everything known.
func fromCopy(class, variant string) *Failure {
	kind := cmp.Or(kindsOfCopy[class+"/"+variant], Kind(class))
	f := NewFailure(kind, OriginModel, "", nil)
	if kind == Kind(class) {
		f.Variant = variant
	}
	f.Provider, f.Model, f.Tool, f.HTTPStatus = "anthropic", "anthropic/m", "web_search", 503
	f.Limit, f.Elapsed, f.LastStep, f.Detail = 120_000, 130_000, "web_search", "No such thing."
	f.RetryAfter, f.ResetsAt = 3_600_000, testNow
	if without := lacking[variant]; without != nil {
		without(f)
		f.Variant = ""
	}
	words := copyWords
	if kind == KindMalformedResponse {
		words.PartialWords = 0 // the partial text that was shown is not withdrawn yet
	}
	f.Describe(words)
	return f
}

var copyWords = Words{
	KeyHint: "wxyz", EnvVar: "ANTHROPIC_API_KEY", PartialWords: 12, ContextTokens: 213_462, ContextLimit: 200_000,
	TokenLimit: 4096, Spent: "12,000 tokens", Budget: "10,000 tokens", Reason: "The file is gone.",
}

var (
	copyLink        = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	copyPlaceholder = regexp.MustCompile(`\{[^}]*\}`)
)

// filledCopy fills the values of fromCopy into a text of the catalogue. A link becomes its text.
func filledCopy(t *testing.T, kind Kind, text string) string {
	t.Helper()
	values := map[string]string{
		"provider": "Anthropic", "model": "m", "tool": "web_search", "limit": "2 min", "elapsed": "2 min 10 s", "idle": "2 min",
		"lastStep": "web_search", "httpStatus": "503", "keyHint": "wxyz", "envVar": "ANTHROPIC_API_KEY", "resetsAt": "12:00 UTC", "resetsIn": "1 h",
		"contextTokens": "213,462", "contextLimit": "200,000", "partialWords": "12", "category": " (The file is gone.)",
		"providerMessage": "No such thing.", "toolMessage": "The file is gone", "reason": "The file is gone.",
		"spent": "12,000 tokens", "budget": "10,000 tokens",
	}
	if kind == KindOutputTruncated {
		values["limit"] = "4,096" // tokens
	}
	text = copyLink.ReplaceAllString(text, "$1")
	return copyPlaceholder.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := values[strings.Trim(name, "{}")]
		if !ok {
			t.Errorf("nobody knows the placeholder %s in: %s", name, text)
		}
		return value
	})
}
