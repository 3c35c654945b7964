package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// Errors of Values.
var (
	// ErrNoValues says that the host keeps no values, or that the plugin has no host, as a
	// service.
	ErrNoValues = errors.New("the host keeps no values for the plugin")
	// ErrValuesFull says that there is no room: at most 64 KiB for a value, and 64 MiB for
	// all of a plugin's.
	ErrValuesFull = errors.New("no room for the value")
	// ErrNotANumber says that a value is not a number, or that the sum does not fit into an
	// int64.
	ErrNotANumber = errors.New("the value is not a number")
)

// Values are what the host stores for the plugin: bytes by key, shared by all of its processes that
// use the host's store, on this machine or on all machines of a fleet. A key has 1 to 200 bytes of
// UTF-8. Every change is atomic and durable before it returns. Any error other than this package's
// means that the host's store cannot be reached: a change may or may not have been made. In a dry run
// the values are empty and changes are discarded.
type Values struct{ service mulliganv1.ValueServiceClient }

var openValues = sync.OnceValues(func() (*Values, error) {
	socket := os.Getenv("MULLIGAN_PLUGIN_VALUES")
	if socket == "" {
		return nil, ErrNoValues
	}
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("the host's values: %w", err)
	}
	return &Values{mulliganv1.NewValueServiceClient(conn)}, nil
})

// HostValues returns the plugin's values, or ErrNoValues.
func HostValues() (*Values, error) { return openValues() }

// Get returns a value and its version; nil and 0 if there is none.
func (v *Values) Get(ctx context.Context, key string) (value []byte, version int64, err error) {
	m, err := v.service.GetValue(ctx, &mulliganv1.GetValueRequest{Key: key})
	if err != nil {
		return nil, 0, valueError(err)
	}
	if m.GetVersion() == 0 {
		return nil, 0, nil
	}
	return append([]byte{}, m.GetValue()...), m.GetVersion(), nil
}

// Set writes a value unconditionally.
func (v *Values) Set(ctx context.Context, key string, value []byte) error {
	_, err := v.service.SetValue(ctx, &mulliganv1.SetValueRequest{Key: key, Value: value})
	return valueError(err)
}

// CompareAndSet writes a value only if its version is still the one that Get returned (0 for none),
// and reports whether it did.
func (v *Values) CompareAndSet(ctx context.Context, key string, version int64, value []byte) (done bool, err error) {
	m, err := v.service.SetValue(ctx, &mulliganv1.SetValueRequest{Key: key, Value: value, Expected: &version})
	return m.GetDone(), valueError(err)
}

// Add adds to a number, which counts as 0 if there is none, and returns the sum.
func (v *Values) Add(ctx context.Context, key string, amount int64) (sum int64, err error) {
	m, err := v.service.AddValue(ctx, &mulliganv1.AddValueRequest{Key: key, Amount: amount})
	return m.GetSum(), valueError(err)
}

// Delete removes a value, if there is one.
func (v *Values) Delete(ctx context.Context, key string) error {
	_, err := v.service.DeleteValue(ctx, &mulliganv1.DeleteValueRequest{Key: key})
	return valueError(err)
}

// Keys lists the keys that begin with prefix, in byte order.
func (v *Values) Keys(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	for after, more := "", true; more; {
		m, err := v.service.ListValues(ctx, &mulliganv1.ListValuesRequest{Prefix: prefix, After: after})
		if err != nil {
			return nil, valueError(err)
		}
		keys = append(keys, m.GetKeys()...)
		if more = m.GetMore() && len(m.GetKeys()) > 0; more {
			after = keys[len(keys)-1]
		}
	}
	return keys, nil
}

func valueError(err error) error {
	switch status.Code(err) {
	case codes.OK:
		return nil
	case codes.ResourceExhausted:
		return fmt.Errorf("%w: %s", ErrValuesFull, status.Convert(err).Message())
	case codes.FailedPrecondition:
		return fmt.Errorf("%w: %s", ErrNotANumber, status.Convert(err).Message())
	}
	return err
}
