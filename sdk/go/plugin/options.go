package plugin

import "encoding/json"

// Option configures a plugin.
type Option func(*server)

// WithName names the plugin. By default its name is the one in the host's
// configuration.
func WithName(name string) Option { return func(s *server) { s.name = name } }

// WithVersion sets the plugin's version, which is stored with every vote.
func WithVersion(version string) Option { return func(s *server) { s.version = version } }

// WithConfigSchema sets the JSON Schema (2020-12) of the plugin's configuration. The
// host validates the configuration before the plugin sees it.
func WithConfigSchema(schema string) Option {
	return func(s *server) { s.schema = json.RawMessage(schema) }
}

// WithConfig sets a function that is called once with the configuration, before any
// event; nil means that there is none. An error refuses the configuration and is shown
// to people.
func WithConfig(configure func(config json.RawMessage) error) Option {
	return func(s *server) { s.configure = configure }
}
