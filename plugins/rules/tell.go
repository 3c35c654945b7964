package rules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/mulligan-run/mulligan/failure/words"
)

const (
	tellTime    = 10 * time.Second // for one try
	tellTries   = 3
	tellPause   = time.Second // before the second try; it doubles
	maxTelling  = 32          // messages in progress at a time; others are dropped, and logged
	maxToldText = 500         // bytes of a reason
)

// message is the body of a rule's webhook. It contains no prompt, no answer and nothing from tools.
type message struct {
	Rule    string         `json:"rule"`
	Reason  string         `json:"reason,omitempty"`
	Run     string         `json:"run"`
	Session string         `json:"session,omitempty"`
	Model   string         `json:"model,omitempty"`
	Kind    string         `json:"kind,omitempty"`
	Code    string         `json:"code,omitempty"`
	At      time.Time      `json:"at,omitzero"`
	Counts  map[string]int `json:"counts,omitempty"`
}

// client connects to a receiver under its address rules, which are checked at each connection. It uses
// no proxy from the environment and follows no redirects.
func (w receiver) client() *http.Client {
	dialer := &net.Dialer{Timeout: tellTime, Control: w.guard().Control}
	return &http.Client{
		Timeout:       tellTime,
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, TLSHandshakeTimeout: tellTime},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// tell posts a message, in three tries at most. The error contains neither the address nor the
// response.
func (w receiver) tell(ctx context.Context, m message) error {
	m.Reason = words.Clip(m.Reason, maxToldText)
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	client, pause := w.client(), tellPause
	for try := 1; ; try++ {
		again, err := w.once(ctx, client, body)
		if err == nil || !again || try == tellTries {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause *= 2
	}
}

func (w receiver) once(ctx context.Context, client *http.Client, body []byte) (again bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url.String(), bytes.NewReader(body))
	if err != nil {
		return false, errors.New("the webhook " + w.name + " has no usable url")
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return true, fmt.Errorf("the webhook %s cannot be reached", w.name)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 {
		return response.StatusCode/100 == 5 || response.StatusCode == http.StatusTooManyRequests,
			fmt.Errorf("the webhook %s answers %d", w.name, response.StatusCode)
	}
	return false, nil
}
