package page

import (
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/mulligan-run/mulligan/faultlab"
)

// approvalAsked has a model want to call a tool that a person approves first.
func approvalAsked(h *harness) {
	h.play(opus, faultlab.ToolCalls("I pay it now.", faultlab.Call{Name: "pay_bill", Args: `{"to":"City of Oslo","cents":1700}`}),
		faultlab.Answer("The bill is paid."))
}

// TestApproval: a call that needs it is shown with what it is called with, and made or refused by one key.
func TestApproval(t *testing.T) {
	for _, c := range []struct {
		name, key, chosen, row string
	}{
		{"approved", "1", "You chose: Run pay_bill", "pay_bill done"},
		{"refused", "2", "You chose: Do not run pay_bill", "pay_bill not run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := build(t)
			approvalAsked(h)
			w := h.open("/", desktop)
			w.auto(true)
			w.send("Pay the bill")
			w.says(".card h3", "pay_bill waits for your approval")
			w.says(".card .called", `"cents": 1700`)
			w.says(".talk", "needs approval")
			w.wait(`document.title.startsWith('(1)')`)
			w.key(c.key, alt)
			w.says(".prose", "The bill is paid.")
			w.says(".chosen", c.chosen)
			w.says(".tool summary", c.row)
			w.wait(`!document.title.startsWith('(')`)
		})
	}
}

// TestApprovalAmongTheRuns: it needs a person, and is no failure, in the list and on the run's own page.
func TestApprovalAmongTheRuns(t *testing.T) {
	h := build(t)
	approvalAsked(h)
	chat := h.open("/", desktop)
	chat.send("Pay the bill")
	chat.says(".card", "waits for your approval")
	w := h.enter(desktop, "")
	w.says(".row .state", "Needs approval")
	w.says(".row .problem", "pay_bill waits for your approval")
	w.says(".cause h3", "pay_bill waits for your approval")
	w.wait(`!document.querySelector('.row .number').innerText.includes('failed')`)
	w.key("j", 0)
	w.strike(kb.Enter)
	w.says(".rescue .standing", "Needs you")
}

// TestApprovalInEveryLook lets axe-core look at it, and takes pictures.
func TestApprovalInEveryLook(t *testing.T) {
	source := axe(t)
	h := build(t)
	h.plugins.all = h.plugins.all[:1]
	h.history()
	approvalAsked(h)
	w := h.open("/", desktop)
	w.send("Pay the bill")
	w.says(".card", "waits for your approval")
	w.looks(source, "approval")
}
