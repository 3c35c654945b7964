package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/timeline"
)

// runOf returns the id of the run that a person means: a whole id, or a beginning that no
// other run shares.
func (a *app) runOf(ctx context.Context, text string) (string, error) {
	_, err := a.Log.Read(ctx, text, 0, 1)
	if !errors.Is(err, timeline.ErrNotFound) || text == "" {
		return text, a.notFound(err)
	}
	list, listErr := a.everyRun(ctx)
	if listErr != nil {
		return "", listErr
	}
	var meant []string
	for _, s := range list {
		if strings.HasPrefix(s.Run, text) {
			meant = append(meant, s.Run)
		}
	}
	switch len(meant) {
	case 0:
		return "", a.notFound(err)
	case 1:
		return meant[0], nil
	}
	return "", exit.Usagef("%s is the beginning of %s: write more of the one that you mean", terminal.OneLine(text), someRuns(meant))
}

// runsOf is runOf for several.
func (a *app) runsOf(ctx context.Context, texts []string) ([]string, error) {
	var runs []string
	for _, text := range texts {
		run, err := a.runOf(ctx, text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
	}
	return runs, nil
}

// someRuns lists a few of the runs that begin alike.
func someRuns(runs []string) string {
	const most = 5
	if len(runs) > most {
		return fmt.Sprintf("%s and %d more runs", strings.Join(runs[:most], ", "), len(runs)-most)
	}
	return strings.Join(runs, ", ")
}
