package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
)

// envPrefix begins the names of the variables that override the file.
const envPrefix = "MULLIGAN_"

// Amend overrides the file by MULLIGAN_<KEY>.
func (c *Config) Amend(env func(string) string) error {
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

// variable is an environment variable that overrides a key of the file.
type variable struct {
	name string
	set  func(text string) error
}

func (c *Config) variables() []variable {
	list := []variable{
		{"MULLIGAN_MODEL", c.SetModel},
		{"MULLIGAN_FALLBACKS", func(text string) error { return c.SetFallbacks(splitList(text)) }},
		{"MULLIGAN_AUTO_RECOVER", func(text string) error { return setBool(&c.AutoRecover, text) }},
		{"MULLIGAN_STEP_COUNTS_TEXT", func(text string) error { return setBool(&c.StepText, text) }},
		{"MULLIGAN_MAX_RETRIES", c.SetMaxRetries},
		{"MULLIGAN_MAX_ROUNDS", func(text string) error { return SetCount(&c.MaxRounds, text, MaxRoundsLimit) }},
		{"MULLIGAN_PARALLEL_TOOLS", func(text string) error { return SetCount(&c.Parallel, text, parallelLimit) }},
		{"MULLIGAN_BUDGET_TOKENS", func(text string) error { return SetTokens(&c.Budget.Tokens, text) }},
		{"MULLIGAN_BUDGET_DOLLARS", func(text string) error { return SetDollars(&c.Budget.Dollars, text) }},
		{"MULLIGAN_BUDGET_DAY_TOKENS", func(text string) error { return SetTokens(&c.Budget.DayTokens, text) }},
		{"MULLIGAN_BUDGET_DAY_DOLLARS", func(text string) error { return SetDollars(&c.Budget.DayDollars, text) }},
		{"MULLIGAN_STATE", func(text string) error { c.State = text; return nil }},
		{"MULLIGAN_STORE", c.SetStore},
		{"MULLIGAN_MACHINE", c.setMachine},
	}
	for _, timer := range recovery.SettableTimers() {
		list = append(list, variable{timeoutVariable(timer), func(text string) error { return c.setTimeout(timer, text) }})
	}
	return list
}

// SetModel sets the model that runs begin with. The error says what is wrong with its name.
func (c *Config) SetModel(name string) error {
	c.Model = name
	return CheckModel(name)
}

// SetStore sets the database that runs are kept in, "" for a file in the state folder. The error
// does not repeat the address, which may contain a password.
func (c *Config) SetStore(address string) error {
	if address != "" && !strings.HasPrefix(address, "postgres://") && !strings.HasPrefix(address, "postgresql://") {
		return errors.New("a store has an address like postgres://user@host:5432/database; without one runs are kept in the state folder")
	}
	if passwordBesideItsPlace(address) {
		return errors.New("the store's address has an @ after its user and password: in a password write @ : / ? # as %40 %3A %2F %3F %23, or keep it in the file that PGPASSFILE names")
	}
	c.Store = address
	return nil
}

// passwordBesideItsPlace reports whether a part of a password was read as another part of an address,
// which would be shown as that.
func passwordBesideItsPlace(address string) bool {
	_, rest, _ := strings.Cut(address, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	path, query, _ := strings.Cut(rest[end:], "?")
	name, _, _ := strings.Cut(query, "=")
	return strings.Count(rest[:end], "@") > 1 || strings.Contains(path+name, "@")
}

// SetFallbacks sets the models that a run may be switched to, in order of preference.
func (c *Config) SetFallbacks(names []string) error {
	for _, name := range names {
		if err := CheckModel(name); err != nil {
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

// SetMaxRetries reads how often a model call is retried, 0 to 5.
func (c *Config) SetMaxRetries(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > maxRetriesLimit {
		return fmt.Errorf("%q is not a whole number between 0 and %d", text, maxRetriesLimit)
	}
	c.MaxRetries = &n
	return nil
}

// SetCount reads a number from 0 to limit.
func SetCount(to **int, text string, limit int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > limit {
		return fmt.Errorf("%q is not a whole number between 0 (no limit) and %d", text, limit)
	}
	*to = &n
	return nil
}

func (c *Config) setTimeout(timer failure.Timer, text string) error {
	value, err := parseTimeout(string(timer), text)
	if c.Environment == nil {
		c.Environment = recovery.Settings{}
	}
	c.Environment[timer] = value
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

// StateDir is the folder in which runs are kept: c.State or, if that is empty, mulligan below
// XDG_STATE_HOME or below ~/.local/state. It fails if none of them is set.
func (c *Config) StateDir(env func(string) string) (string, error) {
	switch {
	case c.State != "":
		return c.State, nil
	case filepath.IsAbs(env("XDG_STATE_HOME")):
		return filepath.Join(env("XDG_STATE_HOME"), "mulligan"), nil
	case env("HOME") != "":
		return filepath.Join(env("HOME"), ".local", "state", "mulligan"), nil
	}
	return "", exit.Usagef("there is no place for the state: HOME is not set; set it or XDG_STATE_HOME, or say --state DIR")
}

// EngineDir is the absolute path of the folder below which engines keep their files. It fails where
// StateDir does.
func (c *Config) EngineDir() (string, error) {
	dir, err := c.StateDir(os.Getenv)
	if err != nil {
		return "", err
	}
	return filepath.Abs(filepath.Join(dir, "engines"))
}
