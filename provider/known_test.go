package provider_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/provider"
)

// keys is an environment in which every variable holds its own name.
func keys(name string) string { return "key-of-" + name }

func TestDefaults(t *testing.T) {
	s, err := provider.New(provider.Defaults(), provider.WithEnv(keys))
	if err != nil {
		t.Fatal(err)
	}
	bare, err := provider.New(provider.Defaults(), provider.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		env   string
		local bool
	}{
		"anthropic": {"ANTHROPIC_API_KEY", false}, "openai": {"OPENAI_API_KEY", false},
		"openai-responses": {"OPENAI_API_KEY", false}, "gemini": {"GEMINI_API_KEY", false},
		"openrouter": {"OPENROUTER_API_KEY", false}, "litellm": {"LITELLM_API_KEY", true},
		"ollama": {"", true}, "vllm": {"", true}, "llama.cpp": {"", true}, "lmstudio": {"", true},
	} {
		if !s.Has(name+"/m") || bare.Has(name+"/m") != want.local || s.Loopback(name+"/m") != want.local {
			t.Errorf("%s: has %v, without keys %v, loopback %v", name, s.Has(name+"/m"), bare.Has(name+"/m"), s.Loopback(name+"/m"))
		}
	}
	if n := len(s.Entries()); n != 11 {
		t.Errorf("%d entries", n)
	}
	for _, e := range s.Entries() {
		if !provider.KnownType(e.Name) || !strings.Contains(provider.KnownTypes(), e.Name) {
			t.Errorf("%s is no type", e.Name)
		}
	}
}

// TestKeyGoesWhereItBelongs: the usual variable of a provider is not sent to
// whatever address somebody writes into an entry, unless people run such servers
// themselves.
func TestKeyGoesWhereItBelongs(t *testing.T) {
	sent := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}))
	t.Cleanup(server.Close)
	for _, c := range []struct{ kind, env, want string }{
		{"anthropic", "", ""},
		{"openai", "", ""},
		{"openai-responses", "", ""},
		{"gemini", "", ""},
		{"openrouter", "", ""},
		{"litellm", "", "key-of-LITELLM_API_KEY"},
		{"ollama", "", ""},
		{"openrouter", "MINE", "key-of-MINE"},
	} {
		s, err := provider.New([]provider.Entry{{Name: "x", Type: c.kind, BaseURL: server.URL + "/v1", KeyEnv: c.env}}, provider.WithEnv(keys))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = hear(t.Context(), t, s, ask("x"))
		if got := <-sent; got != c.want {
			t.Errorf("%s %s: sent %q, want %q", c.kind, c.env, got, c.want)
		}
	}
	// Where no key is read by itself, none is asked for by a name that would not help.
	s, err := provider.New([]provider.Entry{{Name: "x", Type: "anthropic", BaseURL: "https://example.com"}}, provider.WithEnv(keys))
	if err != nil {
		t.Fatal(err)
	}
	_, err = hear(t.Context(), t, s, ask("x"))
	if f, _ := failure.AsFailure(err); f == nil || f.Variant != failure.VariantKeyMissing || strings.Contains(f.Error(), "ANTHROPIC_API_KEY") {
		t.Error(err)
	}
}

