package faultlab_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
)

func TestParse(t *testing.T) {
	got, err := faultlab.Parse(`429:2s, 503, 529, stall:Hello wor, tool:get_weather:{"city":"Oslo","days":[1,2]},
		tool:"Let me, well, look"+a:{"x":1} + b, slow:20ms:one two, cut:"a, b ", hang
		refuse, empty, html502, error, end:x, malformed:y, 418:"teapot", think:"cold, then"+ cut:b,
		think:"c" +tool:"d"+e, answer:All good`)
	if err != nil {
		t.Fatal(err)
	}
	want := []faultlab.Step{
		faultlab.RateLimited(2 * time.Second), faultlab.Unavailable(), faultlab.Overloaded(), faultlab.StallAfter("Hello wor"),
		faultlab.ToolCall("get_weather", `{"city":"Oslo","days":[1,2]}`),
		faultlab.ToolCalls("Let me, well, look", faultlab.Call{Name: "a", Args: `{"x":1}`}, faultlab.Call{Name: "b"}),
		faultlab.SlowAnswer("one two", 20*time.Millisecond), faultlab.CutAfter("a, b "), faultlab.Hang(),
		faultlab.Refuse(), faultlab.Empty200(), faultlab.HTML502(), faultlab.ErrorEventAfter(""), faultlab.EndAfter("x"),
		faultlab.Malformed("y"), faultlab.Status(418, nil, "teapot"),
		faultlab.Thinking("cold, then", faultlab.CutAfter("b")),
		faultlab.Thinking("c", faultlab.ToolCalls("d", faultlab.Call{Name: "e"})), faultlab.Answer("All good"),
	}
	if len(got) != len(want) {
		t.Fatalf("%d steps, want %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("step %d: %+v, want %+v", i+1, got[i], want[i])
		}
	}
}

func TestParseErrors(t *testing.T) {
	for script, want := range map[string]string{
		`503, nope:x`:                     `item 2 ("nope:x"): unknown step "nope"; there are a status such as 503, answer, cut, echo, empty,`,
		`answer`:                          `needs a text`,
		`503,`:                            `item 1`,
		`503,,503`:                        `item 2`,
		`99`:                              `not between`,
		`429:soon`:                        `"soon" is not a duration`,
		`429:-1s`:                         `not a duration`,
		`slow:Hello`:                      `not a duration`,
		`slow`:                            `slow needs`,
		`tool`:                            `tool needs`,
		`tool:get weather`:                `not a tool's name`,
		`tool:f:[1]`:                      `not a JSON object`,
		`tool:f:{"a":`:                    `not a JSON object`,
		`tool:"x"f`:                       `a + belongs`,
		`cut:"open`:                       `no end`,
		`cut:"a" b`:                       `expected a comma`,
		`hang:x`:                          `expected a comma`,
		`think`:                           `think needs`,
		`think:deep+answer:x`:             `think needs`,
		`think:"x`:                        `no end`,
		`think:"x"`:                       `a + belongs`,
		`think:"x"+503`:                   `nothing can be thought before "503"`,
		`think:"x"+think:"y"+answer:z`:    `nothing can be thought before`,
		strings.Repeat("503\n", 257):      `more than 256`,
		strings.Repeat(" ", (64<<10)+1):   `longer than`,
		`answer:ok, tool:f:{} trailing,x`: `item 2`,
	} {
		if _, err := faultlab.Parse(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", script, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`429:2s, 503, stall:Hello wor, tool:get_weather:{"city":"Oslo"}, answer:All good`)
	f.Add("row:A03, kind:overloaded\nrow:O12-server_error")
	f.Add(`think:"b"+answer:c, think:"d"+tool:"e"+f:{}`)
	f.Add(`tool:"a\u00e9"+x:{}+y, 503:"\x00", slow:1s:"b"`)
	f.Fuzz(func(t *testing.T, script string) {
		steps, err := faultlab.Parse(script)
		if err != nil && (steps != nil || !strings.HasPrefix(err.Error(), "script")) {
			t.Fatalf("%v with %d steps", err, len(steps))
		}
		for _, s := range steps {
			if s.Name() == "" {
				t.Fatal("a step without a name")
			}
		}
	})
}
