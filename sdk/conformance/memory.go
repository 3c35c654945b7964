package conformance

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// What the memory of a plugin may grow by, in bytes, while it answers calls after it
// is warm: much less than the calls bring, and more than any collector needs.
const maxGrowth = 96 << 20

// memory fails a plugin that keeps what it is sent.
func (e Exam) memory(ctx context.Context) {
	const name = "memory"
	if !e.wants(TopicBounds, name) || ctx.Err() != nil {
		return
	}
	began := time.Now()
	r := Result{
		Topic: TopicBounds, Name: name,
		Demand: fmt.Sprintf("at most %d MiB more after 40 events of 4 MiB and 1000 small ones", maxGrowth>>20),
		Advice: "keep nothing of an event for longer than its call, or as much as you need and no more",
	}
	var unknown bool
	r.Err = configured(ctx, e.Command, true, func(p *Plugin) error {
		if err := p.load(ctx, 8, 200); err != nil {
			return err
		}
		warm, ok := p.process.memory()
		if unknown = !ok; unknown {
			return nil
		}
		if err := p.load(ctx, 40, 1000); err != nil {
			return err
		}
		if after, _ := p.process.memory(); after-warm > maxGrowth {
			return fmt.Errorf("%d MiB, and %d MiB before", after>>20, warm>>20)
		}
		return nil
	})
	if unknown {
		r.Skipped = "this system does not say how much a process uses"
	}
	r.Took = time.Since(began)
	e.report(ctx, r)
}

// load asks about large events and small ones, for a few seconds at most.
func (p *Plugin) load(ctx context.Context, large, small int) error {
	heavy := anyAnswer("4 MiB", ordinary())
	heavy.Padding = 4<<20 + 1000
	end := time.Now().Add(slack * timedWithin)
	for n := range large + small {
		talk := heavy
		if n >= large {
			talk.Padding = 0
		}
		if _, err := p.ask(ctx, talk, n); unanswered(err) {
			return said(err)
		}
		if time.Now().After(end) {
			break
		}
	}
	return nil
}

// memory is what the process's group has in memory, in bytes; not every system tells.
func (p *process) memory() (resident int64, known bool) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	group := strconv.Itoa(p.cmd.Process.Pid)
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		// "pid (name) state ppid pgrp … rss": the name may hold anything.
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
		const pgrp, rss = 2, 21
		if len(fields) <= rss || string(fields[pgrp]) != group {
			continue
		}
		if pages, err := strconv.ParseInt(string(fields[rss]), 10, 64); err == nil {
			resident, known = resident+pages*int64(os.Getpagesize()), true
		}
	}
	return resident, known
}
