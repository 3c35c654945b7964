// Package provider maps configured names to the models behind them.
//
//	set, err := provider.New(provider.Defaults())
//	…
//	model, err := set.Model("anthropic/some-model")
//
// A model's full name is its provider's name, a slash, and its name on that
// provider's wire. The providers that need no describing are in known_entries.go,
// what is known of their models in known_models.go. Each wire is a package of its
// own below this one, an llm.Model written on net/http; what they share is in
// internal/:
//
//	anthropic            the Messages API
//	openai               the Chat Completions API, and all who imitate it
//	responses            OpenAI's Responses API
//	gemini               Google's generateContent API
//	pi                   no wire: the Pi coding agent, driven as an llm.Engine
//	internal/endpoint    an adapter without its wire
//	internal/observe     asks over HTTP, and sees what happens
//	internal/reach       knows whether this machine is offline
//	internal/sse         reads event streams
//
// People who keep their own client library, under an llm.Model of their own, put a
// [Transport] under it and learn how each call really went.
package provider
