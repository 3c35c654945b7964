package acp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/mulligan-run/mulligan/recovery"
)

// offer is a suggestion whose buttons are listed in the text, by number.
type offer struct {
	suggestion string
	actions    []string
	action     string // the one that was chosen
}

// errUnasked says that the client was not asked, or gave an answer that was not among the
// choices.
var errUnasked = errors.New("the client was not asked")

// ask asks the client's user what to do. It reports whether the suggestion is answered, so that
// the run goes on or ends.
func (a *agent) ask(ctx context.Context, s *session, t *turn) bool {
	open := t.state.OpenSuggestion(time.Now())
	if open == nil {
		return true // somebody else answered first
	}
	buttons := ours(open)
	if len(buttons) == 0 {
		return false
	}
	action, err := "", errUnasked
	if t.mayAskPrograms() {
		action, err = t.form(ctx, open, buttons)
		if err != nil && ctx.Err() == nil {
			action, err = t.permission(ctx, open, buttons)
		}
	}
	if ctx.Err() != nil {
		return false
	}
	if err == nil && action == "" { // the form was dismissed
		action = buttons[len(buttons)-1].ID
	}
	if err == nil {
		err = a.answer(ctx, t.run, open.ID, action)
	}
	if err != nil {
		s.offer(t, open)
		return false
	}
	chosen, _ := open.Button(action)
	t.stopped = chosen.Kind == recovery.ButtonStop
	return true
}

// mayAskPrograms reports whether it is harmless if a program answers: so far, answers have not
// granted more attempts than there would be without them.
func (t *turn) mayAskPrograms() bool {
	return t.state.Call.Attempts < recovery.MaxAttemptsPerCall && t.state.FailedAttempts < recovery.MaxFailedAttempts
}

// ours are the buttons that the runner carries out.
func ours(s *recovery.Suggestion) []recovery.Button {
	return slices.DeleteFunc(slices.Clone(s.Actions), func(b recovery.Button) bool { return b.Effect != recovery.EffectRunner })
}

// details is what a person reads before choosing. Whoever approves a tool call, or has it repeated,
// sees its arguments.
func (t *turn) details(s *recovery.Suggestion) string {
	said := strings.TrimSpace(s.Message + "\n" + s.Why)
	if call := t.state.CallAtHand(); call != nil {
		said += "\n" + call.Name + " " + strings.ToValidUTF8(string(call.Args[:min(len(call.Args), maxArguments)]), "")
	}
	return said
}

// maxArguments is how much of a tool call's arguments a person is shown, in bytes.
const maxArguments = 2000

// form asks with a form; the answer is "" if it was dismissed.
func (t *turn) form(ctx context.Context, s *recovery.Suggestion, buttons []recovery.Button) (string, error) {
	if !t.agent.able().Elicitation.Form {
		return "", errUnasked
	}
	var choices []map[string]string
	for _, b := range buttons {
		choices = append(choices, map[string]string{"const": b.ID, "title": b.Label})
	}
	answer, err := ask[struct {
		Action  string `json:"action"`
		Content struct {
			Action string `json:"action"`
		} `json:"content"`
	}](ctx, t.agent, protocol.ClientMethodElicitationCreate, map[string]any{
		"sessionId": t.session, "mode": "form", "message": strings.TrimSpace(s.Title + ". " + t.details(s)),
		"requestedSchema": map[string]any{
			"type": "object", "required": []string{"action"},
			"properties": map[string]any{"action": map[string]any{"type": "string", "title": "What next?", "oneOf": choices, "default": buttons[0].ID}},
		},
	})
	if err != nil || answer.Action != "accept" {
		return "", err
	}
	return oneOf(buttons, answer.Content.Action)
}

// permission asks with a permission, which every client has. Its title is the proposal, since
// some clients show nothing else, and some press the first button by themselves.
func (t *turn) permission(ctx context.Context, s *recovery.Suggestion, buttons []recovery.Button) (string, error) {
	t.tell(s.Title)
	options := make([]protocol.PermissionOption, 0, len(buttons))
	for _, b := range buttons {
		options = append(options, protocol.PermissionOption{OptionId: protocol.PermissionOptionId(b.ID), Name: b.Label, Kind: protocol.PermissionOptionKindAllowOnce})
	}
	call := protocol.ToolCallUpdate{
		ToolCallId: protocol.ToolCallId(t.run + "/suggestion-" + s.ID),
		Title:      protocol.Ptr(fmt.Sprintf("%s (%s)", buttons[0].Label, s.Title)), Kind: protocol.Ptr(protocol.ToolKindOther), Status: protocol.Ptr(protocol.ToolCallStatusPending),
		Content: []protocol.ToolCallContent{protocol.ToolContent(protocol.TextBlock(t.details(s)))},
	}
	answer, err := ask[protocol.RequestPermissionResponse](ctx, t.agent, protocol.ClientMethodSessionRequestPermission, map[string]any{
		"sessionId": t.session, "toolCall": call, "options": options, "_meta": map[string]any{"recoverySuggestion": s},
	})
	if err != nil || answer.Outcome.Selected == nil {
		return "", err
	}
	return oneOf(buttons, string(answer.Outcome.Selected.OptionId))
}

// oneOf gives id if one of the buttons has it.
func oneOf(buttons []recovery.Button, id string) (string, error) {
	if !slices.ContainsFunc(buttons, func(b recovery.Button) bool { return b.ID == id }) {
		return "", fmt.Errorf("%w: it chose %.40q", errUnasked, id)
	}
	return id, nil
}

// offer lists the buttons in the text; the next prompt may then be the number of one.
func (s *session) offer(t *turn, open *recovery.Suggestion) {
	o := &offer{suggestion: open.ID}
	var replies []string
	for i, b := range ours(open) {
		o.actions = append(o.actions, b.ID)
		replies = append(replies, fmt.Sprintf("%d to %s", i+1, uncapitalized(b.Label)))
	}
	if len(o.actions) == 0 {
		return
	}
	t.gaveUp()
	t.say(fmt.Sprintf("\n\n**%s.** %s\n\nReply %s.", strings.TrimSuffix(open.Title, "."), strings.TrimSpace(open.Message), strings.Join(replies, ", ")))
	s.offered = o
}

// uncapitalized is a label as it is written in the middle of a sentence.
func uncapitalized(label string) string {
	first, n := utf8.DecodeRuneInString(label)
	if second, _ := utf8.DecodeRuneInString(label[n:]); !unicode.IsLower(second) {
		return label
	}
	return string(unicode.ToLower(first)) + label[n:]
}

// take gives the offer that a prompt answers, nil for an ordinary message.
func (s *session) take(text string) *offer {
	o := s.offered
	n, err := strconv.Atoi(text)
	if o == nil || err != nil || n < 1 || n > len(o.actions) {
		return nil
	}
	o.action, s.offered = o.actions[n-1], nil
	return o
}
