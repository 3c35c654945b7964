package tui

import (
	"cmp"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// buttonModels opens the choice between the other models.
const buttonModels = "models"

// arranged gives buttons as they are drawn: what is suggested first, Stop last, and the other
// models, where there are several, behind one entry, which are models.
func arranged(buttons []recovery.Button) (drawn, models []recovery.Button) {
	place := func(b recovery.Button) int {
		switch {
		case b.Primary:
			return 0
		case b.Kind == recovery.ButtonStop:
			return 2
		}
		return 1
	}
	sorted := slices.Clone(buttons)
	slices.SortStableFunc(sorted, func(a, b recovery.Button) int { return cmp.Compare(place(a), place(b)) })
	for _, b := range sorted {
		if switches(b) {
			models = append(models, b)
		}
	}
	if len(models) < 2 {
		return sorted, nil
	}
	opened := false
	for _, b := range sorted {
		switch {
		case !switches(b):
			drawn = append(drawn, b)
		case !opened:
			opened = true
			drawn = append(drawn, recovery.Button{Kind: buttonModels, Label: "Switch model…", Effect: recovery.EffectClient})
		}
	}
	return drawn, models
}

// switches reports whether a button is for another model than the suggested one.
func switches(b recovery.Button) bool {
	return !b.Primary && b.Model != "" && (b.Kind == recovery.ButtonSwitchModel || b.Kind == recovery.ButtonLarger)
}
