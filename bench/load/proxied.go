package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	volleyWords = 20
	loudWord    = 16 << 10    // bytes, in an answer that its caller does not read
	goneMost    = time.Second // until the provider has no more calls from callers who vanished
	callTime    = 3 * time.Minute
)

// callerGroup is a number of concurrent callers of the proxy. Each checks that its answer is its
// own.
type callerGroup struct {
	first, delta times // added to the provider's own time
	mem          float64
	burnt        string
}

// proxyLines measures the proxy that is part of serve.
func (l *lot) proxyLines(ctx context.Context) []line {
	ctx, cancel := context.WithTimeout(ctx, 4*callTime)
	defer cancel()
	lines := []line{l.crowdLine(ctx), l.volleyLine(ctx)}
	return append(lines, l.unreadLine(ctx), l.vanishLine(ctx))
}

func (l *lot) crowdLine(ctx context.Context) line {
	l.progress("%d calls through the proxy stream at 20 deltas/s", l.plan.callers)
	straight := l.streamDirectly(ctx, l.plan.callers)
	it := l.calls(ctx, callModel, l.plan.callers, l.plan.words, time.Duration(l.plan.words)*steadyPace/4)
	each := (it.mem - l.idle) * 1024 / float64(l.plan.callers)
	return line{
		fmt.Sprintf("%d calls through the proxy at 20 deltas/s", l.plan.callers),
		fmt.Sprintf("first token %s; delta %s; %.0f KiB a call", spread(&it.first), spread(&it.delta), each),
		fmt.Sprintf("first token %s; delta %s", spread(&straight.first), spread(&straight.delta)),
		"p99 ≤ " + millis(heavyMost) + ", nothing mixed up", verdict(it.delta.at(0.99) <= heavyMost), it.burnt,
	}
}

// volleyLine makes all calls get a 529 at the same moment.
func (l *lot) volleyLine(ctx context.Context) line {
	l.progress("%d calls through the proxy get a 529 at once", l.plan.callers)
	it := l.calls(ctx, volleyModel, l.plan.callers, volleyWords, 0)
	ended := time.Now()
	all, err := l.told(ctx)
	t := all.Volley
	if err != nil || len(t.Arrivals) < l.plan.callers || t.At.IsZero() {
		l.wrong.add("the provider was asked %d times by the callers' volley: %v", len(t.Arrivals), err)
		return nil
	}
	later := t.Arrivals[l.plan.callers:]
	most := busiest(later)
	return line{
		fmt.Sprintf("%d calls through the proxy get a 529 at once", l.plan.callers),
		fmt.Sprintf("%d requests in the busiest second, %d in all; the last answer ends after %.1f s", most, len(later), ended.Sub(t.At).Seconds()),
		"", fmt.Sprintf("≤ %d/s, no call lost", stormMost), verdict(most <= stormMost), it.burnt,
	}
}

// unreadLine runs callers who do not read beside as many who do.
func (l *lot) unreadLine(ctx context.Context) line {
	l.progress("%d callers of the proxy do not read", l.plan.unread)
	conns := make([]net.Conn, l.plan.unread)
	for i := range conns {
		var err error
		if conns[i], err = l.callWithoutReading(ctx, i); err != nil {
			l.wrong.add("a caller who will not read: %v", err)
			return nil
		}
	}
	it := l.calls(ctx, callModel, l.plan.unread, l.plan.words, time.Second)
	held, err := l.told(ctx)
	if err != nil || held.Here < int64(l.plan.unread) {
		l.wrong.add("%d callers do not read, and the provider waits for %d of them (%v)", l.plan.unread, held.Here, err)
	}
	for _, conn := range conns {
		_ = conn.Close()
	}
	released := l.untilUncalled(ctx)
	return line{
		fmt.Sprintf("%d callers read, %d do not", l.plan.unread, l.plan.unread),
		fmt.Sprintf("delta %s of those who read; %d of the others hold up their own call alone, and it is over %s after they hang up", spread(&it.delta), held.Here, millis(released)),
		"", "p99 ≤ " + millis(heavyMost), verdict(it.delta.at(0.99) <= heavyMost), it.burnt,
	}
}

