package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// models handles the list of models according to why it was asked for.
func (c *Chat) models(msg modelsMsg) tea.Cmd {
	for _, m := range msg.models {
		if m.Default {
			c.standard = m.Name
		}
	}
	if msg.choice == knowModels {
		return nil // it was only for the line at the bottom
	}
	c.complain(msg.err)
	names := ready(msg.models)
	switch {
	case msg.err != nil:
	case len(names) == 0:
		c.notice = "No model has credentials: `mulligan doctor` says what is missing."
	case msg.choice == askModels:
		c.menu = &menu{"The model for your next messages", names, c.useModel}
	case msg.choice > len(names):
		c.notice = fmt.Sprintf("There is no model %d. ", msg.choice) + list(names)
	default:
		return c.useModel(names[msg.choice-1])
	}
	return nil
}

// modelChosen says which model the next message goes to, or why it cannot be changed.
func (c *Chat) modelChosen(msg chosenMsg) {
	if msg.err != nil {
		c.complain(msg.err)
		if names := ready(msg.there); len(names) > 0 && c.notice != "" {
			c.notice += " " + list(names)
		}
		return
	}
	c.model, c.defaults = msg.model, msg.defaults
	c.notice = "Your next message goes to " + line(msg.model) + "."
}

// ready are the names of the models that can be used now.
func ready(models []client.Model) []string {
	var names []string
	for _, m := range models {
		if m.Ready {
			names = append(names, m.Name)
		}
	}
	return names
}

// list shows models with the numbers that /model accepts.
func list(names []string) string {
	numbered := make([]string, len(names))
	for i, name := range names {
		numbered[i] = fmt.Sprintf("%d %s", i+1, line(name))
	}
	return "Models that can be used: " + strings.Join(numbered, ", ") + "."
}
