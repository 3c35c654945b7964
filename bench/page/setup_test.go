package page

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/runner"
)

const canaryKey = "sk-ant-canary-0123456789abcdef"

// purse is gateway.Keys, of two providers without a key and a model server.
type purse struct {
	mu    sync.Mutex
	kept  map[string]string
	wrong bool // what is tried is refused
	ring  bool // what is kept is in the system's keyring
	local []gateway.LocalServer
}

func (p *purse) Listed() gateway.KeysListed {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []gateway.KeyProvider{
		{Name: "anthropic", Title: "Anthropic", KeyEnv: "ANTHROPIC_API_KEY", Model: opusFull, Page: "https://console.anthropic.com/settings/keys"},
		{Name: "openai", Title: "OpenAI", KeyEnv: "OPENAI_API_KEY", Model: gptFull},
	}
	for i := range list {
		if list[i].Kept = p.kept[list[i].Name] != ""; list[i].Kept {
			list[i].From = "kept"
		}
	}
	return gateway.KeysListed{Keeps: true, Keyring: p.ring, Providers: list}
}

func (p *purse) Local(context.Context) []gateway.LocalServer { return p.local }

func (p *purse) Keep(provider, key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[provider] = key
	return nil
}

func (p *purse) Forget(provider string) error { return p.Keep(provider, "") }

func (p *purse) Try(context.Context, string) gateway.KeyTried {
	if p.wrong {
		return gateway.KeyTried{Model: opusFull, Failure: &failure.Failure{
			Kind: failure.KindAuth, Code: failure.KindAuth.Code(), Provider: "anthropic", HTTPStatus: 401,
			Title: "Anthropic rejected the API key", Message: "The key is wrong, or was revoked.", Detail: "invalid x-api-key",
		}}
	}
	return gateway.KeyTried{Model: opusFull, Answered: true, Millis: 812}
}

// keyless is a harness where nobody has a key.
func keyless(p *purse) option {
	p.kept = map[string]string{}
	return func(h *harness, _ *[]runner.Option) { h.purse = p }
}

// door opens a harness without keys.
func (h *harness) door() *window {
	h.t.Helper()
	w := h.visit(h.link(), desktop)
	w.wait(`document.querySelector('.nokey') && location.hash === ''`)
	return w
}

// TestAKeyIsPasted: it is kept and tried by what a person does with the keyboard alone, a model is ready then, and the key can be
// tested and removed later. The page has it nowhere once it was sent.
func TestAKeyIsPasted(t *testing.T) {
	source := axe(t)
	p := &purse{wrong: true}
	h := build(t, keyless(p))
	w := h.door()
	w.says(".nokey", "Choose who answers")
	w.says(".nokey", "in a file that only you can read")
	w.wait(`document.querySelector('.nokey input[type=radio]:checked')?.parentElement.innerText === 'Anthropic'`)
	eval[any](w, `document.querySelector('.nokey summary').click()`)
	w.says(".nokey", "export ANTHROPIC_API_KEY=…")
	w.looks(source, "setup")
	paste := func(key string) {
		t.Helper()
		eval[any](w, `document.querySelector('#key').focus()`)
		w.do(chromedp.SendKeys("#key", key+"\r"))
	}
	paste("short")
	w.says(".nokey", "expected length")
	paste(canaryKey)
	w.says(".nokey", "Anthropic rejected the API key")
	w.says(".nokey", "A key is kept on this computer.")
	w.looks(source, "setup-refused")
	p.wrong = false
	paste(canaryKey + "2")
	w.says(".nokey", "claude-opus-4-5 answered in 0.8 s.")
	if got := p.kept["anthropic"]; got != canaryKey+"2" {
		t.Errorf("kept is %q", got)
	}
	w.looks(source, "setup-answered")
	if got := eval[string](w, `document.documentElement.outerHTML + [...document.querySelectorAll('input')].map((e) => e.value) + JSON.stringify({ ...localStorage })`); strings.Contains(got, "canary") {
		t.Error("the page still has the key")
	}
	w.wait(picker + `?.selectedOptions[0]?.innerText.trim() === ` + quote(opus)) // it can be asked
	w.press("API keys")
	w.press("Remove…")
	w.looks(source, "keys")
	w.press("Remove the key from this computer")
	w.wait(`!document.querySelector('dialog.keys').innerText.includes('A key is kept')`)
	if p.kept["anthropic"] != "" {
		t.Error("it was not removed")
	}
}

// TestAModelOfThisComputer is offered, and is the one of new conversations too.
func TestAModelOfThisComputer(t *testing.T) {
	h := build(t, keyless(&purse{local: []gateway.LocalServer{{Name: "ollama", Title: "Ollama", Models: []string{"ollama/qwen3:8b", "ollama/llama3.2"}}}}))
	w := h.door()
	w.says(".nokey", "Ollama runs on this computer")
	w.press("Use llama3.2")
	w.lacks(".nokey")
	w.wait(picker + `?.selectedOptions[0]?.innerText.trim() === 'llama3.2'`)
	w.press("New conversation")
	w.wait(`document.querySelector('mulligan-chat').conversation.isNew && document.querySelector('mulligan-chat').conversation.model === 'ollama/llama3.2'`)
	w.lacks(".nokey")
}
