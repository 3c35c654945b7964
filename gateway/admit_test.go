package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestS12NobodyWaitsForIt: a body is not looked at any further once the client is gone.
func TestS12NobodyWaitsForIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := []byte(`{"prompt":"x","fallbacks":["a"` + strings.Repeat(`,"a"`, 10_000) + `,1]}`)
	if faults, err := shapeOf[Start]().check(ctx, body); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", faults, err)
	}
}

// TestS12FaultsEnough: a body of nothing but faults is left at the hundredth.
func TestS12FaultsEnough(t *testing.T) {
	body := []byte(`{"timeouts":{"a":"b"` + strings.Repeat(`,"a":"b"`, 10_000) + `}} and no JSON`)
	if faults, err := shapeOf[Start]().check(t.Context(), body); err != nil || len(faults) != enoughFaults {
		t.Errorf("%d faults, %v", len(faults), err)
	}
}
