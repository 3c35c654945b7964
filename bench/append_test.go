package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/llm"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// BenchmarkAppend1 and BenchmarkAppend64 append tool results, 256 bytes for which a run waits, to
// the SQLite log. Each append returns when it is durable. The baseline is the same number of
// writers that write the same bytes to one file and fsync it after each write.
func BenchmarkAppend1(b *testing.B) { benchmarkAppend(b, 1) }

// BenchmarkAppend64 is BenchmarkAppend1 with 64 writers.
func BenchmarkAppend64(b *testing.B) { benchmarkAppend(b, 64) }

func benchmarkAppend(b *testing.B, writers int) {
	const each = 16 // appends of a writer before the baseline's turn
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "state"))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	raw, err := os.OpenFile(filepath.Join(b.TempDir(), "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	appenders := make([]*appender, writers)
	for i := range appenders {
		appenders[i] = newAppender(b, store, fmt.Sprintf("run-%d", i))
	}
	var log, file rate
	for b.Loop() {
		log.time(writers*each, func() {
			sideBySide(b, writers, func(i int) error { return appenders[i].append(b, each) })
		})
		file.time(writers*each, func() {
			sideBySide(b, writers, func(i int) error { return writeAndSync(raw, appenders[i].stored, each) })
		})
	}
	log.report(b, "")
	file.report(b, base)
}

func sideBySide(b *testing.B, writers int, work func(i int) error) {
	b.Helper()
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if err := work(i); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}

// appender is one run's writer.
type appender struct {
	log    timeline.Log
	lease  timeline.Lease
	seq    uint64
	event  recovery.Event
	stored []byte
}

func newAppender(b *testing.B, log timeline.Log, run string) *appender {
	b.Helper()
	lease, err := log.Claim(b.Context(), run, "bench", time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	event := recovery.Event{
		Run: run, Time: time.Now().UTC(),
		Body: recovery.ToolReturned{CallID: "c1", Outcome: recovery.OutcomeOK, Result: llm.ToolResult{CallID: "c1", Name: "look", Text: strings.Repeat("a word. ", 32)}},
	}
	stored, err := json.Marshal(event)
	if err != nil {
		b.Fatal(err)
	}
	return &appender{log: log, lease: lease, event: event, stored: stored}
}

func (a *appender) append(b *testing.B, n int) error {
	for range n {
		e := a.event
		e.Seq = a.seq + 1
		if err := a.log.Append(b.Context(), a.lease, a.seq, e); err != nil {
			return err
		}
		a.seq++
	}
	return nil
}

func writeAndSync(f *os.File, data []byte, n int) error {
	for range n {
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkAppend64Grouped is BenchmarkAppend64 with another baseline: a raw file whose writers
// share an fsync, as the log's writers do. Everything that waits is written at once.
func BenchmarkAppend64Grouped(b *testing.B) {
	const writers, each = 64, 16
	store := openStore(b)
	raw, err := os.OpenFile(filepath.Join(b.TempDir(), "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	group := newGroupedFile(raw)
	defer group.close()
	appenders := make([]*appender, writers)
	for i := range appenders {
		appenders[i] = newAppender(b, store, fmt.Sprintf("run-%d", i))
	}
	var log, file rate
	var logUsed, fileUsed time.Duration
	for b.Loop() {
		began := processorTime(b)
		log.time(writers*each, func() {
			sideBySide(b, writers, func(i int) error { return appenders[i].append(b, each) })
		})
		between := processorTime(b)
		file.time(writers*each, func() {
			sideBySide(b, writers, func(i int) error { return group.write(appenders[i].stored, each) })
		})
		logUsed += between - began
		fileUsed += processorTime(b) - between
	}
	log.report(b, "")
	file.report(b, base)
	b.ReportMetric(float64(logUsed.Microseconds())/float64(log.n), "cpu-us/append")
	b.ReportMetric(float64(fileUsed.Microseconds())/float64(file.n), base+"cpu-us/append")
}

// groupedFile is a file whose writers share writes and fsyncs.
type groupedFile struct {
	writes chan groupedWrite
	over   chan struct{}
}

type groupedWrite struct {
	data []byte
	done chan error
}

func newGroupedFile(f *os.File) *groupedFile {
	g := &groupedFile{writes: make(chan groupedWrite), over: make(chan struct{})}
	go func() {
		defer close(g.over)
		for first := range g.writes {
			group := g.gather(first)
			var data []byte
			for _, w := range group {
				data = append(data, w.data...)
			}
			_, err := f.Write(data)
			if err == nil {
				err = f.Sync()
			}
			for _, w := range group {
				w.done <- err
			}
		}
	}()
	return g
}

// gather collects further waiting writes, by the rules of the log's committer.
func (g *groupedFile) gather(first groupedWrite) []groupedWrite {
	group := []groupedWrite{first}
	for asked := false; len(group) < 256; {
		select {
		case w, ok := <-g.writes:
			if !ok {
				return group
			}
			group, asked = append(group, w), false
		default:
			if asked {
				return group
			}
			runtime.Gosched()
			asked = true
		}
	}
	return group
}

func (g *groupedFile) write(data []byte, n int) error {
	done := make(chan error, 1)
	for range n {
		g.writes <- groupedWrite{data, done}
		if err := <-done; err != nil {
			return err
		}
	}
	return nil
}

func (g *groupedFile) close() {
	close(g.writes)
	<-g.over
}
