package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// bare is what the machine itself achieves at the moment: the same streams, straight from the
// provider.
type bare struct{ first, delta times }

// bareTime is how long it is measured.
const bareTime = 4 * time.Second

// streamDirectly runs that many concurrent streams straight from the provider.
func (l *lot) streamDirectly(ctx context.Context, streams int) *bare {
	ctx, cancel := context.WithTimeout(ctx, bareTime+time.Second)
	defer cancel()
	b := &bare{}
	var group sync.WaitGroup
	for i := range streams {
		group.Go(func() {
			sleep(ctx, time.Second*time.Duration(i)/time.Duration(streams))
			if err := l.oneBare(ctx, b); err != nil && ctx.Err() == nil {
				l.wrong.add("a stream straight from the provider: %v", err)
			}
		})
	}
	group.Wait()
	return b
}

func (l *lot) oneBare(ctx context.Context, b *bare) error {
	const ask = `{"model":"` + steadyModel + `","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"Tell me what time it is."}]}`
	begun := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.at+"/v1/messages", strings.NewReader(ask))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", "any")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := l.gateway.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("it gives %s", resp.Status)
	}
	var lags []time.Duration
	defer func() { b.delta.add(lags...) }()
	for m, err := range messages(resp.Body) {
		if err != nil {
			return err
		}
		now := time.Now()
		sent, ok := stamp(string(m.data), markSent)
		if !ok {
			continue
		}
		lags = append(lags, now.Sub(sent))
		if asked, ok := stamp(string(m.data), markAsked); ok {
			b.first.add(asked.Sub(begun) + now.Sub(sent))
		}
	}
	return nil
}

// durably measures how long the disk takes to make 4 KiB durable: a run does so once
// before the provider is asked.
func durably(dir string) (*times, error) {
	const writes = 200
	f, err := os.Create(filepath.Join(dir, "durable"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the content is not needed
	t, page := &times{}, make([]byte, 4<<10)
	for range writes {
		began := time.Now()
		if _, err := f.Write(page); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		t.add(time.Since(began))
	}
	return t, nil
}
