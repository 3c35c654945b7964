package words

import (
	"testing"
	"time"
)

// TestLocalize: times in UTC are converted to local times, in the local form.
func TestLocalize(t *testing.T) {
	east := time.FixedZone("east", 3*3600)
	now := time.Date(2026, 3, 20, 12, 0, 0, 0, east)
	for at, want := range map[time.Time]string{
		time.Date(2026, 3, 20, 12, 30, 0, 0, time.UTC): "3:30 PM",
		time.Date(2026, 3, 20, 22, 30, 0, 0, time.UTC): "1:30 AM on March 21",
		time.Date(2027, 1, 1, 6, 0, 0, 0, time.UTC):    "9:00 AM on January 1, 2027",
	} {
		if got := Clock(at, now); got != want {
			t.Errorf("clock: %q, want %q", got, want)
		}
		if got := Localize("Continue at "+at.UTC().Format(UTCClock), at, now); got != "Continue at "+want {
			t.Errorf("%q", got)
		}
	}
	if got := Localize("at 00:00 UTC", time.Time{}, now); got != "at 00:00 UTC" {
		t.Errorf("%q", got)
	}
}
