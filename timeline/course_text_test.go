package timeline

import (
	"encoding/json"
	"reflect"
	"testing"
	"testing/quick"

	"github.com/mulligan-run/mulligan/recovery"
)

// TestCourseTextIsJSON: what is encoded by hand is what encoding/json would give, and is read back.
func TestCourseTextIsJSON(t *testing.T) {
	same := func(c Course, part uint8) bool {
		if part&1 == 0 {
			c.Provider, c.Offers, c.Approval, c.Prices = "", nil, "", nil
		}
		for i, field := range []*int64{&c.Tokens, &c.Wasted, &c.Microdollars, &c.WastedMicrodollars} {
			if part&(2<<i) == 0 {
				*field = 0
			}
		}
		want, err := json.Marshal(c)
		if err != nil {
			return true // a price that is no number
		}
		if string(want) == "{}" {
			want = nil
		}
		var read Course
		if want != nil {
			_ = json.Unmarshal(want, &read)
		}
		return string(c.text()) == string(want) && reflect.DeepEqual(c.text().Course(), read)
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
	for _, c := range []Course{{}, {Attempts: 1}, {Failed: 2}, {Tokens: -3}, {Provider: "p", Attempts: 1}, {Prices: map[string]recovery.Price{}}} {
		if !same(c, 255) {
			t.Errorf("%+v became %q", c, c.text())
		}
	}
}

// TestCourseTextOfOthers: a text in another form is decoded all the same.
func TestCourseTextOfOthers(t *testing.T) {
	for text, want := range map[CourseText]Course{
		`{"tokens":5,"attempts":1}`:      {Attempts: 1, Tokens: 5},
		`{ "attempts": 1 }`:              {Attempts: 1},
		`{"attempts":1,"later":"x"}`:     {Attempts: 1},
		`{"failed":2,"provider":"a,b:"}`: {Failed: 2, Provider: "a,b:"},
		`{`:                              {},
		`{}`:                             {},
	} {
		if got := text.Course(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %+v", text, got)
		}
	}
}
