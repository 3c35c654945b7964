package page

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// span is one task of a browser thread, in microseconds.
type span struct {
	Name     string  `json:"name"`
	PID      int     `json:"pid"`
	TID      int     `json:"tid"`
	Computed float64 `json:"tdur"` // by the thread itself, whatever else runs on this machine
	Args     struct {
		Name string `json:"name"`
	} `json:"args"`
}

// longestTask is the longest uninterrupted computation of a page's thread during do. While it lasts
// the page responds to nothing and draws no frame.
func (w *window) longestTask(do func()) time.Duration {
	w.t.Helper()
	var mu sync.Mutex
	var spans []span
	over := make(chan struct{})
	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	if err := chromedp.Listen(ctx, func(ev any) {
		mu.Lock()
		defer mu.Unlock()
		switch ev := ev.(type) {
		case *tracing.EventDataCollected:
			for _, value := range ev.Value {
				var s span
				if json.Unmarshal(value, &s) == nil {
					spans = append(spans, s)
				}
			}
		case *tracing.EventTracingComplete:
			close(over)
		}
	}); err != nil {
		w.t.Fatal(err)
	}
	call(w, tracing.Start, tracing.StartParams{TraceConfig: &tracing.TraceConfig{
		RecordMode: tracing.TraceConfigRecordModeRecordContinuously, IncludedCategories: []string{"toplevel", "__metadata"},
	}})
	do()
	call(w, tracing.End, cdp.Empty{})
	select {
	case <-over:
	case <-time.After(w.timeout):
		w.t.Fatal("the browser does not say what it did")
	}
	mu.Lock()
	defer mu.Unlock()
	longest, traced := longestOf(spans)
	if !traced {
		w.t.Fatal("the browser does not say what the page did")
	}
	return longest
}

// longestOf is a page's longest task in a trace; a page that did nothing is not in the trace.
func longestOf(spans []span) (longest time.Duration, traced bool) {
	pages := map[[2]int]bool{}
	for _, s := range spans {
		if s.Name == "thread_name" && s.Args.Name == "CrRendererMain" {
			pages[[2]int{s.PID, s.TID}] = true
		}
	}
	for _, s := range spans {
		if s.Name == "ThreadControllerImpl::RunTask" && pages[[2]int{s.PID, s.TID}] {
			longest = max(longest, time.Duration(s.Computed*float64(time.Microsecond)))
		}
	}
	return longest, longest > 0
}
