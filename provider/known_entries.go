package provider

import (
	"slices"
	"strings"
)

// The wires. Each is also the name of an entry.
const (
	TypeAnthropic = "anthropic"        // the Messages API
	TypeOpenAI    = "openai"           // the Chat Completions API, OpenAI's and its imitators'
	TypeResponses = "openai-responses" // OpenAI's Responses API
	TypeGemini    = "gemini"           // Google's generateContent API
	TypePi        = "pi"               // no wire: the Pi coding agent, a program
)

// KnownEntry is a provider that needs no description. Its name may be the Type of an Entry.
type KnownEntry struct {
	Name    string
	Wire    string
	BaseURL string // "" = the wire's own service
	KeyEnv  string // "" = it needs no key
	Own     bool   // people run it themselves, at any address
	Local   bool   // it is a model server: it may have to load a model first, and sends no pings
}

// knownEntries is the only list of them.
var knownEntries = []KnownEntry{
	{Name: TypeAnthropic, Wire: TypeAnthropic, KeyEnv: "ANTHROPIC_API_KEY"},
	{Name: TypeOpenAI, Wire: TypeOpenAI, KeyEnv: "OPENAI_API_KEY"},
	{Name: TypeResponses, Wire: TypeResponses, KeyEnv: "OPENAI_API_KEY"},
	{Name: TypeGemini, Wire: TypeGemini, KeyEnv: "GEMINI_API_KEY"},
	{Name: "openrouter", Wire: TypeOpenAI, BaseURL: "https://openrouter.ai/api/v1", KeyEnv: "OPENROUTER_API_KEY"},
	{Name: "litellm", Wire: TypeOpenAI, BaseURL: "http://127.0.0.1:4000/v1", KeyEnv: "LITELLM_API_KEY", Own: true},
	{Name: "ollama", Wire: TypeOpenAI, BaseURL: "http://127.0.0.1:11434/v1", Own: true, Local: true},
	{Name: "vllm", Wire: TypeOpenAI, BaseURL: "http://127.0.0.1:8000/v1", Own: true, Local: true},
	{Name: "llama.cpp", Wire: TypeOpenAI, BaseURL: "http://127.0.0.1:8080/v1", Own: true, Local: true},
	{Name: "lmstudio", Wire: TypeOpenAI, BaseURL: "http://127.0.0.1:1234/v1", Own: true, Local: true},
	{Name: TypePi, Wire: TypePi},
}

// Known lists the providers that need no configuration except a key, or none at all.
func Known() []KnownEntry { return slices.Clone(knownEntries) }

// KnownType reports whether name may be an Entry's Type.
func KnownType(name string) bool {
	_, ok := known(name)
	return ok
}

// KnownTypes lists, in words, what an Entry's Type may be.
func KnownTypes() string {
	var names []string
	for _, k := range knownEntries {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// Defaults are the known providers as entries. A local one need not be running.
func Defaults() []Entry {
	var list []Entry
	for _, k := range knownEntries {
		list = append(list, Entry{Name: k.Name, Type: k.Name})
	}
	return list
}

func known(name string) (KnownEntry, bool) {
	i := slices.IndexFunc(knownEntries, func(k KnownEntry) bool { return k.Name == name })
	if i < 0 {
		return KnownEntry{}, false
	}
	return knownEntries[i], true
}

// complete fills in what e's type stands for, and returns the wire. A type's own key is sent only
// to the type's own address: an entry with another address names its own key, unless people run the
// provider themselves.
func (e Entry) complete() (Entry, string, bool) {
	k, ok := known(e.Type)
	if !ok {
		return e, "", false
	}
	if e.KeyEnv == "" && e.Key == "" && (e.BaseURL == "" || k.Own) {
		e.KeyEnv = k.KeyEnv
	}
	if e.BaseURL == "" {
		e.BaseURL = k.BaseURL
	}
	e.Local = e.Local || k.Local
	return e, k.Wire, true
}
