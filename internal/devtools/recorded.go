package devtools

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// RunSource yields the events of one run after another; an error ends it.
type RunSource func(yield func([]recovery.Event, error) bool)

// EventsOf are those of the runs with these ids.
func EventsOf(ctx context.Context, log timeline.Log, ids []string) RunSource {
	return func(yield func([]recovery.Event, error) bool) {
		for _, id := range ids {
			events, err := log.Read(ctx, id, 0, 0)
			if !yield(events, err) || err != nil {
				return
			}
		}
	}
}

// EventsSince are those of runs that began after that time, the newest first.
func EventsSince(ctx context.Context, log timeline.Log, since time.Time) RunSource {
	return func(yield func([]recovery.Event, error) bool) {
		for query := (timeline.Query{}); ; {
			list, err := log.List(ctx, query)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, s := range list {
				if s.StartedAt.Before(since) {
					return
				}
				events, err := log.Read(ctx, s.Run, 0, 0)
				if !yield(events, err) || err != nil {
					return
				}
				query.Before = s.Run
			}
			if len(list) == 0 {
				return
			}
		}
	}
}

// maxEventLine bounds a line of a file of events, in bytes.
const maxEventLine = 64 << 20

// EventsInFile are those in a file of JSON lines.
func EventsInFile(name string) RunSource {
	return func(yield func([]recovery.Event, error) bool) {
		file, err := os.Open(name)
		if err != nil {
			yield(nil, exit.Usagef("--file: %w", err))
			return
		}
		defer func() { _ = file.Close() }()
		EventsIn(file)(yield)
	}
}

// EventsIn reads JSON lines as "runs events" and "run --json" write them; runs may
// follow each other.
func EventsIn(in io.Reader) RunSource {
	return func(yield func([]recovery.Event, error) bool) {
		var events []recovery.Event
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, maxEventLine)
		for n := 1; lines.Scan(); n++ {
			e, ok, err := eventIn(lines.Bytes())
			if err != nil {
				yield(nil, exit.Usagef("--file: line %d: %w", n, err))
				return
			}
			if !ok {
				continue
			}
			if len(events) > 0 && events[0].Run != e.Run {
				if !yield(events, nil) {
					return
				}
				events = nil
			}
			events = append(events, e)
		}
		if err := lines.Err(); err != nil {
			yield(nil, exit.Usagef("--file: %w", err))
			return
		}
		if len(events) > 0 {
			yield(events, nil)
		}
	}
}

// eventIn reads one line; ok is false for live text, notices, the header of an export and
// empty lines.
func eventIn(line []byte) (e recovery.Event, ok bool, err error) {
	if len(strings.TrimSpace(string(line))) == 0 {
		return e, false, nil
	}
	var other struct {
		Delta, Notice json.RawMessage
		Format        string
	}
	if err := json.Unmarshal(line, &other); err != nil {
		return e, false, fmt.Errorf("this is not an event: %w", err)
	}
	if other.Delta != nil || other.Notice != nil || other.Format == ExportFormat {
		return e, false, nil
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return e, false, err
	}
	return e, true, nil
}

// ExportFormat identifies exported runs, in the first line of an export.
const ExportFormat = "mulligan-runs"
