package main

import (
	"testing"

	"github.com/mulligan-run/mulligan/recovery"
)

func TestPick(t *testing.T) {
	buttons := []recovery.Button{
		{ID: "a1", Kind: recovery.ButtonFixKey, Effect: recovery.EffectClient},
		{ID: "a2", Kind: recovery.ButtonRetry, Effect: recovery.EffectRunner},
		{ID: "a3", Kind: recovery.ButtonStop, Effect: recovery.EffectRunner},
	}
	for answer, want := range map[string]string{"": "a2", "1": "a1", "3": "a3", "0": "", "4": "", "-1": "", "x": "", "1 2": ""} {
		if b, err := pick(buttons, answer); b.ID != want || (err == nil) != (want != "") {
			t.Errorf("%q picks %q, %v", answer, b.ID, err)
		}
	}
	buttons[0].Primary, buttons[2].Primary = true, true
	if b, _ := pick(buttons, ""); b.ID != "a3" {
		t.Errorf("an empty line picks %q, not the primary one", b.ID)
	}
}
