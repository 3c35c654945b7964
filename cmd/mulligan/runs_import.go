package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/devtools"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxImportLine is the longest event that is imported, and maxImportRun the largest run, in
// bytes.
const (
	maxImportLine = 64 << 20
	maxImportRun  = 1 << 30
)

func newRunsImport() *cobra.Command {
	var (
		f          common
		unfinished bool
	)
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Import runs that `runs export` wrote; - is standard input",
		Long: "Take over runs that `runs export` wrote. Each is checked, and is imported as a whole or not at all; one\n" +
			"that is here already is left as it is, and one that differs from the run of its id here is refused.\n\n" +
			"A run that has not ended is refused, because it would continue both here and where it comes from.\n" +
			"If nobody continues it there, --unfinished takes it over.",
		Example: `mulligan runs import runs.jsonl
gunzip < run.jsonl.gz | mulligan runs import -`,
		Args: takes(1, 1),
		RunE: f.opened(func(cmd *cobra.Command, a *app, args []string) error {
			in := cmd.InOrStdin()
			if args[0] != "-" {
				file, err := os.Open(args[0])
				if err != nil {
					return exit.Usage(err)
				}
				defer func() { _ = file.Close() }() // only read
				in = file
			}
			return a.importRuns(cmd.Context(), &importer{in: bufio.NewReaderSize(in, 1<<16), name: args[0], unfinished: unfinished})
		}),
	}
	f.register(cmd)
	cmd.Flags().BoolVar(&unfinished, "unfinished", false, "also runs that have not ended: they continue here")
	return cmd
}

// importer reads an export.
type importer struct {
	in         *bufio.Reader
	name       string
	unfinished bool

	line  int // the last one read, from 1
	first int // the current run's
	run   []recovery.Event
	bytes int // of the current run
	seen  map[string]bool

	imported, there int
}

func (a *app) importRuns(ctx context.Context, i *importer) error {
	i.seen = map[string]bool{}
	err := i.read(func() error { return a.importRun(ctx, i) })
	a.Screen.Line(fmt.Sprintf("Imported %s; %s here already.", show.Plural(i.imported, "run", "runs"), show.Plural(i.there, "was", "were")))
	if err != nil {
		return fmt.Errorf("%s, line %d: %w", terminal.OneLine(i.name), max(i.line, 1), err)
	}
	return nil
}

// read calls take for each run, after putting its events into i.run.
func (i *importer) read(take func() error) error {
	if err := i.header(); err != nil {
		return exit.Usage(err)
	}
	for {
		text, err := i.next()
		if errors.Is(err, io.EOF) {
			return i.end(take)
		}
		if err != nil {
			return exit.Usage(err)
		}
		var e recovery.Event
		if err := json.Unmarshal(text, &e); err != nil {
			return exit.Usage(err)
		}
		if len(i.run) > 0 && e.Run != i.run[0].Run {
			if err := i.end(take); err != nil {
				return err
			}
		}
		if len(i.run) == 0 {
			i.first = i.line
		}
		if i.bytes += len(text); i.bytes > maxImportRun {
			return exit.Usagef("run %s is larger than %d MiB", terminal.OneLine(e.Run), maxImportRun>>20)
		}
		i.run = append(i.run, e)
	}
}

func (i *importer) header() error {
	text, err := i.next()
	var h exportHeader
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case err != nil:
		return err
	case json.Unmarshal(text, &h) != nil || h.Format != devtools.ExportFormat:
		return errors.New("it is not what `mulligan runs export` writes: its first line is not the header of an export")
	case h.Version > exportVersion:
		return fmt.Errorf("it was written by a newer version (format %d, this one knows %d): use that version", h.Version, exportVersion)
	}
	return nil
}

// next reads a line that is not empty.
func (i *importer) next() ([]byte, error) {
	for {
		var line []byte
		for {
			part, err := i.in.ReadSlice('\n')
			line = append(line, part...)
			if len(line) > maxImportLine {
				i.line++
				return nil, fmt.Errorf("it is longer than %d MiB", maxImportLine>>20)
			}
			if err == nil || errors.Is(err, io.EOF) && len(line) > 0 {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, err
			}
		}
		i.line++
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// end passes the current run to take.
func (i *importer) end(take func() error) error {
	if len(i.run) == 0 {
		return nil
	}
	run := i.run[0].Run
	if i.seen[run] {
		return exit.Usagef("run %s is in the file twice", terminal.OneLine(run))
	}
	i.seen[run] = true
	err := take()
	if err != nil {
		i.line = i.first
	}
	i.run, i.bytes = nil, 0
	return err
}

// importRun imports the current run.
func (a *app) importRun(ctx context.Context, i *importer) error {
	whole, err := timeline.NewImport(i.run)
	if err != nil {
		return exit.Usage(err)
	}
	state, err := recovery.Fold(i.run)
	if err != nil {
		return exit.Usage(err)
	}
	_, err = a.Log.Read(ctx, whole.Run, 0, 1)
	there := err == nil
	if !there && !errors.Is(err, timeline.ErrNotFound) {
		return err
	}
	if state.End == nil && !i.unfinished && !there {
		return exit.Usagef("run %s has not ended, and would continue here as well; if nobody continues it where it comes from: --unfinished", whole.Run)
	}
	if err := a.Log.Import(ctx, i.run...); err != nil {
		return err
	}
	if there {
		i.there++
	} else {
		i.imported++
	}
	return nil
}
