package page

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
)

// pluginsAtWork are plugins whose state people can see and change.
type pluginsAtWork struct {
	mu   sync.Mutex
	all  []gateway.Plugin
	acts []string
}

func newPluginsAtWork() *pluginsAtWork {
	since := time.Now().Add(-5 * time.Hour)
	return &pluginsAtWork{all: []gateway.Plugin{
		{
			Name: "auto-recover", Version: "1.0.0", State: "ready", Pinned: true, Restarts: 1, P50: 2, P99: 9,
			Votes: &gateway.PluginVotes{Since: since, Won: 212, Agreed: 3, Overruled: 4},
		},
		{
			Name: "house-rules", Version: "0.3.1", State: "tripped", Restarts: 3, LastError: "no answer within 2s", P50: 31, P99: 1890,
			Votes: &gateway.PluginVotes{Since: since, Won: 4, Overruled: 211, Failed: 9},
			Said:  []string{"reading rules.yaml", "WARN rule 12 never matches", "ERROR lookup of tenant acme: connection refused <b>"},
		},
		{
			Name: "next-rules", Version: "0.4.0", State: "ready", Shadow: true, P50: 3, P99: 12,
			Votes: &gateway.PluginVotes{Since: since, TrialAgreed: 190, TrialDisagreed: 29},
		},
		{Name: "guard", Version: "2.1.0", State: "ready", FailClosed: true, P50: 1, P99: 2},
	}}
}

func (p *pluginsAtWork) list() []gateway.Plugin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]gateway.Plugin{}, p.all...)
}

func (p *pluginsAtWork) act(_ context.Context, name string, act gateway.PluginAct, by string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.acts = append(p.acts, string(act)+" "+name)
	for i := range p.all {
		one := &p.all[i]
		switch {
		case one.Name != name:
		case act == gateway.PluginRestart && name == "house-rules":
			return errors.New("plugin house-rules was not reloaded and stays as it was: no handshake within 10s")
		case act == gateway.PluginDisable:
			one.State, one.Disabled = "disabled", &gateway.DisabledBy{By: by, At: time.Now()}
		default:
			one.State, one.Disabled = "ready", nil
		}
	}
	return nil
}

// providersAtWork are two providers, one of which has problems.
func providersAtWork() gateway.Providers {
	now := time.Now()
	return gateway.Providers{
		Since: now.Add(-5 * time.Hour), Spent: recovery.Budget{Tokens: 912_000, Microdollars: 4_310_000}, Budget: recovery.Budget{Microdollars: 20_000_000},
		Providers: []gateway.Provider{
			{Name: "anthropic", Title: "Anthropic", Queued: 3, Models: []gateway.ModelCalls{{
				Name: opusFull, Ready: true, Calls: 1214, Failed: 73, Failures: []gateway.KindCount{{Kind: "overloaded", Calls: 61}, {Kind: "rate_limit", Calls: 12}},
				InAir: 2, P50: 640, P95: 2310, Tokens: 640_000, Microdollars: 3_100_000,
				Cooling: &recovery.Cooldown{Model: opusFull, Until: now.Add(24 * time.Second), Kind: "overloaded"},
			}}},
			{Name: "openai", Title: "OpenAI", Models: []gateway.ModelCalls{
				{Name: gptFull, Ready: true, Calls: 77, P50: 410, P95: 980, Tokens: 272_000, Microdollars: 1_210_000},
				{Name: "openai/gpt-5.2-mini"},
			}},
		},
	}
}

// strike presses a key like a keyboard, including its effect on the focus.
func (w *window) strike(key string) {
	w.t.Helper()
	w.do(chromedp.KeyEvent(key))
}

