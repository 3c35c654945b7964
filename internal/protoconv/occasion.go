package protoconv

import (
	"context"
	"fmt"

	"github.com/mulligan-run/mulligan/hooks"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
)

// Answer is a plugin's answer as it came: a vote, or what is wrong with it.
type Answer func() (recovery.Vote, error)

// Ask calls the method of the hook that is asked. Its error is that of the call.
func Ask(ctx context.Context, service mulliganv1.RecoveryPluginClient, about hooks.Occasion) (Answer, error) {
	switch e := about.(type) {
	case hooks.RunError:
		m, err := service.RunError(ctx, RunErrorToProto(e))
		return func() (recovery.Vote, error) { return Reply(m) }, err
	case hooks.BeforeCall:
		m, err := service.BeforeCall(ctx, BeforeCallToProto(e))
		return func() (recovery.Vote, error) { return Verdict(e, m) }, err
	case hooks.ToolError:
		m, err := service.ToolError(ctx, ToolErrorToProto(e))
		return func() (recovery.Vote, error) { return ToolAdvice(m) }, err
	case hooks.RunEnded:
		_, err := service.RunEnded(ctx, RunEndedToProto(e))
		return func() (recovery.Vote, error) { return recovery.Vote{}, nil }, err
	}
	return func() (recovery.Vote, error) {
		return recovery.Vote{}, fmt.Errorf("plugins cannot be asked about a %T", about)
	}, nil
}
