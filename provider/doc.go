// Package provider maps configured names to the models behind them.
//
//	set, err := provider.New(provider.Defaults())
//	…
//	model, err := set.Model("anthropic/some-model")
//
// A model's full name is its provider's name, a slash, and its name on that
// provider's wire. Each wire is a package of its own below this one, an llm.Model
// written on net/http; what they share is in internal/:
//
//	anthropic            the Messages API
//	openai               the Chat Completions API, and all who imitate it
//	internal/observe     asks over HTTP, and sees what happens
//	internal/sse         reads event streams
//	internal/handover    makes one model's conversation fit for another
package provider
