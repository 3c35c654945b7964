package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// pace are the pauses between things.
type pace struct {
	scan, save time.Duration // between two looks for new runs, and two writes of the cursors
	first      time.Duration // after the first refusal of a message; it doubles
	most       time.Duration
}

var usual = pace{scan: time.Second, save: time.Second, first: time.Second, most: 5 * time.Minute}

// pageSize is how many runs are listed at a time.
const pageSize = 500

// Sending reports to hooks what happens to the runs of a log.
type Sending struct{ senders []*sender }

// Open reads from dir how far each hook was told. A hook that is new here is told everything
// from now on. The error says what is wrong with a hook or its file.
func Open(ctx context.Context, log timeline.Log, dir string, logger *slog.Logger, hooks ...Hook) (*Sending, error) {
	all := &Sending{}
	for _, h := range hooks {
		s, err := newSender(ctx, log, dir, logger, h, usual)
		if err != nil {
			return nil, err
		}
		all.senders = append(all.senders, s)
	}
	return all, nil
}

// Run reports until ctx ends. A receiver's errors are logged, and the message is retried as
// long as the run is kept.
func (s *Sending) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, one := range s.senders {
		running.Go(func() { one.run(ctx) })
	}
	running.Wait()
}

// sender reports to one hook.
type sender struct {
	hook    Hook
	log     timeline.Log
	logger  *slog.Logger
	cursors *cursors
	post    *postman
	pace    pace
	telling sync.WaitGroup
}

func newSender(ctx context.Context, log timeline.Log, dir string, logger *slog.Logger, h Hook, p pace) (*sender, error) {
	if err := h.Check(); err != nil {
		return nil, err
	}
	post, err := newPostman(h, logger, p)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(h.URL))
	c, found, err := openCursors(filepath.Join(dir, hex.EncodeToString(sum[:8])+".json"))
	if err != nil {
		return nil, err
	}
	s := &sender{hook: h, log: log, logger: logger.With("webhook", post.host), cursors: c, post: post, pace: p}
	if !found {
		err = s.begin(ctx)
	}
	return s, err
}

// begin starts reporting to a hook from now on, for runs in progress, too.
func (s *sender) begin(ctx context.Context) error {
	s.cursors.Since = time.Now().UTC()
	for _, q := range []timeline.Query{{Status: recovery.StatusRunning}, {Status: recovery.StatusWaiting}, {SuggestionOpen: true}} {
		err := s.list(ctx, q, func(run timeline.Summary) bool {
			s.cursors.learn(run, run.Seq)
			return true
		})
		if err != nil {
			return fmt.Errorf("webhooks: which runs are going on: %w", err)
		}
	}
	s.cursors.scanned(s.cursors.Since)
	return s.cursors.save()
}

// list calls each for the runs that match q, page by page, until it wants none of a page.
func (s *sender) list(ctx context.Context, q timeline.Query, each func(timeline.Summary) bool) error {
	q.Limit = pageSize
	for {
		page, err := s.log.List(ctx, q)
		if err != nil {
			return err
		}
		more := false
		for _, run := range page {
			more = each(run) || more
		}
		if !more || len(page) < pageSize {
			return nil
		}
		q.Before = page[len(page)-1].Run
	}
}

// run reports what happens until ctx ends.
func (s *sender) run(ctx context.Context) {
	for run, seq := range s.cursors.open() {
		s.telling.Go(func() { s.tell(ctx, run, seq) })
	}
	scan, save := time.NewTicker(s.pace.scan), time.NewTicker(s.pace.save)
	defer scan.Stop()
	defer save.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-scan.C:
			if err := s.scan(ctx); err != nil && ctx.Err() == nil {
				s.logger.Warn("which runs there are cannot be seen; it is tried again", "err", err)
			}
		case <-save.C:
			s.save()
		}
	}
	s.telling.Wait()
	s.save()
}

func (s *sender) save() {
	if err := s.cursors.save(); err != nil {
		s.logger.Error("how far it was told cannot be written down: after a restart some of it comes again", "err", err)
	}
}

// scan finds the runs that have begun since the last one.
func (s *sender) scan(ctx context.Context) error {
	horizon := s.cursors.horizon()
	var newest time.Time
	err := s.list(ctx, timeline.Query{}, func(run timeline.Summary) bool {
		if run.StartedAt.Before(horizon) {
			return false
		}
		if run.StartedAt.After(newest) {
			newest = run.StartedAt
		}
		if s.cursors.learn(run, 0) {
			s.telling.Go(func() { s.tell(ctx, run.Run, 0) })
		}
		return true
	})
	if err == nil {
		s.cursors.scanned(newest)
	}
	return err
}

// tell reports what happens to a run after event seq, in order, until it has ended.
func (s *sender) tell(ctx context.Context, run string, seq uint64) {
	var began recovery.Started
	for n := 0; ctx.Err() == nil; n++ {
		err := s.follow(ctx, run, &seq, &began)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil, errors.Is(err, timeline.ErrNotFound): // it has ended, or was deleted
			s.cursors.finish(run)
			return
		case errors.Is(err, timeline.ErrClosed):
			return
		}
		s.logger.Warn("a run cannot be read; it is tried again", "run", run, "err", err)
		if !sleep(ctx, s.pace.after(n)) {
			return
		}
	}
}

// follow reports what happens to a run until it has ended, or cannot be followed.
func (s *sender) follow(ctx context.Context, run string, seq *uint64, began *recovery.Started) error {
	for item, err := range s.log.Follow(ctx, run, *seq) {
		if err != nil {
			return err
		}
		if item.Event == nil {
			continue
		}
		if err := s.event(ctx, *item.Event, began); err != nil {
			return err
		}
		*seq = item.Event.Seq
		s.cursors.move(run, *seq)
	}
	return ctx.Err()
}

// event reports one event, however long that takes.
func (s *sender) event(ctx context.Context, e recovery.Event, began *recovery.Started) error {
	_, isNote := e.Body.(recovery.Noted)
	if !s.hook.tells(e.Type()) || isNote && e.Text == "" || e.Time.Before(s.cursors.Since) {
		return nil
	}
	if began.Model == "" {
		first, err := s.log.Read(ctx, e.Run, 0, 1)
		if err != nil {
			return err
		}
		if len(first) > 0 {
			*began, _ = first[0].Body.(recovery.Started)
		}
	}
	body, err := bodyOf(e, *began)
	if err != nil {
		return err
	}
	return s.post.deliver(ctx, idOf(e), body)
}

// after is the pause after the nth failure in a row, from 0.
func (p pace) after(n int) time.Duration { return min(p.first<<min(n, 30), p.most) }

// sleep pauses, and reports whether ctx is still alive afterwards.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
