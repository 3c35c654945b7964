package config

import (
	"errors"
	"fmt"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/yamlfile"
	"github.com/mulligan-run/mulligan/webhook"
)

// Webhook is a program that `serve` tells what happens to runs.
type Webhook struct {
	URL          string   `yaml:"url"`           // where it is told: https, or with allow_private http
	SecretEnv    string   `yaml:"secret_env"`    // the environment variable that holds its secret
	Events       []string `yaml:"events"`        // some of suggested, waiting, noted, ended; missing = all
	AllowPrivate bool     `yaml:"allow_private"` // it is on this machine or in its network
}

const maxWebhooks = 32

func webhooksProblem(all []Webhook) *yamlfile.Problem {
	if len(all) > maxWebhooks {
		return yamlfile.Problemf("$.webhooks", "there are %d; at most %d are allowed", len(all), maxWebhooks)
	}
	for i, w := range all {
		at := fmt.Sprintf("$.webhooks[%d]", i)
		if !yamlfile.EnvName.MatchString(w.SecretEnv) {
			return yamlfile.Problemf(at, "secret_env must name the environment variable that the secret is in")
		}
		if err := w.hook("").Check(); err != nil {
			return yamlfile.Problemf(at, "%v", err)
		}
		for _, other := range all[:i] {
			if other.URL == w.URL {
				return yamlfile.Problemf(at+".url", "it is there twice")
			}
		}
	}
	return nil
}

func (w Webhook) hook(secret string) webhook.Hook {
	return webhook.Hook{URL: w.URL, Secret: secret, Events: w.Events, AllowPrivate: w.AllowPrivate}
}

// Hooks are the webhooks, with their secrets from the environment.
func (c *Config) Hooks(env func(string) string) ([]webhook.Hook, error) {
	var all []webhook.Hook
	for _, w := range c.Webhooks {
		secret := env(w.SecretEnv)
		if secret == "" {
			return nil, exit.Usage(errors.New("webhooks: the environment has no " + w.SecretEnv + ", which messages are signed with; make a secret with `openssl rand -base64 32`"))
		}
		all = append(all, w.hook(secret))
	}
	return all, nil
}
