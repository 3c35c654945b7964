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

// keyStore is gateway.Keys of two providers without a key, and of a model server.
type keyStore struct {
	mu    sync.Mutex
	kept  map[string]string
	wrong bool // a key that is tested is refused
	ring  bool // a stored key is in the system's keyring
	local []gateway.LocalServer
}

func (p *keyStore) Listed() gateway.KeysListed {
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

func (p *keyStore) Local(context.Context) []gateway.LocalServer { return p.local }

func (p *keyStore) Keep(provider, key string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[provider] = key
	return nil
}

func (p *keyStore) Forget(provider string) error { return p.Keep(provider, "") }

func (p *keyStore) Try(context.Context, string) gateway.KeyTried {
	if p.wrong {
		return gateway.KeyTried{Model: opusFull, Failure: &failure.Failure{
			Kind: failure.KindAuth, Code: failure.KindAuth.Code(), Provider: "anthropic", HTTPStatus: 401,
			Title: "Anthropic rejected the API key", Message: "The key is wrong, or was revoked.", Detail: "invalid x-api-key",
		}}
	}
	return gateway.KeyTried{Model: opusFull, Answered: true, Millis: 812}
}

// keyless is a harness without any key.
func keyless(p *keyStore) option {
	p.kept = map[string]string{}
	return func(h *harness, _ *[]runner.Option) { h.keyStore = p }
}

// openKeyless opens a harness without keys.
func (h *harness) openKeyless() *window {
	h.t.Helper()
	w := h.visit(h.link(), desktop)
	w.wait(`document.querySelector('.nokey') && location.hash === ''`)
	return w
}

// TestAKeyIsPasted: with the keyboard alone a key is pasted, stored and tested, and then a model is
// ready. The key can be tested again and removed later. Once it was sent the page no longer
// contains it.
func TestAKeyIsPasted(t *testing.T) {
	source := axe(t)
	p := &keyStore{wrong: true}
	h := build(t, keyless(p))
	w := h.openKeyless()
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
	w.wait(picker + `?.selectedOptions[0]?.innerText.trim() === ` + quote(opus)) // the model can be asked
	w.press("API keys")
	w.press("Remove…")
	w.looks(source, "keys")
	w.press("Remove the key from this computer")
	w.wait(`!document.querySelector('dialog.keys').innerText.includes('A key is kept')`)
	if p.kept["anthropic"] != "" {
		t.Error("it was not removed")
	}
}

// TestAModelOfThisComputer: a local model is offered, and new conversations use it too.
func TestAModelOfThisComputer(t *testing.T) {
	h := build(t, keyless(&keyStore{local: []gateway.LocalServer{{Name: "ollama", Title: "Ollama", Models: []string{"ollama/qwen3:8b", "ollama/llama3.2"}}}}))
	w := h.openKeyless()
	w.says(".nokey", "Ollama runs on this computer")
	w.press("Use llama3.2")
	w.lacks(".nokey")
	w.wait(picker + `?.selectedOptions[0]?.innerText.trim() === 'llama3.2'`)
	w.press("New conversation")
	w.wait(`document.querySelector('mulligan-chat').conversation.isNew && document.querySelector('mulligan-chat').conversation.model === 'ollama/llama3.2'`)
	w.lacks(".nokey")
}
