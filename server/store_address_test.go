package server

import (
	"testing"

	"github.com/mulligan-run/mulligan/config"
)

// TestPlaceHasNoPassword: where runs are kept is shown in lists, logs and command lines.
func TestPlaceHasNoPassword(t *testing.T) {
	for address, want := range map[string]string{
		"": "/state",
		"postgres://me:secret@db:5432/runs?sslmode=require": "postgres://me@db:5432/runs?sslmode=require",
		"postgres://me@db/runs?password=secret&sslmode=x":   "postgres://me@db/runs?sslmode=x",
		"postgres://me@db/runs":                             "postgres://me@db/runs",
		"postgres://me:sec%ret@db/runs":                     "postgres://…",
	} {
		srv := &Server{Config: &config.Config{Store: address}, Dir: "/state"}
		if got := srv.Place(); got != want {
			t.Errorf("%s is shown as %s", address, got)
		}
	}
}
