package observe

import (
	"errors"
	"strings"
)

// Key says how to get a provider's key. Get is called at each attempt.
type Key struct {
	Get func() (string, error) // nil = there is no key
	Env string                 // the variable to set, for people

	Required bool // even on this machine, because a person named the variable
}

var errBadKey = errors.New("the key contains a space or a character that is not ASCII: copy it again")

// For returns the key for an attempt, or the failure of an attempt without one. A provider on
// this machine may need none; the key is then empty.
func (k Key) For(c *Client, model string) (string, error) {
	value, err := "", error(nil)
	if k.Get != nil {
		value, err = k.Get()
	}
	value = strings.TrimSpace(value)
	switch {
	case err != nil:
		return "", KeyMissing(c.provider, model, k.Env, NewSecrets(value).Error(err))
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", KeyMissing(c.provider, model, k.Env, errBadKey)
	case value == "" && (k.Required || !c.loopback):
		return "", KeyMissing(c.provider, model, k.Env, nil)
	}
	return value, nil
}
