package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// prune fills the disk with runs, and then does what a person may do about that.
func prune(dir string) error {
	ctx := context.Background()
	runs, err := fill(ctx, dir)
	if err != nil {
		return err
	}
	log, err := sqlite.Open(ctx, dir)
	if err != nil {
		return fmt.Errorf("open on a full disk: %w", err)
	}
	list, err := log.List(ctx, timeline.Query{Limit: 2 * len(runs)})
	if err != nil || len(list) < len(runs) {
		return fmt.Errorf("%d runs are listed of %d: %w", len(list), len(runs), err)
	}
	for _, run := range runs {
		if events, err := log.Read(ctx, run, 0, 0); err != nil || len(events) == 0 {
			return fmt.Errorf("run %s is not read: %w", run, err)
		}
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, diskSize), 0o600); err == nil {
		return errors.New("there is space left")
	}
	if err := filled(ctx, log); err != nil {
		return err
	}
	if err := os.Remove(ballast); err != nil {
		return err
	}
	before, err := free(dir)
	if err != nil {
		return err
	}
	if err := log.Delete(ctx, runs[:3*len(runs)/5]...); err != nil {
		return fmt.Errorf("delete on a full disk: %w", err)
	}
	after, err := free(dir)
	if err != nil {
		return err
	}
	if after < before+8*diskSize {
		return fmt.Errorf("%d bytes were free, and now %d", before, after)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // the store remembers the trouble for a moment
		err := log.Check(ctx)
		if err == nil {
			return put(ctx, log, "new", largeRun)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("a disk that has space again takes no run: %w", err)
		}
	}
}

// fill makes runs until the disk is full, some in each of many processes.
func fill(ctx context.Context, dir string) (runs []string, err error) {
	for !errors.Is(err, timeline.ErrFull) {
		log, err2 := sqlite.Open(ctx, dir)
		if err2 != nil {
			return nil, err2
		}
		for err = nil; err == nil && len(runs)%8 != 7; {
			run := fmt.Sprint("r", len(runs))
			if err = put(ctx, log, run, largeRun); err == nil {
				runs = append(runs, run)
			}
		}
		if err == nil {
			runs = append(runs, fmt.Sprint("r", len(runs)))
			err = put(ctx, log, runs[len(runs)-1], largeRun)
		}
		if err2 := log.Close(); err2 != nil {
			return nil, err2
		}
	}
	return runs, nil
}

// filled uses up the room that the store reserves on a full disk, until the store says that it
// takes no run. Then it must take none.
func filled(ctx context.Context, log *timeline.Journal) error {
	deadline := time.Now().Add(time.Minute)
	for n := 0; ; n++ {
		err := log.Check(ctx)
		if errors.Is(err, timeline.ErrFull) {
			break
		}
		if err != nil || time.Now().After(deadline) {
			return errors.Join(errors.New("a full disk is not said to be full"), err)
		}
		_ = put(ctx, log, fmt.Sprint("small", n), 1)
	}
	if err := put(ctx, log, "one-more", 1); !errors.Is(err, timeline.ErrFull) {
		return errors.Join(errors.New("it takes a run although it said that it would not"), err)
	}
	return nil
}

// largeRun is the size of each run that fills the disk, in bytes.
const largeRun = 200 << 10

// put writes one run that has ended.
func put(ctx context.Context, log *timeline.Journal, run string, size int) error {
	lease, err := log.Begin(ctx, run, "test", time.Minute, func(by timeline.Lease) []recovery.Event {
		now := time.Unix(1_772_000_000, 0)
		return []recovery.Event{
			{Run: run, Seq: 1, Time: now, Body: recovery.Started{Model: "lab/one", System: strings.Repeat("x", size)}},
			{Run: run, Seq: 2, Time: now, Body: recovery.Claimed{Owner: by.Owner, Epoch: by.Epoch}},
			{Run: run, Seq: 3, Time: now, Body: recovery.Ended{Status: recovery.StatusCompleted}},
		}
	})
	if err != nil {
		return err
	}
	return log.Release(ctx, lease)
}

// free is how many bytes are free on a disk.
func free(dir string) (int64, error) {
	var disk syscall.Statfs_t
	err := syscall.Statfs(dir, &disk)
	return int64(disk.Bavail) * disk.Bsize, err //nolint:gosec // it is small
}
