package plugin

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/mulligan-run/mulligan/internal/protoconv"
	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
)

// NewService returns a gRPC server for a plugin that hosts reach at an address, unlike [Serve],
// whose host starts it. Its certificates are among the server's options:
//
//	tlsConfig := &tls.Config{…, ClientAuth: tls.RequireAndVerifyClientCert}
//	server := plugin.NewService(rules, []grpc.ServerOption{grpc.Creds(credentials.NewTLS(tlsConfig))})
//	err := server.Serve(listener)
//
// Hosts do not configure a service, because others use it, too: the options about a configuration
// have no effect. GracefulStop lets calls finish, and hosts reconnect.
func NewService(plugin Plugin, server []grpc.ServerOption, options ...Option) *grpc.Server {
	s := newServer(plugin, options)
	s.schema, s.configure = nil, nil
	g := grpc.NewServer(append([]grpc.ServerOption{grpc.MaxRecvMsgSize(protoconv.MaxRequest)}, server...)...)
	mulliganv1.RegisterRecoveryPluginServer(g, unconfigured{s})
	h := health.NewServer()
	h.SetServingStatus(goplugin.GRPCServiceName, healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(g, h)
	return g
}

// unconfigured is a server that refuses a configuration, which would affect its other
// hosts.
type unconfigured struct{ *server }

func (unconfigured) Configure(context.Context, *mulliganv1.ConfigureRequest) (*mulliganv1.ConfigureResponse, error) {
	return nil, status.Error(codes.PermissionDenied, "a service is configured where it runs")
}
