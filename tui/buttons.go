package tui

import "github.com/mulligan-run/mulligan/recovery"

// buttonModels opens the list of the other models.
const buttonModels = "models"

// arranged returns the buttons as they are drawn: several other models are combined into
// one entry.
func arranged(buttons []recovery.Button) (drawn, models []recovery.Button) {
	for _, b := range buttons {
		if switches(b) {
			models = append(models, b)
		}
	}
	if len(models) < 2 {
		return buttons, nil
	}
	opened := false
	for _, b := range buttons {
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

// switches reports whether a button switches to a model other than the suggested one.
func switches(b recovery.Button) bool {
	return !b.Primary && b.Model != "" && (b.Kind == recovery.ButtonSwitchModel || b.Kind == recovery.ButtonLarger)
}
