package client_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/mulligan-run/mulligan/gateway"
	"github.com/mulligan-run/mulligan/recovery/rescue"
	"github.com/mulligan-run/mulligan/sdk/go/client"
	"github.com/mulligan-run/mulligan/timeline"
)

// TestRescue: a gateway's answer is read whole, with texts and without.
func TestRescue(t *testing.T) {
	log := timeline.NewMemory()
	lease, err := log.Claim(t.Context(), "r1", "o", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	events := story(t)
	if err := log.Append(t.Context(), lease, 0, events...); err != nil {
		t.Fatal(err)
	}
	c := of(t, gateway.Config{Log: log})
	for texts, answer := range map[bool]string{true: "whole", false: "[5 characters]"} {
		r, err := c.Rescue(t.Context(), "r1", texts)
		if err != nil || r.Answer != answer || r.Figures.Retries != 1 || len(r.Spans) != 3 || r.Seq != uint64(len(events)) {
			t.Errorf("texts %v: %v, %+v", texts, err, r)
		}
	}
	off, once := false, 1
	w, err := c.WhatIf(t.Context(), "r1", rescue.Change{AutoRecover: &off, MaxRetries: &once, Plugin: "p"}, true)
	if err != nil || w.Run != "r1" || w.Change.AutoRecover == nil || *w.Change.AutoRecover || w.Change.MaxRetries == nil || *w.Change.MaxRetries != 1 || w.Change.Plugin != "p" {
		t.Errorf("%+v, %v", w, err)
	}
	var problem *client.Problem
	if _, err := c.Rescue(t.Context(), "r2", true); !errors.As(err, &problem) || problem.Status != http.StatusNotFound {
		t.Errorf("of no run: %v", err)
	}
}
