package timeline_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/timeline"
)

var filterNow = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

func TestParseAge(t *testing.T) {
	for text, hours := range map[string]float64{"7d": 168, "0d": 0, "90m": 1.5, "12h": 12} {
		if got, err := timeline.ParseAge(text); err != nil || got.Hours() != hours {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "-1d", "x", "99999999999999999999d", "3651d", "-1h", "90000h"} {
		if got, err := timeline.ParseAge(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestFilterTimes(t *testing.T) {
	for text, want := range map[string]time.Time{
		"":                          {},
		"12h":                       filterNow.Add(-12 * time.Hour),
		"7d":                        filterNow.Add(-7 * 24 * time.Hour),
		"2026-03-01":                time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC),
		"2026-03-01T09:30":          time.Date(2026, time.March, 1, 9, 30, 0, 0, time.UTC),
		"2026-03-01T09:30:00+02:00": time.Date(2026, time.March, 1, 7, 30, 0, 0, time.UTC),
	} {
		var q timeline.Query
		if some, err := (timeline.Filter{Since: text, Until: text}).Restrict(&q, filterNow); err != nil || !some || !q.Since.Equal(want) || !q.Until.Equal(want) {
			t.Errorf("%q: %s, %s, %v", text, q.Since, q.Until, err)
		}
	}
}

func TestAFilterNamesTheFieldThatIsWrong(t *testing.T) {
	for field, f := range map[string]timeline.Filter{
		"status": {Status: "done"}, "kind": {Kind: "bad"}, "order": {Order: "up"}, "since": {Since: "yesterday"}, "until": {Until: "-3d"},
		"label": {Labels: []string{"no value"}},
	} {
		_, err := f.Restrict(&timeline.Query{}, filterNow)
		wrong, ok := errors.AsType[*timeline.FilterError](err)
		if !ok || wrong.Field != field {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if some, err := (timeline.Filter{Labels: []string{"a=1", "a=2"}}).Restrict(&timeline.Query{}, filterNow); some || err != nil {
		t.Errorf("a label with two values: %t, %v", some, err)
	}
}
