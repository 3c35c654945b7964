package timeline

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mulligan-run/mulligan/recovery"
)

// LabelText is a run's labels as a Summary holds them: a JSON object with its keys in order, "" for
// none.
type LabelText string

func labelText(l recovery.Labels) LabelText {
	if len(l) == 0 {
		return ""
	}
	text, _ := json.Marshal(l) // strings can always be encoded
	return LabelText(text)
}

// Labels decodes t; nil for none.
func (t LabelText) Labels() recovery.Labels {
	var l recovery.Labels
	if t != "" {
		_ = json.Unmarshal([]byte(t), &l) // we wrote it
	}
	return l
}

// AbleText is q.Able as a JSON object; nil if q.Able does not restrict.
func (q Query) AbleText() *string {
	if q.Able == nil {
		return nil
	}
	text := cmp.Or(string(labelText(q.Able)), "{}")
	return &text
}

// LabelTexts are the labels that q asks for, each as it appears in the LabelText of every run that
// has it, and of no other run: quotation marks within values are escaped.
func (q Query) LabelTexts() []string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(q.Labels)) {
		text := string(labelText(recovery.Labels{key: q.Labels[key]}))
		pairs = append(pairs, text[1:len(text)-1])
	}
	return pairs
}
