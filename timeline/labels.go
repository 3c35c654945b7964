package timeline

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// LabelText are a run's labels in the form in which a Summary has them: a JSON object with its
// keys in order, "" for none.
type LabelText string

func labelText(l recovery.Labels) LabelText {
	if len(l) == 0 {
		return ""
	}
	text, _ := json.Marshal(l) // strings always can be
	return LabelText(text)
}

// Labels are the labels; nil for none.
func (t LabelText) Labels() recovery.Labels {
	var l recovery.Labels
	if t != "" {
		_ = json.Unmarshal([]byte(t), &l) // we wrote it
	}
	return l
}

// LabelTexts are the labels that q asks for, each as it stands in the LabelText of a run that has
// it and of no other: no quotation mark within a value stands there by itself.
func (q Query) LabelTexts() []string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		text := string(labelText(recovery.Labels{key: q.Labels[key]}))
		pairs = append(pairs, text[1:len(text)-1])
	}
	return pairs
}
