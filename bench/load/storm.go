package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mulligan-run/mulligan/sdk/go/client"
)

const (
	stormMost  = 200 // requests to the provider within one second
	stormDoors = 32  // runs started at a time
)

// stormLines makes a volley of runs fail at once. All requests after the answers to the
// first volley count, whatever their outcome.
func (l *lot) stormLines(ctx context.Context) []line {
	l.progress("%d runs get a 529 at once", l.plan.storm)
	before := l.burned()
	doors := make(chan struct{}, stormDoors)
	var group sync.WaitGroup
	var mu sync.Mutex
	ended := time.Time{}
	for range l.plan.storm {
		group.Go(func() {
			doors <- struct{}{}
			run, err := l.gateway.start(ctx, stormEntry+"/"+stormModel)
			<-doors
			if err != nil {
				l.wrong.add("a run of the storm does not begin: %v", err)
				return
			}
			f := &follower{wrong: &l.wrong, run: run, screen: &client.View{}, lag: func(time.Time, time.Duration) {}}
			f.follow(ctx, l.gateway)
			f.settled()
			mu.Lock()
			defer mu.Unlock()
			if f.ended.After(ended) {
				ended = f.ended
			}
		})
	}
	group.Wait()
	all, err := l.told(ctx)
	t := all.Storm
	if err != nil || len(t.Arrivals) < l.plan.storm || t.At.IsZero() {
		l.wrong.add("the provider was asked %d times in the storm: %v", len(t.Arrivals), err)
		return nil
	}
	later := t.Arrivals[l.plan.storm:]
	most := busiest(later)
	return []line{{
		fmt.Sprintf("%d runs get a 529 at once", l.plan.storm),
		fmt.Sprintf("%d requests in the busiest second, %d in all; the last run ends after %.1f s", most, len(later), ended.Sub(t.At).Seconds()),
		"", fmt.Sprintf("≤ %d/s, no run lost", stormMost), verdict(most <= stormMost), l.burned().since(before),
	}}
}

// told fetches the provider's report.
func (l *lot) told(ctx context.Context) (t told, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.at+arrivalsPath, nil)
	if err != nil {
		return t, err
	}
	resp, err := l.gateway.http.Do(req)
	if err != nil {
		return t, err
	}
	defer resp.Body.Close()
	return t, json.NewDecoder(resp.Body).Decode(&t)
}
