package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// coldBuild builds the binary with an empty cache and returns the lines about that.
func coldBuild(ctx context.Context) ([]line, error) {
	dir, err := os.MkdirTemp("", "mulligan-cold-build-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "mulligan")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/mulligan")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	cmd.Stderr = os.Stderr
	fmt.Fprintln(os.Stderr, "building mulligan with an empty cache (takes about two minutes)…")
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return []line{{"cold build of mulligan", "FAILED"}}, fmt.Errorf("the cold build: %w", err)
	}
	took := time.Since(began)
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	return []line{
		{"cold build of mulligan", fmt.Sprintf("%.0f s", took.Seconds()), "", "", "about 2 min on 2 processors"},
		{"size of the binary", fmt.Sprintf("%.1f MB", float64(info.Size())/1e6)},
	}, nil
}
