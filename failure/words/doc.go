// Package words is how Mulligan writes for people: whatever it shows goes through here, so
// that a provider's text is short, plain and harmless wherever it is read.
//
//	plain.go           text without markup, scripts and stack traces
//	shown.go           text without what looks like a secret
//	quantity.go        durations, counts and money as people write them
//	utf8.go            Clip: valid UTF-8 of at most so many bytes
//	text.go            tidy sentences, capitals, counted things
//	clock.go           a time in a text, told in UTC until it is known where it is read
//	provider_names.go  what a provider is called, and where it says how it is
package words