func TestKnownModels(t *testing.T) {
	s, err := provider.New(append(provider.Defaults(), provider.Entry{
		Name: "mine", Type: "openrouter", Models: []provider.ModelInfo{
			{Name: "openai/gpt-4o", ContextTokens: 7},
			{Name: "openai/o3-mini", NoImages: new(false)},
			{Name: "own", NoImages: new(true), ThinksSilently: new(true)},
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for full, want := range map[string]struct {
		context          int64
		noImages, silent bool
	}{
		"anthropic/claude-sonnet-4-5-20250929":   {200_000, false, false},
		"anthropic/claude-3-5-haiku-latest":      {200_000, false, false},
		"anthropic/claude-opus-9":                {0, false, false},
		"openrouter/anthropic/claude-sonnet-4.5": {200_000, false, false},
		"openrouter/anthropic/claude-sonnet-4:x": {200_000, false, false},
		"openai/gpt-5.2":                         {400_000, false, true},
		"openai/gpt-5":                           {400_000, false, true},
		"openai-responses/gpt-5-mini-2025-08-07": {400_000, false, true},
		"openai/gpt-5.9-later":                   {0, false, true},
		"openai/gpt-5-chat-latest":               {128_000, false, false},
		"openai/gpt-4o-2024-11-20":               {128_000, false, false},
		"openai/gpt-4.1-nano":                    {1_047_576, false, false},
		"openai/gpt-4":                           {8_192, true, false},
		"openai/gpt-3.5-turbo":                   {16_385, true, false},
		"openai/o3-mini":                         {200_000, true, true},
		"openai/o3":                              {200_000, false, true},
		"openai/o4-mini":                         {200_000, false, true},
		"openai/o100":                            {0, false, false},
		"litellm/openrouter/openai/o1":           {200_000, false, true},
		"gemini/gemini-2.5-pro":                  {1_048_576, false, true},
		"gemini/models/gemini-2.5-flash-lite":    {1_048_576, false, false},
		"openrouter/google/gemini-2.5-flash":     {1_048_576, false, true},
		"openrouter/deepseek/deepseek-chat-v3.1": {0, true, false},
		"openrouter/openai/gpt-oss-120b:free":    {131_072, true, false},
		"ollama/qwen3:8b":                        {0, false, false},
		"mine/openai/gpt-4o":                     {7, false, false},
		"mine/openai/o3-mini":                    {200_000, false, true},
		"mine/own":                               {0, true, true},
		"nobody/gpt-5":                           {0, false, false},
		"openai/":                                {0, false, false},
		"openai":                                 {0, false, false},
	} {
		if able := s.Capabilities(full); able.ContextTokens != want.context || able.NoImages != want.noImages || s.ThinksSilently(full) != want.silent {
			t.Errorf("%s: %+v, silent %v", full, able, s.ThinksSilently(full))
		}
	}
	for full, want := range map[string]llm.Capabilities{
		"anthropic/claude-haiku-4-5":            {ContextTokens: 200_000, Prefill: true},
		"openrouter/anthropic/claude-opus-4.5":  {ContextTokens: 200_000, Prefill: true},
		"anthropic/claude-opus-4-6":             {},
		"anthropic/claude-3-haiku-20240307":     {ContextTokens: 200_000, NoSchema: true},
		"openai/o1-mini":                        {ContextTokens: 128_000, NoImages: true, NoTools: true, NoSchema: true},
		"openai/gpt-4o-2024-05-13":              {ContextTokens: 128_000, NoSchema: true},
		"mine/mistral-large-2411":               {NoImages: true, Prefill: true},
		"openrouter/mistralai/codestral-2508":   {NoImages: true, Prefill: true},
		"mine/mistral-medium-latest":            {Prefill: true},
		"openrouter/deepseek/deepseek-reasoner": {NoImages: true, NoSchema: true},
		"openrouter/deepseek/deepseek-chat":     {NoImages: true, NoSchema: true, Prefill: true},
	} {
		if got := s.Capabilities(full); got != want {
			t.Errorf("%s: %+v", full, got)
		}
	}
}

// TestNoPromptWithoutItsKey: where somebody named a variable for the key, nothing is sent
// while it is not set, on this machine either; where nobody did, a server here needs none.
func TestNoPromptWithoutItsKey(t *testing.T) {
	lab, _ := start(t)
	lab.Script("m", faultlab.Answer("x"))
	server, err := lab.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	base := server.URL() + "/v1"
	s, err := provider.New([]provider.Entry{{Name: "named", Type: "openai", BaseURL: base, KeyEnv: "LAB_KEY"}, {Name: "litellm", Type: "litellm", BaseURL: base}},
		provider.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	_, err = hear(t.Context(), t, s, ask("named"))
	f, _ := failure.AsFailure(err)
	if f == nil || f.Kind != failure.KindAuth || f.Variant != failure.VariantKeyMissing || !strings.Contains(f.Message, "export LAB_KEY=…") || len(lab.Requests()) != 0 || s.Has("named/m") {
		t.Errorf("%v after %d requests", err, len(lab.Requests()))
	}
	if _, _ = hear(t.Context(), t, s, ask("litellm")); len(lab.Requests()) != 1 || !s.Has("litellm/m") {
		t.Error("litellm, which may do without a key, was not asked")
	}
}
