package labserver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mulligan-run/mulligan/faultlab"
	"github.com/mulligan-run/mulligan/internal/exit"
	"github.com/mulligan-run/mulligan/internal/explain"
	"github.com/mulligan-run/mulligan/show"
)

// Order is what a person wants to be served. Rows, Kinds, Script and Answer say what is played;
// with Random or Every only some requests fail, and the others are answered.
type Order struct {
	Addr        string // a loopback address; port 0 is any that is free
	Rows, Kinds []string
	Random      bool
	Rate        float64 // with Random: the share of requests that fail, 0 to 1
	Every       int     // every n-th request fails; 0 = off
	Seed        uint64
	Models      []string // MODEL=SCRIPT
	Script      string
	Answer      string
	Pace        time.Duration // the pause before each word of an answer
	Transports  bool          // also what fails below HTTP

	Seeded bool // Seed was given
	Rated  bool // Rate was given
}

const maxDrawnSeed = 1_000_000 // so that a drawn seed is easily typed

// Serve serves until ctx ends, or SIGINT or SIGTERM comes. Flags that contradict each other are
// a usage error.
func (o *Order) Serve(ctx context.Context, s *show.Screen) error {
	if err := o.check(); err != nil {
		return exit.Usage(err)
	}
	log := &faultsLog{screen: s}
	lab := faultlab.New(faultlab.WithPace(o.Pace), faultlab.WithWatch(log.request))
	if err := o.load(lab); err != nil {
		return exit.Usage(err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log.mu.Lock() // requests are printed after the introduction
	server, err := lab.Listen(o.Addr)
	if err != nil {
		return o.listenError(err)
	}
	below, err := o.breakAll()
	if err == nil {
		o.introduce(s, server.URL(), below)
	}
	log.mu.Unlock()
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, below.close(), server.Close(), lab.Close())
}

func (o *Order) listenError(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use, perhaps by another fault lab; --addr 127.0.0.1:0 takes any free port", o.Addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s is not allowed; --addr 127.0.0.1:0 takes any free port", o.Addr)
	}
	return exit.Usage(fmt.Errorf("--addr: %w", err))
}

// check refuses flags that do not go together.
func (o *Order) check() error {
	named := len(o.Rows)+len(o.Kinds) > 0
	switch {
	case o.Pace < 0:
		return errors.New("--pace is not negative")
	case o.Every < 0:
		return errors.New("--every is a number of requests, from 1 on")
	case o.Rate < 0 || o.Rate > 1 || o.Rate != o.Rate: // NaN is not equal to itself
		return errors.New("--rate is between 0 and 1; 0.3 lets three requests in ten fail")
	case o.Rated && !o.Random:
		return errors.New("--rate needs --random")
	case o.Seeded && !o.stormy():
		return errors.New("--seed needs --random or --every: without them there is nothing to draw")
	case o.Script != "" && o.Answer != "":
		return errors.New("--script and --answer both say what is played; in a script write answer:TEXT")
	case named && !o.stormy() && (o.Script != "" || o.Answer != ""):
		return errors.New("--row and --kind are all that is played; write them into --script (row:A23, kind:overloaded), or add --random or --every")
	}
	return nil
}

// stormy reports whether only some requests fail.
func (o *Order) stormy() bool { return o.Random || o.Every > 0 }

// load tells the lab what to play.
func (o *Order) load(lab *faultlab.Lab) error {
	for _, m := range o.Models {
		model, script, ok := strings.Cut(m, "=")
		if !ok || model == "" {
			return fmt.Errorf("--model %q has not the form MODEL=SCRIPT, such as --model 'gpt-5.2=429:2s, echo'", show.Clipped(m))
		}
		steps, err := parseSteps(script)
		if err != nil {
			return fmt.Errorf("--model %s: %w", show.Clipped(model), err)
		}
		lab.Script(model, steps...)
	}
	steps, err := o.common()
	if err != nil {
		return err
	}
	lab.Script("", steps...)
	if !o.stormy() {
		return nil
	}
	if !o.Seeded {
		o.Seed = rand.Uint64N(maxDrawnSeed) //nolint:gosec // dice, not a secret
	}
	return lab.Chaos(o.chaos())
}

func (o *Order) chaos() faultlab.Chaos {
	c := faultlab.Chaos{Seed: o.Seed, Every: o.Every, Rows: append(append([]string{}, o.Kinds...), o.Rows...)}
	if o.Random {
		c.Rate = o.Rate
	}
	return c
}

// common is the script of all models without one of their own.
func (o *Order) common() ([]faultlab.Step, error) {
	faults, err := o.faults()
	switch {
	case err != nil:
		return nil, err
	case o.Script != "":
		steps, err := parseSteps(o.Script)
		if err != nil {
			return nil, fmt.Errorf("--script: %w", err)
		}
		return steps, nil
	case o.Answer != "":
		return []faultlab.Step{faultlab.Answer(o.Answer)}, nil
	case len(faults) > 0 && !o.stormy():
		return faults, nil
	}
	return []faultlab.Step{faultlab.Echo()}, nil
}

// faults are the requested rows.
func (o *Order) faults() ([]faultlab.Step, error) {
	var steps []faultlab.Step
	for _, name := range o.Rows {
		step, err := faultlab.Row(name)
		if err != nil {
			return nil, fmt.Errorf("--row: %w; `%s faults list` lists them", err, show.Invoked())
		}
		steps = append(steps, step)
	}
	for _, kind := range o.Kinds {
		found, err := faultlab.Kind(kind)
		if err != nil {
			return nil, fmt.Errorf("--kind: %w; there are: %s", err, strings.Join(explain.RowKinds(), ", "))
		}
		steps = append(steps, found...)
	}
	return steps, nil
}

func parseSteps(script string) ([]faultlab.Step, error) {
	steps, err := faultlab.Parse(script)
	if err == nil && len(steps) == 0 {
		err = errors.New("the script is empty; write for example 429:2s, echo")
	}
	return steps, err
}
