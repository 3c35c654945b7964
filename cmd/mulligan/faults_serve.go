package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/faultlab"
)

// faultsOrder is what a person wants to be served.
type faultsOrder struct {
	addr        string
	rows, kinds []string
	random      bool
	rate        float64
	every       int
	seed        uint64
	models      []string // MODEL=SCRIPT
	script      string
	answer      string
	pace        time.Duration
	transports  bool

	seeded bool // --seed was given
	rated  bool // --rate was given
}

const (
	usualFaultsAddr = "127.0.0.1:8089"
	usualRate       = 0.3
	maxDrawnSeed    = 1_000_000 // so that a drawn seed is easily typed
	usualPace       = 40 * time.Millisecond
)

func newFaultsServe() *cobra.Command {
	var o faultsOrder
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve a model provider that fails on request",
		Long:  faultsServeHelp,
		Example: `# It answers; open the address it prints to see and steer it:
mulligan faults serve

# Every request is told that the conversation is too long:
mulligan faults serve --row A23

# Rate limited twice, then an answer, for one model; all others echo:
mulligan faults serve --model 'gpt-5.2=429:2s, 429:2s, answer:All good.'

# Three requests in ten fail in one of two ways; the same ones for the same seed:
mulligan faults serve --random --rate 0.3 --seed 7 --kind overloaded --row T20

# Every third request fails, in any way that is known:
mulligan faults serve --every 3`,
		Args: cobra.NoArgs,
		RunE: verb(func(cmd *cobra.Command, _ []string) error {
			o.seeded, o.rated = cmd.Flags().Changed("seed"), cmd.Flags().Changed("rate")
			return o.serve(cmd.Context(), newScreen(cmd.OutOrStdout(), cmd.ErrOrStderr()))
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.addr, "addr", usualFaultsAddr, "the loopback address to listen at; port 0 = any that is free")
	flags.StringArrayVar(&o.rows, "row", nil, "play this row of the catalogue (repeatable)")
	flags.StringArrayVar(&o.kinds, "kind", nil, "play the rows of this kind, one after the other (repeatable)")
	flags.BoolVar(&o.random, "random", false, "let some requests fail and answer the others")
	flags.Float64Var(&o.rate, "rate", usualRate, "with --random: how many fail, 0 to 1")
	flags.IntVar(&o.every, "every", 0, "let every n-th request fail and answer the others")
	flags.Uint64Var(&o.seed, "seed", 0, "with --random or --every: which fail, and how (default: drawn, and printed)")
	flags.StringArrayVar(&o.models, "model", nil, "MODEL=SCRIPT: what this model plays (repeatable)")
	flags.StringVar(&o.script, "script", "", "what all other models play (default echo)")
	flags.StringVar(&o.answer, "answer", "", "answer with this text instead of echo")
	flags.DurationVar(&o.pace, "pace", usualPace, "the pause before each word of an answer")
	flags.BoolVar(&o.transports, "transports", false, "also fail below HTTP: DNS, TLS, resets, proxies, each at an address of its own")
	return cmd
}

const faultsServeHelp = `A provider on this computer that speaks Anthropic's Messages, OpenAI's Chat
Completions and Responses, and Gemini's generateContent, streaming and whole.
Any key is accepted. It answers every model unless it is told to fail:

  --row, --kind        every request plays these, in order; the last repeats
  with --random        some requests play one of these, the others are answered
  --script, --model    a script: its n-th step for the n-th request, and the
                       last one repeats

A script is a list of steps: echo, answer:TEXT, tool:NAME:{…}, 429:2s (any
status, with Retry-After), cut:TEXT, stall:TEXT, error:TEXT, end:TEXT,
malformed:TEXT, hang, refuse, empty, html502, row:A23, kind:overloaded.

A client can choose by itself: it asks for the model row:A23, kind:overloaded
or script:429:2s,answer:ok, and gets that, whatever else is set.

Like the real services it refuses what is wrong with a request, and says why.
Ctrl-C ends it.`

// serve serves until it is told to end.
func (o *faultsOrder) serve(ctx context.Context, s *screen) error {
	if err := o.check(); err != nil {
		return usage(err)
	}
	log := &faultsLog{screen: s}
	lab := faultlab.New(faultlab.WithPace(o.pace), faultlab.WithWatch(log.request))
	if err := o.load(lab); err != nil {
		return usage(err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	log.mu.Lock() // requests are told after the introduction
	server, err := lab.Listen(o.addr)
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

func (o *faultsOrder) listenError(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%s is in use, perhaps by another fault lab; --addr 127.0.0.1:0 takes any free port", o.addr)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%s is not allowed; --addr 127.0.0.1:0 takes any free port", o.addr)
	}
	return usage(fmt.Errorf("--addr: %w", err))
}

// check refuses flags that do not go together.
func (o *faultsOrder) check() error {
	named := len(o.rows)+len(o.kinds) > 0
	switch {
	case o.pace < 0:
		return errors.New("--pace is not negative")
	case o.every < 0:
		return errors.New("--every is a number of requests, from 1 on")
	case o.rate < 0 || o.rate > 1 || o.rate != o.rate: // NaN is unlike itself
		return errors.New("--rate is between 0 and 1; 0.3 lets three requests in ten fail")
	case o.rated && !o.random:
		return errors.New("--rate needs --random")
	case o.seeded && !o.stormy():
		return errors.New("--seed needs --random or --every: without them there is nothing to draw")
	case o.script != "" && o.answer != "":
		return errors.New("--script and --answer both say what is played; in a script write answer:TEXT")
	case named && !o.stormy() && (o.script != "" || o.answer != ""):
		return errors.New("--row and --kind are all that is played; write them into --script (row:A23, kind:overloaded), or add --random or --every")
	}
	return nil
}

// stormy reports whether some requests fail among others.
func (o *faultsOrder) stormy() bool { return o.random || o.every > 0 }

// load tells the lab what to play.
func (o *faultsOrder) load(lab *faultlab.Lab) error {
	for _, m := range o.models {
		model, script, ok := strings.Cut(m, "=")
		if !ok || model == "" {
			return fmt.Errorf("--model %q has not the form MODEL=SCRIPT, such as --model 'gpt-5.2=429:2s, echo'", clipped(m))
		}
		steps, err := parseSteps(script)
		if err != nil {
			return fmt.Errorf("--model %s: %w", clipped(model), err)
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
	if !o.seeded {
		o.seed = rand.Uint64N(maxDrawnSeed) //nolint:gosec // dice, not a secret
	}
	return lab.Chaos(o.chaos())
}

func (o *faultsOrder) chaos() faultlab.Chaos {
	c := faultlab.Chaos{Seed: o.seed, Every: o.every, Rows: append(append([]string{}, o.kinds...), o.rows...)}
	if o.random {
		c.Rate = o.rate
	}
	return c
}

// common is the script of all models without one of their own.
func (o *faultsOrder) common() ([]faultlab.Step, error) {
	faults, err := o.faults()
	switch {
	case err != nil:
		return nil, err
	case o.script != "":
		steps, err := parseSteps(o.script)
		if err != nil {
			return nil, fmt.Errorf("--script: %w", err)
		}
		return steps, nil
	case o.answer != "":
		return []faultlab.Step{faultlab.Answer(o.answer)}, nil
	case len(faults) > 0 && !o.stormy():
		return faults, nil
	}
	return []faultlab.Step{faultlab.Echo()}, nil
}

// faults are the rows that are asked for.
func (o *faultsOrder) faults() ([]faultlab.Step, error) {
	var steps []faultlab.Step
	for _, name := range o.rows {
		step, err := faultlab.Row(name)
		if err != nil {
			return nil, fmt.Errorf("--row: %w; `%s faults list` lists them", err, invoked())
		}
		steps = append(steps, step)
	}
	for _, kind := range o.kinds {
		found, err := faultlab.Kind(kind)
		if err != nil {
			return nil, fmt.Errorf("--kind: %w; there are: %s", err, strings.Join(rowKinds(), ", "))
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
