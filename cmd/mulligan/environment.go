package main

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
)

// amend overrides the file by MULLIGAN_<KEY>.
func (c *config) amend(env func(string) string) error {
	for _, v := range c.variables() {
		text := env(v.name)
		if text == "" {
			continue
		}
		if err := v.set(text); err != nil {
			return fmt.Errorf("environment %s: %w", v.name, err)
		}
	}
	return nil
}

// variable is one name of the environment.
type variable struct {
	name string
	set  func(text string) error
}

func (c *config) variables() []variable {
	list := []variable{
		{"MULLIGAN_MODEL", c.setModel},
		{"MULLIGAN_FALLBACKS", func(text string) error { return c.setFallbacks(splitList(text)) }},
		{"MULLIGAN_AUTO_RECOVER", func(text string) error { return setBool(&c.AutoRecover, text) }},
		{"MULLIGAN_STEP_COUNTS_TEXT", func(text string) error { return setBool(&c.StepText, text) }},
		{"MULLIGAN_MAX_RETRIES", c.setMaxRetries},
		{"MULLIGAN_MAX_ROUNDS", func(text string) error { return setCount(&c.MaxRounds, text, maxRoundsLimit) }},
		{"MULLIGAN_PARALLEL_TOOLS", func(text string) error { return setCount(&c.Parallel, text, parallelLimit) }},
		{"MULLIGAN_BUDGET_TOKENS", func(text string) error { return setTokens(&c.Budget.Tokens, text) }},
		{"MULLIGAN_BUDGET_DOLLARS", func(text string) error { return setDollars(&c.Budget.Dollars, text) }},
		{"MULLIGAN_BUDGET_DAY_TOKENS", func(text string) error { return setTokens(&c.Budget.DayTokens, text) }},
		{"MULLIGAN_BUDGET_DAY_DOLLARS", func(text string) error { return setDollars(&c.Budget.DayDollars, text) }},
		{"MULLIGAN_STATE", func(text string) error { c.State = text; return nil }},
	}
	for _, timer := range recovery.SettableTimers() {
		list = append(list, variable{timeoutVariable(timer), func(text string) error { return c.setTimeout(timer, text) }})
	}
	return list
}

func (c *config) setModel(name string) error {
	c.Model = name
	return checkModel(name)
}

func (c *config) setFallbacks(names []string) error {
	for _, name := range names {
		if err := checkModel(name); err != nil {
			return err
		}
	}
	c.Fallbacks = names
	return nil
}

func setBool(to *bool, text string) (err error) {
	if *to, err = strconv.ParseBool(text); err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	return nil
}

func (c *config) setMaxRetries(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxRetriesLimit {
		return fmt.Errorf("%q is not a number between 0 and %d", text, maxRetriesLimit)
	}
	c.MaxRetries = &n
	return nil
}

func setCount(to **int, text string, limit int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		return fmt.Errorf("%q is not a number between 0 (no limit) and %d", text, limit)
	}
	*to = &n
	return nil
}

func (c *config) setTimeout(timer failure.Timer, text string) error {
	value, err := parseTimeout(string(timer), text)
	if c.environment == nil {
		c.environment = recovery.Settings{}
	}
	c.environment[timer] = value
	return err
}

func splitList(text string) []string {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// stateDir is where runs are kept.
func (c *config) stateDir(env func(string) string) (string, error) {
	switch {
	case c.State != "":
		return c.State, nil
	case filepath.IsAbs(env("XDG_STATE_HOME")):
		return filepath.Join(env("XDG_STATE_HOME"), "mulligan"), nil
	case env("HOME") != "":
		return filepath.Join(env("HOME"), ".local", "state", "mulligan"), nil
	}
	return "", usagef("there is no place for the state: HOME is not set; set it or XDG_STATE_HOME, or say --state DIR")
}
