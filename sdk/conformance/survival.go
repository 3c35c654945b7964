package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// configured starts and configures a plugin for f, and ends it.
func configured(ctx context.Context, c Command, mutualTLS bool, f func(*Plugin) error) error {
	return with(ctx, c, mutualTLS, func(p *Plugin) error {
		if err := p.Configure(ctx, c.Config); err != nil {
			return fmt.Errorf("configure: %w", err)
		}
		return f(p)
	})
}

// lively fails unless the plugin is healthy, answers a call in time, be it with an
// error, and ends well.
func (p *Plugin) lively(ctx context.Context) error {
	if err := p.healthy(ctx, p.conn); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, slack*answerWithin)
	defer cancel()
	if _, err := p.service.RunError(ctx, ordinary()); unanswered(err) {
		return fmt.Errorf("the next call: %w", said(err))
	}
	return p.Close()
}

// unanswered reports whether a call ended without the plugin.
func unanswered(err error) bool {
	switch status.Code(err) {
	case codes.DeadlineExceeded, codes.Unavailable, codes.Canceled:
		return true
	}
	return false
}

// answerWithin is how long a host waits for an answer that has no time of its own.
const answerWithin = 2 * time.Second

func survivesCancels(ctx context.Context, c Command, mutualTLS bool) error {
	return configured(ctx, c, mutualTLS, func(p *Plugin) error {
		soon, cancel := context.WithCancel(ctx)
		ended := p.many(soon, 16)
		time.Sleep(5 * time.Millisecond) // some have arrived, some may be answered
		cancel()
		ended()
		return p.lively(ctx)
	})
}

func survivesDeadlines(ctx context.Context, c Command, mutualTLS bool) error {
	return configured(ctx, c, mutualTLS, func(p *Plugin) error {
		for n := range 20 {
			soon, cancel := context.WithTimeout(ctx, time.Duration(n+1)*time.Millisecond)
			_, _ = p.service.RunError(soon, ordinary())
			cancel()
		}
		return p.lively(ctx)
	})
}

func survivesGarbage(ctx context.Context, c Command, mutualTLS bool) error {
	return configured(ctx, c, mutualTLS, func(p *Plugin) error {
		soon, cancel := context.WithTimeout(ctx, slack*answerWithin)
		defer cancel()
		err := p.conn.Invoke(soon, mulliganv1.RecoveryPlugin_RunError_FullMethodName, struct{}{}, struct{}{}, grpc.ForceCodec(garbage{}))
		if err == nil {
			return errors.New("it was answered")
		}
		return p.lively(ctx)
	})
}

func endsUnderLoad(ctx context.Context, c Command, mutualTLS bool) error {
	return configured(ctx, c, mutualTLS, func(p *Plugin) error {
		ended := p.many(ctx, 32)
		err := p.Close()
		ended()
		return err
	})
}

// many begins so many calls at once, whose answers nobody hears; the function that it
// gives waits for their end.
func (p *Plugin) many(ctx context.Context, calls int) (wait func()) {
	ended := make(chan struct{}, calls)
	for range calls {
		go func() {
			_, _ = p.service.RunError(ctx, ordinary())
			ended <- struct{}{}
		}()
	}
	return func() {
		for range calls {
			<-ended
		}
	}
}

// garbage sends bytes that are no message, and reads nothing.
type garbage struct{}

func (garbage) Name() string { return "proto" }

func (garbage) Marshal(any) ([]byte, error) { return []byte{0xff, 0xff, 0xff, 0xff}, nil }

func (garbage) Unmarshal([]byte, any) error { return nil }
