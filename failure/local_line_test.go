package failure

import (
	"testing"
	"time"
)

// TestLocalLine: times in UTC are converted to local times, in the local form.
func TestLocalLine(t *testing.T) {
	east := time.FixedZone("east", 3*3600)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, east)
	f := NewFailure(KindQuota, OriginModel, PhaseBeforeFirstEvent, nil)
	f.Model = "anthropic/m"
	for at, want := range map[time.Time]string{
		time.Date(2026, 3, 20, 12, 30, 0, 0, time.UTC): "3:30 PM",
		time.Date(2026, 3, 20, 22, 30, 0, 0, time.UTC): "1:30 AM on March 21",
		time.Date(2027, 1, 1, 6, 0, 0, 0, time.UTC):    "9:00 AM on January 1, 2027",
	} {
		for _, in := range []time.Duration{0, time.Hour} {
			f.ResetsAt, f.RetryAfter = at, InMillis(in)
			f.Describe(Words{})
			wanted := "Usage limit reached for m. It resets at " + want
			if got := f.LocalLine(now); got != wanted+"." && got != wanted+" (in 1 h)." {
				t.Errorf("%q, want %q", got, wanted)
			}
		}
	}
}

// TestRowThatDecided: a failure names the row that decided its kind, and no row if none did.
func TestRowThatDecided(t *testing.T) {
	rows, err := NewLocal([]LocalRow{{Kind: KindBilling, Text: "no more units", Source: "row 2 of mulligan.yaml"}})
	if err != nil {
		t.Fatal(err)
	}
	if f := rows.Classify(Evidence{Status: 429, Body: []byte(`{"error":{"message":"There are no more units."}}`)}); f.Kind != KindBilling || f.Row != "row 2 of mulligan.yaml" {
		t.Errorf("%s by %q", f.Kind, f.Row)
	}
	if f := rows.Classify(Evidence{Status: 429, Body: []byte(`{"error":{"message":"Too many requests."}}`)}); f.Row != "" {
		t.Errorf("%s by %q", f.Kind, f.Row)
	}
}
