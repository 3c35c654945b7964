package plugin

import "encoding/json"

// Option says more about a plugin.
type Option func(*server)

// WithName names the plugin; without it, the host's configuration does.
func WithName(name string) Option { return func(s *server) { s.name = name } }

// WithVersion says the plugin's version; it is kept with every vote.
func WithVersion(version string) Option { return func(s *server) { s.version = version } }

// WithConfigSchema gives the JSON Schema (2020-12) of the plugin's configuration;
// the host checks it before the plugin sees it.
func WithConfigSchema(schema string) Option {
	return func(s *server) { s.schema = json.RawMessage(schema) }
}

// WithConfig is called once with the configuration, before any event; nil means that
// there is none. An error refuses it and is shown to people.
func WithConfig(configure func(config json.RawMessage) error) Option {
	return func(s *server) { s.configure = configure }
}
