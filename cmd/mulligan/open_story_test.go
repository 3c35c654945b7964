package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeOpens: the browser gets a file that leads to where it is signed in.
func TestServeOpens(t *testing.T) {
	t.Parallel()
	h := newHome(t, "answer:Hi.")
	browser, got := filepath.Join(h.dir, "browser"), filepath.Join(h.dir, "opened")
	if err := os.WriteFile(browser, []byte("#!/bin/sh\ncp \"$1\" \""+got+".part\" && mv \""+got+".part\" \""+got+"\"\n"), 0o700); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	h.env = append(h.env, "BROWSER="+browser)
	s := h.serve("--open", "--listen", "127.0.0.1:0")
	var page []byte
	s.until("the browser is started", func() (opened bool) {
		var err error
		page, err = os.ReadFile(got)
		return err == nil
	})
	if !strings.Contains(string(page), `url=http://127.0.0.1:`) {
		t.Errorf("it opened\n%s", page)
	}
	s.stop()
}
