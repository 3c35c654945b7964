package server

import (
	"context"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mulligan-run/mulligan/config"
	"github.com/mulligan-run/mulligan/health"
	"github.com/mulligan-run/mulligan/hooks"
	"github.com/mulligan-run/mulligan/host"
	"github.com/mulligan-run/mulligan/host/trust"
	"github.com/mulligan-run/mulligan/internal/tally"
	"github.com/mulligan-run/mulligan/internal/terminal"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/runner"
	"github.com/mulligan-run/mulligan/runner/mcp"
	"github.com/mulligan-run/mulligan/show"
	"github.com/mulligan-run/mulligan/telemetry"
	"github.com/mulligan-run/mulligan/timeline"
	"github.com/mulligan-run/mulligan/timeline/postgres"
	"github.com/mulligan-run/mulligan/timeline/sqlite"
)

// Server is the whole product as it is configured: the store, the models, and the plugins
// that are asked when a run fails.
type Server struct {
	Screen  *show.Screen
	Config  *config.Config
	Dir     string // where the state is kept
	Log     timeline.Log
	ledger  *timeline.WriteBehind // through which runs are written to Log; nil until runs are driven
	Plugins *host.Host            // nil until they are needed, and if there are none
	Lock    *trust.Lock           // nil until plugins are needed
	warming sync.WaitGroup
	drives  *runner.Runner // nil until runs are driven
	served  atomic.Bool    // Serve was called
	leaving atomic.Bool    // the runs that were driven have been released
	MCP     *mcp.Set       // nil until its tools are needed, and if there is no server

	private     bool           // nobody between the page and this process can read along
	health      *health.Health // nil until it is needed
	stopLooking func()         // stops reading what others know about health; nil = it is not read

	telemetry *telemetry.Telemetry // nil until runs are driven, and if it is not exported
	tally     *tally.Tally         // nil until runs are driven

	developed map[string]hooks.Hook // plugins that "plugin dev" answers for
}

// New assembles the product that c configures, but opens and starts nothing yet. s shows
// people what they should know; nil shows nothing.
func New(c *config.Config, s *show.Screen) (*Server, error) {
	dir, err := c.StateDir(os.Getenv)
	if err != nil {
		return nil, err
	}
	if s == nil {
		s = show.New(io.Discard, io.Discard)
	}
	secrets.Add(c.Secrets(os.Getenv)...)
	return &Server{Screen: s, Config: c, Dir: dir}, nil
}

// OpenLog opens the timeline: in the configured database, else in the state folder.
func (srv *Server) OpenLog(ctx context.Context) error { return srv.openBy(ctx, sqlite.Open) }

// OpenLogReading is OpenLog for programs that only read; the timeline may be read-only.
func (srv *Server) OpenLogReading(ctx context.Context) error {
	return srv.openBy(ctx, sqlite.OpenReading)
}

// openBy opens the timeline; open opens one in the state folder. On an error Log is nil.
func (srv *Server) openBy(ctx context.Context, open func(context.Context, string) (*timeline.Journal, error)) error {
	address := srv.Dir
	if srv.Config.Store != "" {
		open, address = postgres.Open, srv.Config.Store
	}
	log, err := open(ctx, address)
	if err == nil {
		srv.Log = log
	}
	return err
}

// Close waits for tools that are still ending, stops the servers and plugins and closes the
// timeline.
func (srv *Server) Close() {
	srv.drain()
	srv.closeTelemetry()
	srv.closeMCP()
	if srv.Plugins != nil {
		if err := srv.Plugins.Close(); err != nil {
			srv.Logger().Warn("plugins", "err", err)
		}
	}
	srv.warming.Wait()
	if srv.stopLooking != nil {
		srv.stopLooking()
	}
	if srv.Log != nil {
		if err := srv.closeLog(); err != nil {
			srv.Screen.Line("mulligan: " + terminal.OneLine(err.Error()))
		}
	}
}

// drain gives the tools of a stopped run time to end, and less of it if the system wants this
// program to be gone within 10 s.
func (srv *Server) drain() {
	const unseen, short = 300 * time.Millisecond, 4 * time.Second
	most := 12 * time.Second
	if srv.drives == nil {
		return
	}
	if srv.leaving.Load() {
		most = short
	}
	ctx, cancel := context.WithTimeout(context.Background(), unseen)
	err := srv.drives.Drain(ctx)
	cancel()
	if err == nil {
		return
	}
	srv.Screen.Line("Waiting for a tool or a plugin to end…")
	ctx, cancel = context.WithTimeout(context.Background(), most)
	defer cancel()
	if srv.drives.Drain(ctx) != nil {
		srv.Screen.Line("It did not end; it is left behind.")
	}
}

// Runner makes a runner for runs of the given models.
func (srv *Server) Runner(models *Models, known runner.Health, model string, fallbacks []string, options ...runner.Option) *runner.Runner {
	all := []runner.Option{
		runner.WithModels(models, model, Without(fallbacks, model)...),
		runner.WithAutoRecover(srv.Config.AutoRecover),
		runner.WithPolicy(srv.Config.Policy),
		runner.WithDayBudget(srv.Config.Budget.OfDay()),
		runner.WithLog(srv.runsLog()),
		runner.WithHealth(known),
		runner.WithClassifier(models.known.Classify),
		runner.WithLogger(srv.Logger()),
		runner.WithConnectivity(models),
		runner.WithTimeoutsFor(func(model string, run recovery.Settings) recovery.Timeouts {
			return models.TimeoutsOf(srv.Config, model, run)
		}),
	}
	all = append(all, runner.WithMachine(srv.Config.MachineHas(), srv.Config.NeedsOf))
	if _, shared := besides[timeline.Members](srv.Log); shared {
		all = append(all, runner.WithLease(memberTTL))
	}
	if srv.Plugins != nil {
		all = append(all, runner.WithHooks(srv.hooks), runner.WithHookDeadlines(hookDeadlines(srv.Config)))
	}
	if srv.telemetry == nil {
		all = append(all, srv.Observed(context.Background(), false, srv.Logger())...)
	}
	if srv.tally == nil {
		srv.tally = tally.New(srv.now(), known.Tomorrow)
	}
	all = append(all, runner.WithObserver(srv.tally))
	srv.drives = runner.New(append(all, options...)...)
	return srv.drives
}

// Logger is silent unless MULLIGAN_DEBUG is set.
func (srv *Server) Logger() *slog.Logger {
	if os.Getenv("MULLIGAN_DEBUG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return LogTo(srv.Screen.Err, false, slog.LevelDebug)
}

// Without returns names without name.
func Without(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// LeavesSoon says whether the system wants this program to be gone within 10 s.
func (srv *Server) LeavesSoon(soon bool) { srv.leaving.Store(soon) }
