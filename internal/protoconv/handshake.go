package protoconv

// What a host and a plugin must agree on before they can talk.
const (
	// CookieKey and CookieValue are an environment variable by which a plugin
	// knows that it was started by a host. They are no secret.
	CookieKey   = "MULLIGAN_PLUGIN"
	CookieValue = "4b3f6c1e-run-error"
	// ProtocolVersion is the version of the plugin service.
	ProtocolVersion = 1
	// PluginName is the service's name in go-plugin's plugin set.
	PluginName = "recovery"
	// MaxReply is the most that a host reads of one answer, in bytes.
	MaxReply = 1 << 20
	// MaxRequest is the most that a plugin reads of one question, in bytes.
	MaxRequest = 64 << 20
)
