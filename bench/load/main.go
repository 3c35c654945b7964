package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/timeline/postgres/pgtest"
)

// plan is how much load there is, and for how long.
type plan struct {
	steps   []int         // concurrent streaming runs
	words   int           // deltas of one run
	window  time.Duration // the time that is measured
	fans    int           // followers of the fan-out
	stalled int           // of these
	fanTime time.Duration // the length of one of its runs
	storm   int           // runs that fail at once
	callers int           // of the proxy
	unread  int           // that stop reading, beside as many who read
	open    int           // runs that a crash interrupts
	kills   int           // crashes
	soak    time.Duration
}

var (
	fullPlan  = plan{[]int{100, 200, 300, 500, 700, 1000}, 200, 12 * time.Second, 2000, 50, 35 * time.Second, 1000, 1000, 200, 1000, 10, 8 * time.Minute}
	shortPlan = plan{[]int{50, 200}, 60, 3 * time.Second, 400, 10, 28 * time.Second, 200, 200, 40, 200, 2, 75 * time.Second}
)

// garbage is how much memory the provider and this process allocate before they collect
// garbage, in bytes. Both allocate a lot and keep little. With less they would collect
// several times per second; with more the system would be busy clearing fresh pages.
// Either would take processor time from what is measured.
const garbage = 256 << 20

func main() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(garbage)
	role := len(os.Args) > 1 && os.Args[1] == roleProvider
	args := os.Args[1:]
	if role {
		args = args[1:]
	}
	flags := flag.NewFlagSet("load", flag.ExitOnError)
	short := flags.Bool("short", false, "fewer runs, for a shorter time")
	program := flags.String("program", "../bin/mulligan", "what is put under load")
	only := flags.String("only", "", "one part: steady, fanout, storm, proxy, recovery or soak")
	store := flags.String("store", "", "postgres: each part is measured once more, with runs in a database of this machine")
	_ = flags.Parse(args) // it exits on an error
	p := fullPlan
	if *short {
		p = shortPlan
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if role {
		err = beProvider(p)
	} else {
		err = run(ctx, p, args, *program, *only, *store)
		pgtest.End()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// lot is everything that takes part.
type lot struct {
	plan     plan
	program  string
	provider *child
	at       string // the provider's address
	wrong    wrongs

	dir     string  // of the gateway
	store   string  // the address of its database; "" = a file in dir
	gateway *served // of the part that is measured
	idle    float64 // its memory before the load, in MiB
	disk    *times  // durations of durable writes
}

func run(ctx context.Context, p plan, args []string, program, only, store string) (err error) {
	if store != "" && store != inPostgres {
		return fmt.Errorf("-store %s: it is %s, or left out", store, inPostgres)
	}
	l := &lot{plan: p, program: program}
	if l.provider, l.at, err = startProvider(ctx, args); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.provider.stop()) }()
	var lines []line
	parts := []struct {
		name    string
		measure func(context.Context) []line
		long    bool // it takes so long that it is only measured on request
	}{
		{"steady", l.steadyLines, false},
		{"fanout", l.fanLines, false},
		{"storm", l.stormLines, false},
		{"proxy", l.proxyLines, false},
		{"recovery", l.recoveryLines, false},
		{"soak", l.soakLines, true},
	}
	for _, part := range parts {
		if only != "" && only != part.name || only == "" && part.long {
			continue
		}
		measured, err := l.part(ctx, part.measure)
		if err == nil && store == inPostgres {
			measured, err = l.beside(ctx, args, part.measure, measured)
		}
		if err != nil {
			return err
		}
		lines = append(lines, measured...)
	}
	if ctx.Err() != nil {
		return errors.New("it was interrupted")
	}
	if len(lines) == 0 {
		return fmt.Errorf("there is no part %q: -only takes steady, fanout, storm, proxy, recovery or soak", only)
	}
	fmt.Printf("\n%s/%s, %d processors, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	if err := printTable(os.Stdout, lines); err != nil {
		return err
	}
	n, told := l.wrong.all()
	for _, w := range told {
		fmt.Println("WRONG:", w)
	}
	if n > 0 {
		return fmt.Errorf("%d things went wrong that no load excuses", n)
	}
	fmt.Println("\nNo run was lost, no event was missed or came twice, no text was wrong or somebody else's, and everybody heard of the end.")
	return nil
}

// inPostgres is the value of -store.
const inPostgres = "postgres"

// beside measures again, with an empty database and a fresh provider, and puts each line below the
// matching one of the file store.
func (l *lot) beside(ctx context.Context, args []string, measure func(context.Context) []line, file []line) (both []line, err error) {
	if l.store, err = pgtest.Take(); err != nil {
		return nil, err
	}
	if err := l.provider.stop(); err != nil {
		return nil, err
	}
	provider, at, err := startProvider(ctx, args)
	if err != nil {
		return nil, err
	}
	l.provider, l.at = provider, at
	l.progress("the same, in PostgreSQL")
	database, err := l.part(ctx, measure)
	l.store = ""
	for i := range max(len(file), len(database)) { // a part reports what it reached, which may differ
		if i < len(file) {
			both = append(both, file[i])
		}
		if i < len(database) {
			database[i][0] = "  in PostgreSQL: " + strings.TrimSpace(database[i][0])
			both = append(both, database[i])
		}
	}
	return both, err
}

// part measures with a gateway of its own, so that memory figures do not mix.
func (l *lot) part(ctx context.Context, measure func(context.Context) []line) (lines []line, err error) {
	dir, err := os.MkdirTemp("", "mulligan-load-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if l.disk, err = durably(dir); err != nil {
		return nil, err
	}
	l.dir = dir
	if l.gateway, err = serve(ctx, l.program, dir, l.store, l.at); err != nil {
		return nil, err
	}
	defer func() {
		if stopped := l.gateway.stop(); ctx.Err() == nil { // Ctrl-C reaches it, too, and then it is stopped twice
			err = errors.Join(err, stopped)
		}
	}()
	sleep(ctx, time.Second)
	l.idle = residentMiB(l.gateway.cmd.Process.Pid)
	return measure(ctx), nil
}

// progress says what is being measured.
func (l *lot) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"…\n", args...)
}
