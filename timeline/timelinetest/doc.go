// Package timelinetest is the suite that every store of a timeline passes. A store
// proves itself in one line:
//
//	timelinetest.Run(t, func(t *testing.T) timeline.Log { return timeline.NewMemory() })
//
// A durable one says how it is opened again, and is asked what it still knows:
//
//	timelinetest.Run(t, open, timelinetest.Options{Reopen: reopen})
package timelinetest
