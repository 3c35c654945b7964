package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/labserver"
	"github.com/mulligan-run/mulligan/show"
)

const (
	usualFaultsAddr = "127.0.0.1:8089"
	usualRate       = 0.3
	usualPace       = 40 * time.Millisecond
)

func newFaultsServe() *cobra.Command {
	var o labserver.Order
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
			o.Seeded, o.Rated = cmd.Flags().Changed("seed"), cmd.Flags().Changed("rate")
			return o.Serve(cmd.Context(), show.New(cmd.OutOrStdout(), cmd.ErrOrStderr()))
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.Addr, "addr", usualFaultsAddr, "the loopback address to listen at; port 0 = any that is free")
	flags.StringArrayVar(&o.Rows, "row", nil, "play this row of the catalogue (repeatable)")
	flags.StringArrayVar(&o.Kinds, "kind", nil, "play the rows of this kind, one after the other (repeatable)")
	flags.BoolVar(&o.Random, "random", false, "let some requests fail and answer the others")
	flags.Float64Var(&o.Rate, "rate", usualRate, "with --random: how many fail, 0 to 1")
	flags.IntVar(&o.Every, "every", 0, "let every n-th request fail and answer the others")
	flags.Uint64Var(&o.Seed, "seed", 0, "with --random or --every: which fail, and how (default: drawn, and printed)")
	flags.StringArrayVar(&o.Models, "model", nil, "MODEL=SCRIPT: what this model plays (repeatable)")
	flags.StringVar(&o.Script, "script", "", "what all other models play (default echo)")
	flags.StringVar(&o.Answer, "answer", "", "answer with this text instead of echo")
	flags.DurationVar(&o.Pace, "pace", usualPace, "the pause before each word of an answer")
	flags.BoolVar(&o.Transports, "transports", false, "also fail below HTTP: DNS, TLS, resets, proxies, each at an address of its own")
	return cmd
}

const faultsServeHelp = `A provider on this computer that speaks Anthropic's Messages, OpenAI's Chat
Completions and Responses, and Gemini's generateContent, streaming and whole.
Any key is accepted. It answers every model unless it is told to fail:

  --row, --kind        every request plays these, in order; the last repeats
  with --random        some requests play one of these, others are answered
  --script, --model    a script: its n-th step for the n-th request, and the
                       last one repeats

A script is a list of steps: echo, answer:TEXT, tool:NAME:{…}, 429:2s (any
status, with Retry-After), cut:TEXT, stall:TEXT, error:TEXT, end:TEXT,
malformed:TEXT, hang, refuse, empty, html502, row:A23, kind:overloaded.

A client can choose by itself: it asks for the model row:A23, kind:overloaded
or script:429:2s,answer:ok, and gets that, whatever else is set.

Like the real services it refuses what is wrong with a request, and says why.
Ctrl-C ends it.`
