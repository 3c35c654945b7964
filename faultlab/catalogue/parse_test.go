package catalogue

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const example = `# An example.
kind: overloaded
retryable: no
wait: 1.5s
resets: 2026-04-01T00:00:00Z
note: one
note: two

== anthropic gemini
200
content-type: text/plain
date: {{now-1h|http}}

first

@send "a\xff\r"
@pause 2s
@repeat 3
: ping
@big 2MiB
@again
@# nobody sees this
last
@reset

== openai
raw

@send "SSH"
@cut
`

func TestParse(t *testing.T) {
	scripts, err := parse("A06-x", example)
	if err != nil || len(scripts) != 3 {
		t.Fatalf("%v: %d scripts", err, len(scripts))
	}
	s := scripts[1]
	no, wait := false, 1500*time.Millisecond
	want := Script{
		Row: "A06", Variant: "x", Wire: "gemini",
		Expect: Expectation{Kind: "overloaded", Retryable: &no, Wait: &wait, ResetsAt: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Note: "one two"},
		Status: 200, Header: [][2]string{{"content-type", "text/plain"}, {"date", "{{now-1h|http}}"}},
		Acts: []Act{
			{Do: Send, Data: "first\n\na\xff\r"},
			{Do: Pause, For: 2 * time.Second},
			{Do: Repeat, Times: 3, Acts: []Act{{Do: Send, Data: ": ping\n"}, {Do: Big, Size: 2 << 20}}},
			{Do: Send, Data: "last\n"},
			{Do: Reset},
		},
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v", s)
	}
	if raw := scripts[2]; raw.Status != 0 || raw.Wire != "openai" || len(raw.Acts) != 2 || s.Name() != "A06-x" {
		t.Errorf("%+v", raw)
	}
}

// TestEmptyLines: they are sent, but not after an end.
func TestEmptyLines(t *testing.T) {
	for body, want := range map[string]string{
		"":                "",
		"\n":              "",
		"\nx\n":           "x\n",
		"\nx\n\n":         "x\n\n",
		"\nx\n\n@end\n\n": "x\n\n",
	} {
		scripts, err := parse("A06", "== openai\n200\n"+body+"== gemini\n200\n")
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, a := range scripts[0].Acts {
			got += a.Data
		}
		if got != want {
			t.Errorf("%q sends %q, want %q", body, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const section = "== openai\n200\n\n"
	for text, want := range map[string]string{
		"":                                            "no section",
		"kind: nonsense\n":                            "no kind",
		"kind: answer\nretryable: yes\n":              "an answer is not retryable",
		"retryable: perhaps\n":                        "neither yes nor no",
		"wait: soon\n":                                "not a wait",
		"text: hello\n":                               "only an answer",
		"surprise: x\n":                               "unknown key",
		"note\n":                                      "key: value",
		"== \n200\n":                                  "without a wire",
		"== telex\n200\n":                             "no wire",
		"== openai\n200\n== *\n200\n":                 "second section",
		"== openai\n":                                 "neither a status nor raw",
		"== openai\n100\n":                            "neither a status nor raw",
		"== openai\nraw\nx: y\n":                      "no header",
		"== openai\n200\nBad Name: y\n":               "not a header",
		"== openai\n200\nx: {{tomorrow}}\n":           "placeholder",
		section + "{{now+x|http}}\n":                  "invalid duration",
		section + "@send hello\n":                     "string as in Go",
		section + "@pause 2h\n":                       "not a pause",
		section + "@big 9GiB\n":                       "not a size",
		section + "@big 999MiB\n":                     "not a size",
		section + "@repeat 0\n":                       "not a number",
		section + "@repeat 2\nx\n":                    "without its @again",
		section + "@repeat 2\n@again\n":               "nothing",
		section + "@repeat\nx\n@again\n":              "without a pause",
		section + "@again\n":                          "unknown act",
		section + "@sing\n":                           "unknown act",
		section + "@repeat 2\n@hang\n@again":          "does not belong",
		section + "@cut\nx\n":                         "follows the end",
		section + "@raw \"x\"\n@hang\n":               "must end",
		"== openai\nraw\n\nx\n@hang\n":                "must end",
		section + strings.Repeat("@pause 1s\n", 1025): "more than",
		strings.Repeat("#", 300<<10):                  "longer than",
	} {
		if _, err := parse("A06", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
	if _, err := parse("Z99", example); err == nil {
		t.Error("a script without a row")
	}
	if _, err := parse("O12", section); err == nil {
		t.Error("a script that leaves the kind open")
	}
}

func TestFill(t *testing.T) {
	v := Values{Now: time.Date(2026, 3, 20, 12, 0, 0, 999, time.FixedZone("", 3600)), Model: `m"1`}
	for in, want := range map[string]string{
		"{{now|http}}":          "Fri, 20 Mar 2026 11:00:00 GMT",
		"{{now+7s|epoch}}":      "1774004407",
		"{{now-1h|rfc3339}}":    "2026-03-20T10:00:00Z",
		`"{{model}}/{{tool}}"`:  `"m\"1/get_weather"`,
		`{"a":{"b":{"c":1}}}\n`: `{"a":{"b":{"c":1}}}\n`,
		"{{what}}":              "{{what}}",
	} {
		if got := v.Fill(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("A06", example)
	entries, _ := files.ReadDir("rows")
	for _, entry := range entries {
		if data, _ := files.ReadFile("rows/" + entry.Name()); len(data) < 4<<10 {
			f.Add(strings.TrimSuffix(entry.Name(), ".txt"), string(data))
		}
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		scripts, err := parse(name, text)
		if err != nil {
			return
		}
		for _, s := range scripts {
			if s.Expect.Kind == "-" || s.Status != 0 && (s.Status < 200 || s.Status > 599) {
				t.Errorf("%+v", s)
			}
			for _, a := range s.Acts {
				if a.For < 0 || a.For > maxPause || a.Size > maxBig || a.Times > maxRepeat {
					t.Errorf("%+v", a)
				}
			}
		}
	})
}
