package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// Limits of a Spec.
const (
	DefaultGrace = 10 * time.Second
	MinOutput    = 1 << 10 // bytes
	maxSchema    = 64 << 10
)

// Spec says which program a tool is and how to run it.
type Spec struct {
	Name        string          // 1 to 64 letters, digits, '_' and '-', as providers require
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments, of the type object; nil = any object
	Command     []string        // the program and its arguments, without a shell; a relative path begins at Dir, a bare name is looked up in PATH
	Dir         string          // where it runs; "" = this process's working directory
	Env         []string        // NAME or NAME=value, in addition to PATH, HOME, LANG, TZ and TMPDIR; a NAME that this process does not have is left out
	Safety      recovery.Safety // the default: a call is never repeated
	Timeout     time.Duration   // of a call; 0 = the run's policy
	Grace       time.Duration   // from SIGTERM to SIGKILL; 0 = DefaultGrace
	MaxOutput   int             // bytes of a result, from MinOutput to runner.MaxToolResult; 0 = the latter; a longer result loses its middle
}

// command is a Spec that has been checked.
type command struct {
	Spec
	path string // of the program, absolute
}

// Tool makes a tool from a program. The error says what is wrong with the spec, or that there is no
// such program.
func Tool(spec Spec) (runner.Tool, error) {
	c := &command{Spec: spec}
	if err := c.check(); err != nil {
		return runner.Tool{}, fmt.Errorf("tool %q: %w", spec.Name, err)
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = runner.MaxToolResult
	}
	return runner.Tool{
		Name: spec.Name, Description: spec.Description, Schema: spec.Schema,
		Safety: spec.Safety, Timeout: spec.Timeout, Run: c.call,
	}, nil
}

var toolName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// CheckName says what is wrong with a [Spec].Name.
func CheckName(name string) error {
	if !toolName.MatchString(name) {
		return fmt.Errorf("%q is not a name for a tool: use 1 to 64 letters, digits, '_' and '-'", name)
	}
	return nil
}

func (c *command) check() (err error) {
	if err := CheckName(c.Name); err != nil {
		return err
	}
	switch {
	case len(c.Command) == 0:
		return errors.New("its command is missing: the program and its arguments")
	case c.Safety != recovery.SafetyUnsafe && !c.Safety.Repeatable():
		return fmt.Errorf("its safety %q is not known; leave it out, or say %s or %s", c.Safety, recovery.SafetyIdempotent, recovery.SafetyReadOnly)
	case c.Timeout < 0 || c.Grace < 0:
		return errors.New("its timeout or grace is negative")
	case c.MaxOutput != 0 && (c.MaxOutput < MinOutput || c.MaxOutput > runner.MaxToolResult):
		return fmt.Errorf("the most of its output, %d bytes, is not between %d and %d", c.MaxOutput, MinOutput, runner.MaxToolResult)
	}
	if err := CheckSchema(c.Schema); err != nil {
		return err
	}
	for _, variable := range c.Env {
		if err := CheckVariable(variable); err != nil {
			return err
		}
	}
	if c.Dir != "" {
		if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("there is no folder %s to run it in", c.Dir)
		}
	}
	c.path, err = procgroup.LookUp(c.Command[0], c.Dir)
	return err
}

// CheckSchema says what is wrong with a [Spec].Schema.
func CheckSchema(schema json.RawMessage) error {
	if schema == nil {
		return nil
	}
	if len(schema) > maxSchema {
		return fmt.Errorf("the schema has %d bytes, at most %d", len(schema), maxSchema)
	}
	var top struct{ Type string }
	if err := json.Unmarshal(schema, &top); err != nil || bytes.Equal(bytes.TrimSpace(schema), []byte("null")) || top.Type != "object" {
		return errors.New(`the schema is not a JSON Schema with "type": "object" at the top`)
	}
	return nil
}
