package procgroup

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestPatiently: a lack of resources is retried until it is over; any other error is returned at
// once.
func TestPatiently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := &os.SyscallError{Syscall: "pipe2", Err: syscall.EMFILE}
		began := time.Now()
		roomAfter := func(d time.Duration, then error) func() error {
			return func() error {
				if time.Since(began) < d {
					return full
				}
				return then
			}
		}
		if err := Patiently(t.Context(), roomAfter(10*time.Second, nil)); err != nil {
			t.Errorf("with room after 10 s: %v", err)
		}
		began = time.Now()
		if err := Patiently(t.Context(), roomAfter(0, os.ErrNotExist)); !errors.Is(err, os.ErrNotExist) || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if err := Patiently(t.Context(), roomAfter(time.Hour, nil)); !errors.Is(err, syscall.EMFILE) || time.Since(began) > patience {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if err := Patiently(ctx, roomAfter(time.Hour, nil)); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
