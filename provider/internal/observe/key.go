package observe

import (
	"errors"
	"strings"
)

// Key says how to get the key of a provider; it is asked at each attempt.
type Key struct {
	Get func() (string, error) // nil = there is none
	Env string                 // the variable that people would set, for their sake

	Required bool // also on this machine: somebody named the variable
}

var errBadKey = errors.New("the key holds characters that no key has")

// For returns the key for an attempt, or the failure of one that has none. A
// provider on this machine may do without; the key is then empty.
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