// callWithoutReading asks for long words over a connection with small buffers, and reads nothing.
func (l *lot) callWithoutReading(ctx context.Context, i int) (net.Conn, error) {
	address := strings.TrimPrefix(l.gateway.url, "http://")
	conn, err := farDialer().DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	body := question(loudModel, i)
	_, err = fmt.Fprintf(conn, "POST /v1/messages HTTP/1.1\r\nHost: %s\r\nX-Api-Key: %s\r\nContent-Length: %d\r\n\r\n%s", address, l.gateway.token, len(body), body)
	return conn, err
}

// vanishLine makes all callers disconnect after the first words.
func (l *lot) vanishLine(ctx context.Context) line {
	l.progress("%d callers of the proxy vanish", l.plan.callers)
	before := l.burned()
	gone, vanish := context.WithCancel(ctx)
	defer vanish()
	var here, over sync.WaitGroup
	for i := range l.plan.callers {
		here.Add(1)
		over.Go(func() {
			heard := sync.OnceFunc(here.Done)
			defer heard()
			_ = l.call(gone, callModel, i, func(string) { heard() })
		})
	}
	here.Wait()
	vanish()
	released := l.untilUncalled(ctx)
	over.Wait()
	return line{
		fmt.Sprintf("%d callers vanish", l.plan.callers), fmt.Sprintf("the provider is left alone after %s", millis(released)),
		"", "≤ " + millis(goneMost), verdict(released <= goneMost), l.burned().since(before),
	}
}

// untilUncalled waits until the provider has no calls in progress, and returns how long that
// took.
func (l *lot) untilUncalled(ctx context.Context) time.Duration {
	began := time.Now()
	for {
		t, err := l.told(ctx)
		if err != nil || time.Since(began) > callTime {
			l.wrong.add("the provider still answers %d callers who are gone: %v", t.Here, err)
			return time.Since(began)
		}
		if t.Here == 0 {
			return time.Since(began)
		}
		sleep(ctx, 20*time.Millisecond)
	}
}

// calls starts that many calls within a time; each reads its answer to the end.
func (l *lot) calls(ctx context.Context, model string, callers, words int, within time.Duration) *callerGroup {
	it := &callerGroup{}
	before := l.burned()
	var group sync.WaitGroup
	for i := range callers {
		group.Go(func() {
			sleep(ctx, scattered(i, within))
			begun, heard := time.Now(), 0
			var lags []time.Duration
			err := l.call(ctx, model, i, func(text string) {
				now := time.Now()
				sent, ok := stamp(text, markSent)
				if !ok {
					return
				}
				heard++
				lags = append(lags, now.Sub(sent))
				if asked, ok := stamp(text, markAsked); ok {
					it.first.add(asked.Sub(begun) + now.Sub(sent))
				}
				if by, _ := digitsOf(text, markBy); by != caller(i) {
					l.wrong.add("caller %s hears what is said to caller %s", caller(i), by)
				}
			})
			it.delta.add(lags...)
			if err != nil || heard != words {
				l.wrong.add("caller %d of %s hears %d words of %d: %v", i, model, heard, words, err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	for {
		select {
		case <-done:
			it.burnt = l.burned().since(before)
			return it
		case <-time.After(500 * time.Millisecond):
			it.mem = max(it.mem, residentMiB(l.gateway.cmd.Process.Pid))
		}
	}
}

// caller is a caller's number, padded to the width of a stamp.
func caller(i int) string { return fmt.Sprintf("%0*d", stampWidth, i+1) }

// question is a caller's request.
func question(model string, i int) string {
	return fmt.Sprintf(`{"model":%q,"max_tokens":100000,"stream":true,"messages":[{"role":"user","content":"What time is it? %s%s"}]}`, model, markBy, caller(i))
}

// call makes a call through the proxy, and passes each piece of text to hear until the end of the
// answer.
func (l *lot) call(ctx context.Context, model string, i int, hear func(text string)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.gateway.url+"/v1/messages", strings.NewReader(question(model, i)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Api-Key", l.gateway.token)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := l.gateway.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	ends := 0
	for m, err := range messages(resp.Body) {
		switch {
		case err != nil:
			return err
		case ends > 0 || m.kind == "error":
			return fmt.Errorf("the answer has %d ends, and then %s", ends, m.data)
		case m.kind == "message_stop":
			ends++
		case bytes.Contains(m.data, []byte(`"text_delta"`)):
			hear(string(m.data))
		}
	}
	if ends == 0 {
		return errors.New("the answer has no end")
	}
	return nil
}
