package failure

import (
	"errors"
	"testing"
)

// disagreements are failures about which one step and the next one disagree, by the first step's
// name.
var disagreements = map[string]struct {
	e          Evidence
	this, next Kind
}{
	"the adapter": {Evidence{Kind: KindTimeout, Status: 403, Header: map[string][]string{"Cf-Mitigated": {"challenge"}}}, KindTimeout, KindUnreachable},
	"a page": {Evidence{
		Status: 429, Header: map[string][]string{"Cf-Mitigated": {"challenge"}}, Body: []byte(`{"error":{"details":[{"quotaId":"RequestsPerDay"}]}}`),
	}, KindUnreachable, KindQuota},
	"figures of a quota": {Evidence{
		Status: 400, Body: []byte(`{"error":{"code":"RESOURCE_EXHAUSTED","message":"Your project must be verified.","details":[{"quotaId":"RequestsPerDay"}]}}`),
	}, KindQuota, KindAuth},
	"exact words": {Evidence{
		Status: 404, Body: []byte(`{"error":{"code":"model_not_available","message":"Your organization must be verified to use this model."}}`),
	}, KindAuth, KindModelNotFound},
	"a code that names one cause":       {Evidence{Status: 429, Body: []byte(`{"error":{"code":"insufficient_quota","message":"We are seeing high demand."}}`)}, KindBilling, KindOverloaded},
	"a sentence":                        {Evidence{Status: 400, Body: []byte(`{"error":{"code":"wallet_empty","message":"prompt is too long"}}`)}, KindContextOverflow, KindBilling},
	"the words of a code":               {Evidence{Status: 400, Body: []byte(`{"error":{"type":"rate_limit_error","code":"wallet_empty","message":"No."}}`)}, KindBilling, KindRateLimit},
	"a general code":                    {Evidence{Status: 400, Body: []byte(`{"error":{"type":"rate_limit_error","message":"The wallet is empty."}}`)}, KindRateLimit, KindBilling},
	"why it was refused":                {Evidence{Status: 400, Body: []byte(`{"error":{"type":"server_error","message":"The wallet is empty."}}`)}, KindBilling, KindUnavailable},
	"a code that says no more than 500": {Evidence{Status: 404, Body: []byte(`{"error":{"type":"server_error","message":"No."}}`)}, KindUnavailable, KindModelNotFound},
	"the status":                        {Evidence{Status: 429, Body: []byte(`{"error":{"type":"invalid_request_error","message":"No."}}`)}, KindRateLimit, KindInvalidRequest},
	"a code that says no more than 400": {Evidence{
		Body: []byte(`{"type":"invalid_request_error","choices":[{"finish_reason":"stop","message":{"content":""}}]}`),
	}, KindInvalidRequest, KindEmptyResponse},
	"an empty answer":         {Evidence{Err: errors.New("429 from somewhere"), Body: []byte(`{"choices":[{"finish_reason":"stop","message":{"content":""}}]}`)}, KindEmptyResponse, KindRateLimit},
	"a status in the message": {Evidence{Err: errors.New("503: slow down")}, KindUnavailable, KindRateLimit},
	"loose words":             {Evidence{Err: errors.New("slow down: the wallet is empty")}, KindRateLimit, KindBilling},
	"a cause in any words":    {Evidence{Err: errors.New("litellm.BadRequestError: the wallet is empty")}, KindBilling, KindInvalidRequest},
	"a wrapper's name":        {Evidence{Body: []byte(`{"error":"Look at the API key"}`)}, KindAuth, KindUnavailable},
}

// TestPrecedence checks the order of evidence: of two steps that disagree, the first decides and
// the second is the runner-up.
func TestPrecedence(t *testing.T) {
	for i, step := range precedence[:len(precedence)-1] {
		row, ok := disagreements[step.name]
		if !ok {
			t.Errorf("no failure about which %s and %s disagree", step.name, precedence[i+1].name)
			continue
		}
		c := gather(&row.e)
		this, _ := step.by(c)
		next, _ := precedence[i+1].by(c)
		if this.kind != row.this || next.kind != row.next {
			t.Errorf("%s says %q and %s %q, want %q and %q", step.name, this.kind, precedence[i+1].name, next.kind, row.this, row.next)
			continue
		}
		d := Diagnose(row.e)
		if d.Failure.Kind != row.this || d.Confidence != step.confidence {
			t.Errorf("%s: %s with confidence %d, want %s with %d", step.name, d.Failure.Kind, d.Confidence, row.this, step.confidence)
		}
		if d.RunnerUp == nil || d.RunnerUp.Kind != row.next || d.RunnerUp.Confidence != precedence[i+1].confidence || d.RunnerUp.By.Value == "" {
			t.Errorf("%s: the runner-up is %+v, want %s", step.name, d.RunnerUp, row.next)
		}
	}
	if len(disagreements) != len(precedence)-1 {
		t.Errorf("%d disagreements for %d pairs of neighbours", len(disagreements), len(precedence)-1)
	}
}

// TestAFailureBeatsAll is about the step before the table's: a Failure keeps its kind.
func TestAFailureBeatsAll(t *testing.T) {
	made := NewFailure(KindBudget, OriginRunner, "", nil)
	d := Diagnose(Evidence{Err: made, Kind: KindTimeout, Status: 429})
	if d.Failure.Kind != KindBudget || d.Confidence != 100 || d.RunnerUp != nil {
		t.Errorf("%+v", d)
	}
}

func TestNothingIsKnownForSure(t *testing.T) {
	if d := Diagnose(Evidence{Err: errors.New("something odd")}); d.Failure.Kind != KindUnknown || d.Confidence != 0 || d.RunnerUp != nil {
		t.Errorf("%+v", d)
	}
}
