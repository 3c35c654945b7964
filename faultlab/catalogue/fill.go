package catalogue

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Values are what placeholders stand for.
type Values struct {
	Now   time.Time
	Model string
	Tool  string // "" = no tool is offered
}

var (
	anyPlaceholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	nowPlaceholder = regexp.MustCompile(`^\{\{now(?:([+-][0-9a-z.]+))?\|(http|epoch|rfc3339)\}\}$`)
)

// Fill replaces the placeholders of text.
func (v Values) Fill(text string) string {
	return anyPlaceholder.ReplaceAllStringFunc(text, func(p string) string {
		filled, err := v.one(p)
		if err != nil {
			return p
		}
		return filled
	})
}

func checkPlaceholders(text string) error {
	for _, p := range anyPlaceholder.FindAllString(text, -1) {
		if _, err := (Values{}).one(p); err != nil {
			return err
		}
	}
	return nil
}

func (v Values) one(p string) (string, error) {
	switch p {
	case "{{model}}":
		return inJSON(v.Model), nil
	case "{{tool}}":
		if v.Tool == "" {
			return "get_weather", nil
		}
		return inJSON(v.Tool), nil
	}
	m := nowPlaceholder.FindStringSubmatch(p)
	if m == nil {
		return "", fmt.Errorf("unknown placeholder %s", p)
	}
	at := v.Now.Truncate(time.Second).UTC()
	if m[1] != "" {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			return "", fmt.Errorf("%s: %w", p, err)
		}
		at = at.Add(d)
	}
	switch m[2] {
	case "http":
		return at.Format(http.TimeFormat), nil
	case "epoch":
		return strconv.FormatInt(at.Unix(), 10), nil
	}
	return at.Format(time.RFC3339), nil
}

// inJSON is text as it is written between the quotes of a JSON string.
func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return ""
	}
	return string(quoted[1 : len(quoted)-1])
}
