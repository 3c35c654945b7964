package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"time"
)

// root is the top of the repository, relative to the module bench, in which this command is run.
const root = ".."

func main() {
	short := flag.Bool("short", false, "measure for 0.5 s each and leave out the cold build")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *short); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, short bool) error {
	each := 3 * time.Second
	if short {
		each = time.Second / 2
	}
	all, err := measure(ctx, each)
	lines, missing := fill(rows, all)
	byLanguage, unmade := languageLines(all)
	err = errors.Join(err, missing, unmade)
	if !short {
		built, failed := coldBuild(ctx)
		lines = append(lines, built...)
		err = errors.Join(err, failed)
	}
	fmt.Printf("\n%s/%s, %d processors, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	printTable(os.Stdout, head, lines)
	fmt.Print("\nplugins by language, through the host, and 1, 8 and 32 callers (16 at a time reach a plugin)\n\n")
	printTable(os.Stdout, languageHead, byLanguage)
	return err
}
