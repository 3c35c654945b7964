package provider

import (
	"path"
	"strings"
	"sync"
)

// modelFamily is what is publicly known about models with certain names.
type modelFamily struct {
	names          string // patterns of path.Match, separated by spaces
	contextTokens  int    // 0 = it differs, or is not known for sure
	noImages       bool
	noTools        bool
	noSchema       bool // it does not follow a JSON schema
	prefill        bool // it continues a last message of its own
	thinksSilently bool
}

// modelFamilies are tried in order; the first that matches counts. Sources are the providers' own
// pages: platform.claude.com/docs, developers.openai.com/api/docs, ai.google.dev/gemini-api/docs,
// api-docs.deepseek.com, docs.mistral.ai. Models that stream their reasoning, or a summary of it,
// without being asked to do not count as silent.
var modelFamilies = []modelFamily{
	{names: "claude-haiku-4-5* claude-sonnet-4-5* claude-opus-4-5*", contextTokens: 200_000, prefill: true},
	{names: "claude-3-*", contextTokens: 200_000, noSchema: true},
	{names: "claude-sonnet-4 claude-sonnet-4-0 claude-sonnet-4-2025* claude-opus-4 claude-opus-4-0 claude-opus-4-1* claude-opus-4-2025*", contextTokens: 200_000},

	{names: "gpt-5-chat* gpt-5.?-chat*", contextTokens: 128_000},
	{names: "gpt-5 gpt-5-mini* gpt-5-nano* gpt-5-pro* gpt-5-codex* gpt-5-2025* gpt-5.1* gpt-5.2*", contextTokens: 400_000, thinksSilently: true},
	{names: "gpt-5-* gpt-5.*", thinksSilently: true},
	{names: "o1-mini* o1-preview*", contextTokens: 128_000, noImages: true, noTools: true, noSchema: true, thinksSilently: true},
	{names: "o3-mini*", contextTokens: 200_000, noImages: true, thinksSilently: true},
	{names: "o1 o1-* o3 o3-* o4-mini*", contextTokens: 200_000, thinksSilently: true},
	{names: "gpt-4.1*", contextTokens: 1_047_576},
	{names: "gpt-4o-2024-05-13 chatgpt-4o* gpt-4-turbo gpt-4-turbo-2024*", contextTokens: 128_000, noSchema: true},
	{names: "gpt-4o gpt-4o-2024* gpt-4o-mini gpt-4o-mini-2024*", contextTokens: 128_000},
	{names: "gpt-4 gpt-4-0613", contextTokens: 8_192, noImages: true, noSchema: true},
	{names: "gpt-3.5-turbo*", contextTokens: 16_385, noImages: true, noSchema: true},
	{names: "gpt-oss-*", contextTokens: 131_072, noImages: true},

	{names: "gemini-2.5-flash-lite* gemini-2.0-flash gemini-2.0-flash-00* gemini-2.0-flash-lite*", contextTokens: 1_048_576},
	{names: "gemini-2.5-flash gemini-2.5-flash-preview-0* gemini-2.5-pro gemini-2.5-pro-preview-0*", contextTokens: 1_048_576, thinksSilently: true},
	{names: "gemini-3-*", thinksSilently: true},

	// Its reasoning is streamed, but it may have to queue for minutes before it begins.
	{names: "deepseek-reasoner*", noImages: true, noSchema: true, thinksSilently: true},
	{names: "deepseek-chat*", noImages: true, noSchema: true, prefill: true},

	{names: "pixtral-* mistral-small-25* mistral-medium-25* mistral-large-25* mistral-small-latest mistral-medium-latest mistral-large-latest", prefill: true},
	{names: "mistral-large-24* mistral-small-24* ministral-?b-24* codestral-* devstral-* open-mistral-* open-mixtral-* open-codestral-*", noImages: true, prefill: true},
}

// knownModel knows models by the names that their makers, and gateways, give them:
// "anthropic/claude-sonnet-4.5:beta".
func knownModel(name string) ModelInfo {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	name, _, _ = strings.Cut(name, ":")
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-")
	}
	for _, p := range patterns()[name[:min(len(name), patternKey)]] {
		if fits, _ := path.Match(p.pattern, name); fits {
			return p.family.info()
		}
	}
	return ModelInfo{}
}

// patternKey is the length of the beginning of a name by which its patterns are found. No pattern
// has a wildcard that early.
const patternKey = 2

type namePattern struct {
	pattern string
	family  modelFamily
}

// patterns are the patterns of all families in their order, by their beginning, because a name is
// looked up several times for each call.
var patterns = sync.OnceValue(func() map[string][]namePattern {
	by := map[string][]namePattern{}
	for _, family := range modelFamilies {
		for pattern := range strings.FieldsSeq(family.names) {
			key := pattern[:patternKey]
			by[key] = append(by[key], namePattern{pattern, family})
		}
	}
	return by
})

func (f modelFamily) info() ModelInfo {
	info := ModelInfo{ContextTokens: f.contextTokens}
	for _, known := range []struct {
		so   bool
		info **bool
	}{
		{f.noImages, &info.NoImages},
		{f.noTools, &info.NoTools},
		{f.noSchema, &info.NoSchema},
		{f.prefill, &info.Prefill},
		{f.thinksSilently, &info.ThinksSilently},
	} {
		if known.so {
			*known.info = new(true)
		}
	}
	return info
}
