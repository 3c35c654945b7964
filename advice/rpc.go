package advice

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/recovery"
	"github.com/mulligan-run/mulligan/timeline"
)

// maxRequest is the largest question over gRPC, in bytes.
const maxRequest = 1 << 20

// RPC serves a Desk as the gRPC service mulligan.v1.Advice, over HTTP/2. caller names the caller,
// from the context of its request.
func RPC(d *Desk, caller func(context.Context) string) http.Handler {
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxRequest))
	mulliganv1.RegisterAdviceServer(server, &service{desk: d, caller: caller})
	return server
}

// IsRPC reports whether a request is one for RPC.
func IsRPC(r *http.Request) bool {
	return r.ProtoMajor == 2 && strings.HasPrefix(r.URL.Path, "/"+mulliganv1.Advice_ServiceDesc.ServiceName+"/") &&
		strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

type service struct {
	mulliganv1.UnimplementedAdviceServer
	desk   *Desk
	caller func(context.Context) string
}

// Decide implements the service.
func (s *service) Decide(ctx context.Context, m *mulliganv1.DecideRequest) (*mulliganv1.DecideResponse, error) {
	a, err := s.desk.Decide(ctx, s.caller(ctx), questionFromProto(m))
	if err != nil {
		return nil, statusOf(err)
	}
	return replyToProto(a), nil
}

// Outcome implements the service.
func (s *service) Outcome(ctx context.Context, m *mulliganv1.OutcomeRequest) (*mulliganv1.OutcomeResponse, error) {
	c, err := s.desk.Close(ctx, s.caller(ctx), outcomeFromProto(m))
	if err != nil {
		return nil, statusOf(err)
	}
	return &mulliganv1.OutcomeResponse{Run: c.Run, Status: string(c.Status)}, nil
}

// statusOf is the gRPC status for an error. It does not reveal internal errors.
func statusOf(err error) error {
	if field, ok := errors.AsType[*FieldError](err); ok {
		return status.Error(codes.InvalidArgument, field.Error())
	}
	switch {
	case errors.Is(err, timeline.ErrNotFound):
		return status.Error(codes.NotFound, "nobody has asked about this call")
	case errors.Is(err, recovery.ErrPassedOver):
		return status.Error(codes.FailedPrecondition, recovery.ErrPassedOver.Error())
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Unavailable, "there is no advice now")
}
