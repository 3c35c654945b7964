package serve

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

func TestAnEventBecomesADecision(t *testing.T) {
	p := newPolicy()
	if err := p.configure(json.RawMessage(`{"retries":{"delays":["3s"],"jitter":0}}`)); err != nil {
		t.Fatal(err)
	}
	if err := p.configure(json.RawMessage(`{"retry":1}`)); err == nil {
		t.Error("a wrong configuration was taken")
	}
	e := plugin.Event{
		Failure: *failure.NewFailure(failure.KindOutputTruncated, failure.OriginModel, failure.PhaseEndOfStream, nil),
		Model:   "work/fable-1", MaxRetries: 3, AutoRecover: true,
		Models: []recovery.Alternative{{Model: "home/atlas-1"}},
	}
	d, err := p.runError(context.Background(), e)
	if err != nil || d.Action != recovery.ActionRetry || d.Delay != 3*time.Second || d.Adjust.MaxOutputTokens != 16_384 || d.Reason == "" {
		t.Errorf("retry: %+v, %v", d, err)
	}
	e.Failure = *failure.NewFailure(failure.KindAuth, failure.OriginModel, failure.PhaseBeforeFirstEvent, nil)
	if d, err = p.runError(context.Background(), e); err != nil || d.Action != recovery.ActionSwitchModel || d.NewModel != "home/atlas-1" {
		t.Errorf("switch: %+v, %v", d, err)
	}
}
