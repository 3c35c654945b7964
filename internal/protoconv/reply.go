package protoconv

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/mulligan-run/mulligan/failure"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// Limits on a reply.
const (
	maxButtons = 8
	maxWord    = 200     // bytes of a label or a model's name
	maxURL     = 2 << 10 // bytes
	maxReason  = 8 << 10 // bytes; far fewer are kept
)

// ReplyToProto converts a plugin's vote.
func ReplyToProto(v recovery.Vote) *mulliganv1.RunErrorResponse {
	number, rest := enumNumber(action(), string(v.Action.Plain()))
	if rest != "" {
		number = -1 // the other end refuses it, instead of taking it for no opinion
	}
	m := &mulliganv1.RunErrorResponse{
		Action: mulliganv1.Action(number), DelayMs: int64(v.Delay), NewModel: valid(v.NewModel), Reason: valid(v.Reason),
		Actions: eachToProto[recovery.Button, mulliganv1.Button](v.Actions), Adjust: toProto(v.Adjust, &mulliganv1.Adjust{}),
	}
	if v.Restrict != nil {
		m.Restrict = toProto(*v.Restrict, &mulliganv1.Restrict{})
	}
	return m
}

// Reply converts a plugin's answer to a vote, or says what is wrong with it. Whether
// the vote makes sense for its run is decided by recovery.Decide.
func Reply(m *mulliganv1.RunErrorResponse) (recovery.Vote, error) {
	v := recovery.Vote{
		Action: recovery.Action(enumName(action(), protoreflect.EnumNumber(m.GetAction()), "")),
		Delay:  failure.Millis(m.GetDelayMs()), NewModel: m.GetNewModel(), Reason: m.GetReason(),
		Actions: eachFromProto[recovery.Button](m.GetActions()), Adjust: fromProto[recovery.Adjust](m.GetAdjust()),
	}
	if m.GetRestrict() != nil {
		restrict := fromProto[recovery.Restrict](m.GetRestrict())
		v.Restrict = &restrict
	}
	err := errors.Join(checkAction(v), checkDelay(v.Delay), checkText("new_model", v.NewModel, maxWord),
		checkText("reason", v.Reason, maxReason), checkButtons(v.Actions), checkAdjust(v.Adjust), checkRestrict(v.Restrict))
	if err != nil {
		return recovery.Vote{}, fmt.Errorf("invalid answer: %w", err)
	}
	for i := range v.Actions {
		v.Actions[i].ID = "" // the runner sets it
	}
	return v, nil
}

func checkAction(v recovery.Vote) error {
	switch v.Action {
	case recovery.ActionNone, recovery.ActionRetry, recovery.ActionFail:
		return nil
	case recovery.ActionSwitchModel:
		if v.NewModel == "" {
			return errors.New("switch_model names no new_model")
		}
		return nil
	}
	return fmt.Errorf("unknown action %.50q", string(v.Action))
}

func checkDelay(d failure.Millis) error {
	switch {
	case d < 0:
		return fmt.Errorf("negative delay_ms %d", d)
	case d > failure.MaxDelay:
		return fmt.Errorf("delay_ms %d is more than %d", d, failure.MaxDelay)
	}
	return nil
}

func checkButtons(buttons []recovery.Button) error {
	if len(buttons) > maxButtons {
		return fmt.Errorf("%d actions, at most %d", len(buttons), maxButtons)
	}
	for _, b := range buttons {
		err := errors.Join(checkText("kind", b.Kind, maxWord), checkText("label", b.Label, maxWord), checkText("model", b.Model, maxWord),
			checkText("url", b.URL, maxURL))
		if err != nil {
			return err
		}
		if b.Kind == "" || (b.Effect != recovery.EffectRunner && b.Effect != recovery.EffectClient) {
			return fmt.Errorf("an action needs a kind and the effect runner or client, not %.50q and %.50q", b.Kind, b.Effect)
		}
	}
	return nil
}

func checkAdjust(a recovery.Adjust) error {
	if a.MaxOutputTokens < 0 {
		return fmt.Errorf("negative max_output_tokens %d", a.MaxOutputTokens)
	}
	switch a.ReasoningEffort {
	case "", "low", "medium", "high":
		return nil
	}
	return fmt.Errorf("unknown reasoning_effort %.50q", a.ReasoningEffort)
}

func checkRestrict(x *recovery.Restrict) error {
	switch {
	case x == nil:
		return nil
	case len(x.Never) > recovery.MaxNever:
		return fmt.Errorf("restrict.never names %d models, at most %d", len(x.Never), recovery.MaxNever)
	case x.MaxOutputPrice < 0:
		return fmt.Errorf("negative restrict.max_output_price %d", x.MaxOutputPrice)
	}
	for _, name := range x.Never {
		if err := checkText("restrict.never", name, maxWord); err != nil {
			return err
		}
		if entry, _, ok := strings.Cut(name, "/"); !ok || entry == "" {
			return fmt.Errorf("restrict.never has %.50q, which is neither provider/model nor provider/*", name)
		}
	}
	return nil
}

func checkText(field, s string, most int) error {
	switch {
	case !utf8.ValidString(s):
		return fmt.Errorf("%s is not valid UTF-8", field)
	case len(s) > most:
		return fmt.Errorf("%s has %d bytes, at most %d", field, len(s), most)
	}
	return nil
}

func action() protoreflect.EnumDescriptor { return mulliganv1.Action(0).Descriptor() }
