package command

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan/internal/procgroup"
	"github.com/mulligan-run/mulligan/runner"
)

// The variables that tell a program about the call.
const (
	callIDVariable = "MULLIGAN_CALL_ID"
	// keyVariable holds the call's idempotency key: the same for every attempt at it, and different
	// from any other call's.
	keyVariable = "MULLIGAN_IDEMPOTENCY_KEY"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// CheckVariable says what is wrong with an item of [Spec].Env.
func CheckVariable(variable string) error {
	name, value, _ := strings.Cut(variable, "=")
	if !variableName.MatchString(name) || strings.ContainsRune(value, 0) {
		return fmt.Errorf("%q is not an environment variable: write NAME or NAME=value", variable)
	}
	return nil
}

func (c *command) environment(call runner.ToolCall) []string {
	return append(procgroup.Environment(c.Env...), callIDVariable+"="+call.ID, keyVariable+"="+call.IdempotencyKey)
}
