package tui

import (
	"context"
	"iter"
	"time"

	"github.com/mulligan-run/mulligan/failure"
	"github.com/mulligan-run/mulligan/sdk/go/client"
)

// Gateway is what the chat needs from a gateway; *client.Client implements it.
type Gateway interface {
	Start(ctx context.Context, s client.Start) (run string, err error)
	Follow(ctx context.Context, run string, after uint64) iter.Seq2[client.Item, error]
	Recover(ctx context.Context, run string, a client.Answer) error
	Cancel(ctx context.Context, run string) error
	Runs(ctx context.Context, q client.Query) iter.Seq2[client.Listed, error]
	Session(ctx context.Context, id string) (client.Session, error)
	SetSession(ctx context.Context, id string, d client.Defaults) (client.Session, error)
	Models(ctx context.Context) ([]client.Model, error)
	Kinds(ctx context.Context) ([]client.KindListed, error)
	Learn(ctx context.Context, run string, was, kind failure.Kind) (client.Lesson, error)
}

// Config configures a chat.
type Config struct {
	Client      Gateway
	Link        *Link  // knows whether the gateway answers; nil = unknown
	Session     string // the conversation; it may be a new one
	Model       string // of new runs; "" = the gateway's
	AutoRecover *bool  // nil = the gateway's
	NoColor     bool
	Now         func() time.Time // nil = time.Now
}

// Run shows the chat in this terminal until the person leaves or ctx ends, neither of
// which is an error.
func Run(ctx context.Context, cfg Config) error {
	chat := New(ctx, cfg)
	defer chat.close()
	return show(ctx, chat, cfg.NoColor)
}