// TestProvidersAndPlugins: the control room shows the state of both. A plugin is restarted,
// disabled after a confirmation, and enabled, all with the keyboard.
func TestProvidersAndPlugins(t *testing.T) {
	h := controlRoom(t)
	w := h.enter(desktop, "")
	w.says(".models", "claude-opus-4-5 Anthropic 1,214 73 6 % overloaded 61, rate limit 12 640 ms p95 2.3 s $3.10 cools down for")
	w.says(".models", "3 calls wait for a turn · 2 in the air")
	w.says(".models", "has no key")
	w.says("[aria-labelledby=providers]", "spent today $4.31 of $20.00")
	w.says(".plugins", "1.0.0 · pinned ready 212 won · 4 overruled p50 2 ms · p99 9 ms")
	w.says(".plugins", "tripped 4 won · 211 overruled p50 31 ms · p99 1.9 s")
	w.says(".plugins", "0.4.0 · on trial ready agreed 190 times · disagreed 29")

	open := func(name string) {
		t.Helper()
		eval[any](w, `document.querySelector('[data-plugin="'+`+quote(name)+`+'"] summary').focus()`)
		w.strike(kb.Enter)
		w.wait(`document.querySelector('[data-plugin="` + name + `"] details').open`)
	}
	open("house-rules")
	w.says(".plugins", "connection refused <b>")
	w.strike(kb.Tab) // to the plugin's log
	w.strike(kb.Tab)
	w.wait(`document.activeElement.innerText === 'Restart'`)
	w.strike(kb.Enter)
	w.says(".outcome", "house-rules stays as it was: ")
	w.says(".outcome", "no handshake within 10s")

	open("auto-recover")
	w.strike(kb.Tab)
	w.strike(kb.Tab)
	w.wait(`document.activeElement.innerText === 'Disable…'`)
	w.strike(kb.Enter)
	w.says(".sure", "has no vote, in runs under way as in new ones")
	w.strike(kb.Enter)
	w.says(".outcome", "auto-recover is disabled")
	w.says("[data-plugin=auto-recover]", "Disabled by a browser (session ")
	w.wait(`document.activeElement.innerText === 'Enable'`)
	time.Sleep(3500 * time.Millisecond) // after a poll it is still open, and says the same
	w.says("[data-plugin=auto-recover]", "Disabled by a browser (session ")
	w.strike(kb.Enter)
	w.says(".outcome", "auto-recover is enabled")
	h.plugins.mu.Lock()
	defer h.plugins.mu.Unlock()
	if got := fmt.Sprint(h.plugins.acts); got != "[restart house-rules disable auto-recover enable auto-recover]" {
		t.Error(got)
	}

	open("guard")
	w.says("[data-plugin=guard]", "cannot be disabled here")
}

// TestPluginsInScreenshots runs axe-core on an open plugin, and on the question whether to disable
// it.
func TestPluginsInScreenshots(t *testing.T) {
	source := axe(t)
	h := controlRoom(t)
	w := h.enter(desktop, "")
	w.wait(`document.querySelectorAll('.plugins details').length === 4`)
	eval[any](w, `document.querySelectorAll('.plugins details').forEach((d, i) => { d.open = i === 1; })`)
	w.press("Disable…")
	w.says(".sure", "has no vote")
	eval[any](w, `document.querySelector('.below').scrollIntoView()`)
	w.looks(source, "room")
}

// TestCallsOfOneConversationAreOneRow: the calls of another program are collapsed into one row
// until it is opened; other runs are not.
func TestCallsOfOneConversationAreOneRow(t *testing.T) {
	h := build(t)
	begin := func(prompt string, labels recovery.Labels) {
		t.Helper()
		h.play(opus, faultlab.Answer("Here."))
		run, err := h.runner.Start(t.Context(), runner.Request{Prompt: prompt, Model: opusFull, Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 130 { // more than a page of them
		begin(fmt.Sprintf("call %d", i), recovery.CallLabels(recovery.KindProxied, "agent-7"))
	}
	begin("of another conversation", recovery.CallLabels(recovery.KindAdvised, "agent-8"))
	begin("mine", nil)
	begin("mine too", nil)
	w := h.enter(desktop, "")
	w.wait(rows + `.join() === 'mine too,mine,of another conversation,call 129'`)
	w.says(".row", "and 129 earlier")
	w.press("and 129 earlier")
	w.wait(`location.search === '?label=mulligan%2Fsession%3Dagent-7' && document.querySelectorAll('.row').length > 50 && ` + rows + `[0] === 'call 129'`)
	w.lacks(".folded")
	w.press("mulligan/session=agent-7 ×")
	w.wait(rows + `.length === 4`)
}
