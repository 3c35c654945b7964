package command

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan/runner"
)

// What a program finds in its environment about the call.
const (
	CallIDVariable = "MULLIGAN_CALL_ID"
	// KeyVariable holds what is the same for every try of a call and unlike any other's.
	KeyVariable = "MULLIGAN_IDEMPOTENCY_KEY"
)

// inherited are the variables that every program gets from our environment. Keys of
// providers are in it as well, so there is no way to inherit all of it.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)

// CheckVariable says what is wrong with an item of [Spec].Env.
func CheckVariable(variable string) error {
	name, value, _ := strings.Cut(variable, "=")
	if !variableName.MatchString(name) || strings.ContainsRune(value, 0) {
		return fmt.Errorf("%q is no variable of the environment: write NAME or NAME=value", variable)
	}
	return nil
}

func (c *command) environment(call runner.ToolCall) []string {
	var all []string
	for _, variable := range append(inherited[:len(inherited):len(inherited)], c.Env...) {
		if strings.Contains(variable, "=") {
			all = append(all, variable)
		} else if value, ok := os.LookupEnv(variable); ok {
			all = append(all, variable+"="+value)
		}
	}
	return append(all, CallIDVariable+"="+call.ID, KeyVariable+"="+call.IdempotencyKey)
}
