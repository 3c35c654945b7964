package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/failure/words"
	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// maxError is how much of an error a host is told, in bytes.
const maxError = 2 << 10

// Plugin gives advice about failures. It must be safe for concurrent use.
type Plugin interface {
	RunError(ctx context.Context, e Event) (Decision, error)
}

// Func turns a function into a Plugin.
type Func func(ctx context.Context, e Event) (Decision, error)

// RunError calls f.
func (f Func) RunError(ctx context.Context, e Event) (Decision, error) { return f(ctx, e) }

// server exposes a Plugin as the gRPC service.
type server struct {
	mulliganv1.UnimplementedRecoveryPluginServer
	goplugin.NetRPCUnsupportedPlugin

	plugin        Plugin
	name, version string
	schema        json.RawMessage
	configure     func(json.RawMessage) error
	beforeCall    func(context.Context, Call) (Verdict, error)
	toolError     func(context.Context, ToolError) (ToolAdvice, error)
	runEnded      func(context.Context, Ended) error
	stderr        io.Writer
	lines         slog.Handler
}

func newServer(plugin Plugin, options []Option) *server {
	s := &server{plugin: plugin, stderr: stderr, lines: lines}
	for _, option := range options {
		option(s)
	}
	return s
}

// GRPCServer registers the service.
func (s *server) GRPCServer(_ *goplugin.GRPCBroker, g *grpc.Server) error {
	mulliganv1.RegisterRecoveryPluginServer(g, s)
	return nil
}

// GRPCClient is only for hosts.
func (s *server) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, fmt.Errorf("a plugin is not a host")
}

// Describe implements the service.
func (s *server) Describe(context.Context, *mulliganv1.DescribeRequest) (*mulliganv1.DescribeResponse, error) {
	return &mulliganv1.DescribeResponse{Name: s.name, Version: s.version, ConfigSchema: s.schema, Occasions: s.occasions()}, nil
}

// Configure implements the service.
func (s *server) Configure(_ context.Context, m *mulliganv1.ConfigureRequest) (_ *mulliganv1.ConfigureResponse, err error) {
	defer s.survive(&err)
	if s.configure == nil {
		return &mulliganv1.ConfigureResponse{}, nil
	}
	var config json.RawMessage
	if len(m.GetConfig()) > 0 {
		config = m.GetConfig()
	}
	if err := s.configure(config); err != nil {
		return nil, status.Error(codes.InvalidArgument, words.Clip(err.Error(), maxError))
	}
	return &mulliganv1.ConfigureResponse{}, nil
}

// RunError implements the service.
func (s *server) RunError(ctx context.Context, m *mulliganv1.RunErrorRequest) (_ *mulliganv1.RunErrorResponse, err error) {
	defer s.survive(&err)
	decision, err := s.plugin.RunError(withLog(ctx, s.lines, m.GetRun(), m.GetSession()), newEvent(m))
	if err != nil {
		return nil, status.Error(codes.Unknown, words.Clip(err.Error(), maxError))
	}
	return protoconv.ReplyToProto(decision.vote()), nil
}

// survive turns a panic into an error, with the stack on standard error.
func (s *server) survive(err *error) {
	if p := recover(); p != nil {
		fmt.Fprintf(s.stderr, "panic: %v\n%s", p, debug.Stack())
		*err = status.Error(codes.Internal, words.Clip(fmt.Sprintf("panic: %v", p), maxError))
	}
}
