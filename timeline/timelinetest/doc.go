// Package timelinetest has the suites that a timeline's store passes: Store for its primitives,
// and Run for what the Journal makes of them. It proves itself in two lines:
//
//	timelinetest.Store(t, func(t *testing.T) timeline.Store { return timeline.NewMemoryStore() })
//	timelinetest.Run(t, func(t *testing.T) timeline.Log { return timeline.NewMemory() })
//
// A durable one says how it is opened again, and is asked what it still knows:
//
//	timelinetest.Run(t, open, timelinetest.Options{Reopen: reopen})
//
// One that several processes share is opened twice:
//
//	timelinetest.Shared(t, open(t, place), open(t, place))
package timelinetest
