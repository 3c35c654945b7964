package protoconv

// What a host and a plugin must agree on before they can talk.
const (
	// CookieKey and CookieValue are an environment variable that tells a plugin that a
	// host started it. They are not secret.
	CookieKey   = "MULLIGAN_PLUGIN"
	CookieValue = "4b3f6c1e-run-error"
	// ProtocolVersion is the version of the plugin service.
	ProtocolVersion = 1
	// PluginName is the service's name in go-plugin's plugin set.
	PluginName = "recovery"
	// MaxReply is how much of an answer a host reads, in bytes.
	MaxReply = 1 << 20
	// MaxRequest is how much of a question a plugin reads, in bytes.
	MaxRequest = 64 << 20
)
