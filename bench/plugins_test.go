package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/sdk/conformance/plugins"
)

// How much is measured at a time, before the next subject's turn. The slowest plugin takes about a
// second to start, and about as long for the load.
const (
	turnStarts  = 3
	turnCalls   = 4    // one after another
	turnAtOnce  = 256  // by all callers together
	warmUp      = 512  // calls, until a just-in-time compiler has seen them
	memoryCalls = 2048 // before memory is measured
	loadCallers = 8    // of the warm-up, and of the load before memory is measured
)

// BenchmarkPlugins measures, in turns, a plugin of every language, made with its SDK, and a bare
// grpc-go server. The plugins are the conformance plugins, asked through the host with mutual TLS.
// Metrics begin with the subject's name. A language without its toolchain is left out, and the
// table says so.
func BenchmarkPlugins(b *testing.B) {
	subjects := subjects(b)
	b.Run("start", func(b *testing.B) { measureStart(b, subjects) })
	var all []running
	for _, s := range subjects {
		r := s.start(b)
		b.Cleanup(r.stop)
		r.load(b, loadCallers, warmUp)
		all = append(all, r)
	}
	b.Run("call", func(b *testing.B) { measureCall(b, all) })
	for _, callers := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("callers%d", callers), func(b *testing.B) { measureCallers(b, all, callers) })
	}
	b.Run("memory", func(b *testing.B) { measureMemory(b, all) })
}

// subject is something that can be started and asked.
type subject struct {
	name  string
	start func(b *testing.B) running
}

// running is a started subject.
type running struct {
	name string
	pid  int
	ask  func(ctx context.Context) error
	stop func()
}

// subjects are the bare server and every plugin that can be built here.
func subjects(b *testing.B) []subject {
	b.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		b.Fatal(err)
	}
	all := []subject{{name: roleGRPC, start: startedBare}}
	for _, l := range plugins.Languages {
		if l.Missing() != "" {
			continue
		}
		made, err := l.Make(b.Context(), plugins.Place{Root: root, Dir: b.TempDir(), Optimized: true})
		if err != nil {
			b.Logf("no plugin in %s: %v", l.Name, err)
			continue
		}
		all = append(all, subject{name: l.Name, start: func(b *testing.B) running { return hosted(b, l.Name, made) }})
	}
	return all
}

func startedBare(b *testing.B) running {
	b.Helper()
	client, pid, stop := startBare(b)
	message := protoconv.RunErrorToProto(anOrder())
	return running{name: roleGRPC, pid: pid, stop: stop, ask: func(ctx context.Context) error {
		_, err := client.RunError(ctx, message)
		return err
	}}
}

// hosted is a plugin under a host of its own.
func hosted(b *testing.B, name string, made plugins.Made) running {
	b.Helper()
	h := host.New()
	if err := h.Add(host.Spec{Name: name, Command: made.Args, Env: made.Env}); err != nil {
		b.Fatal(err)
	}
	if err := h.Start(b.Context()); err != nil {
		_ = h.Close()
		b.Fatal(err)
	}
	hook, event := h.Hooks()[0].Hook, anOrder()
	return running{name: name, pid: h.Statuses()[0].PID, stop: func() { _ = h.Close() }, ask: func(ctx context.Context) error {
		vote, err := hook.Advise(ctx, event)
		if err == nil && vote.Action != recovery.ActionRetry {
			err = fmt.Errorf("got %+v", vote)
		}
		return err
	}}
}

// anOrder is aFailure in a form to which a conformance plugin answers as the bare server does.
func anOrder() hooks.RunError {
	event := aFailure()
	event.Failure.Detail = "retry because it may pass"
	return event
}

// must makes one call, which must be answered.
func (r running) must(ctx context.Context, b *testing.B) {
	b.Helper()
	if err := r.ask(ctx); err != nil {
		b.Fatalf("%s: %v", r.name, err)
	}
}

// load makes so many calls with so many concurrent callers.
func (r running) load(b *testing.B, callers, calls int) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	errs := make(chan error, callers)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls / callers {
				if err := r.ask(ctx); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		b.Fatalf("%s: %v", r.name, err)
	default:
	}
}

// measureStart measures the time from the start of the process to the first answer.
func measureStart(b *testing.B, subjects []subject) {
	took := make([]spans, len(subjects))
	for b.Loop() {
		for range turnStarts {
			for i, s := range subjects {
				var r running
				took[i].time(func() {
					r = s.start(b)
					r.must(b.Context(), b)
				})
				r.stop()
			}
		}
	}
	for i, s := range subjects {
		took[i].report(b, s.name+"-")
	}
}

func measureCall(b *testing.B, all []running) {
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour) // a deadline is sent along, as the dispatch does
	defer cancel()
	took := make([]spans, len(all))
	for b.Loop() {
		for i, r := range all {
			for range turnCalls {
				took[i].time(func() { r.must(ctx, b) })
			}
		}
	}
	for i, r := range all {
		took[i].report(b, r.name+"-")
	}
}

func measureCallers(b *testing.B, all []running, callers int) {
	done := make([]rate, len(all))
	for b.Loop() {
		for i, r := range all {
			done[i].time(turnAtOnce, func() { r.load(b, callers, turnAtOnce) })
		}
	}
	for i, r := range all {
		done[i].report(b, r.name+"-")
	}
}

// measureMemory measures resident memory after a load that is the same on every machine, in
// millions of bytes.
func measureMemory(b *testing.B, all []running) {
	resident := make([]float64, len(all))
	for b.Loop() {
		for i, r := range all {
			r.load(b, loadCallers, memoryCalls)
			resident[i] = residentMB(b, r.pid)
		}
	}
	b.ReportMetric(0, "ns/op")
	for i, r := range all {
		b.ReportMetric(resident[i], r.name+"-rss-MB")
	}
}
