package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	atATime       = 8 // messages to one receiver
	answerTime    = 10 * time.Second
	maxAnswer     = 64 << 10 // bytes of an answer that are read, so that the connection can be used again
	maxRetryAfter = time.Hour
)

// postman delivers messages to one receiver.
type postman struct {
	url, host string
	key       []byte
	client    *http.Client
	turns     chan struct{}
	pace      pace
	logger    *slog.Logger
	refusing  atomic.Bool // this was logged
}

func newPostman(h Hook, logger *slog.Logger, p pace) (*postman, error) {
	u, err := url.Parse(h.URL)
	if err != nil {
		return nil, errors.New("url: it is not a URL")
	}
	key, err := h.key()
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: answerTime, Control: h.guard(u).Control}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: answerTime, MaxIdleConnsPerHost: atATime, MaxConnsPerHost: atATime, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxAnswer,
	}
	never := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &postman{
		url: h.URL, host: u.Host, key: key, turns: make(chan struct{}, atATime), pace: p, logger: logger.With("webhook", u.Host),
		client: &http.Client{Transport: transport, Timeout: answerTime, CheckRedirect: never},
	}, nil
}

// deliver delivers a message, however long that takes: it fails only when ctx ends.
func (p *postman) deliver(ctx context.Context, id string, body []byte) error {
	for n := 0; ; n++ {
		after, err := p.inTurn(ctx, id, body)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			if p.refusing.CompareAndSwap(true, false) {
				p.logger.Info("it takes messages again")
			}
			return nil
		}
		if p.refusing.CompareAndSwap(false, true) {
			p.logger.Warn("it takes no message; it is tried again, more and more seldom", "id", id, "err", err)
		}
		pause := max(after, p.pace.after(n))
		if !sleep(ctx, pause+rand.N(pause/4+1)) { // with jitter
			return ctx.Err()
		}
	}
}

func (p *postman) inTurn(ctx context.Context, id string, body []byte) (after time.Duration, err error) {
	select {
	case p.turns <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { <-p.turns }()
	return p.once(ctx, id, body)
}

// once tries to deliver a message once; after is the earliest time at which the receiver wants it
// again.
func (p *postman) once(ctx context.Context, id string, body []byte) (after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("a request cannot be made from its URL")
	}
	at := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "mulligan")
	req.Header.Set("webhook-id", id)
	req.Header.Set("webhook-timestamp", at)
	req.Header.Set("webhook-signature", sign(p.key, id, at, body))
	resp, err := p.client.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return 0, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode/100 == 2 {
		return 0, nil
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds > 0 {
		after = min(time.Duration(min(seconds, int(maxRetryAfter/time.Second)))*time.Second, maxRetryAfter)
	}
	if resp.StatusCode/100 == 3 {
		return after, fmt.Errorf("it answers %d: redirects are not followed, so configure the URL that it leads to", resp.StatusCode)
	}
	return after, fmt.Errorf("it answers %d", resp.StatusCode)
}

// sign is a message's signature by the rules of Standard Webhooks.
func sign(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
