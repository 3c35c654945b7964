package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	mulliganv1 "github.com/mulligan-run/mulligan/proto/mulligan/v1"
	"github.com/mulligan-run/mulligan/values"
)

const (
	// valuesVariable tells a plugin the path of the socket that serves its values.
	valuesVariable = "MULLIGAN_PLUGIN_VALUES"
	// valuesFile holds the values if the host has a state folder and no store.
	valuesFile = "values.db"
	// valuesTime bounds one call.
	valuesTime = 5 * time.Second
	// maxValueRequest bounds a request in bytes: a value and its key.
	maxValueRequest = values.MaxValue + values.MaxKey + 1<<10
	// maxValueCalls bounds the concurrent calls of one plugin.
	maxValueCalls = 64
)

// WithValues makes the host keep its plugins' values in store, such as a fleet's database. By default
// they are in a file in the state folder, shared by all hosts that use that folder, or in memory if
// there is no state folder.
func WithValues(store values.Store) Option { return func(h *Host) { h.folders.values.store = store } }

// valueServers serve each plugin its values, each on its own socket, from the plugin's first start
// until the host is closed.
type valueServers struct {
	mu      sync.Mutex
	store   values.Store
	own     *values.File // opened by the host itself
	sockets map[string]string
	servers []*grpc.Server
}

// valuesOf returns the socket on which the plugin finds its values.
func (f *folders) valuesOf(ctx context.Context, plugin string) (socket string, err error) {
	dir, err := f.sockets()
	if err != nil {
		return "", err
	}
	v := &f.values
	v.mu.Lock()
	defer v.mu.Unlock()
	if socket = v.sockets[plugin]; socket != "" {
		return socket, nil
	}
	sum := sha256.Sum256([]byte(plugin))
	socket = filepath.Join(dir, "values-"+hex.EncodeToString(sum[:8]))
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return "", err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxValueRequest), grpc.MaxConcurrentStreams(maxValueCalls))
	mulliganv1.RegisterValueServiceServer(server, &valueService{servers: v, state: f.state, plugin: plugin})
	go func() { _ = server.Serve(listener) }()
	if v.sockets == nil {
		v.sockets = map[string]string{}
	}
	v.sockets[plugin] = socket
	v.servers = append(v.servers, server)
	return socket, nil
}

// opened returns the store. If the host was given none, it opens its own when a plugin first asks
// for a value.
func (v *valueServers) opened(state string) (_ values.Store, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.store != nil:
		return v.store, nil
	case state == "":
		v.own, err = values.Memory(context.Background())
	default:
		v.own, err = values.Open(context.Background(), filepath.Join(state, valuesFile))
	}
	if err != nil {
		return nil, err
	}
	v.store = v.own
	return v.store, nil
}

// close stops the servers, after all plugins have ended.
func (v *valueServers) close() error {
	v.mu.Lock()
	servers := v.servers
	v.servers, v.sockets = nil, nil
	v.mu.Unlock()
	for _, server := range servers { // a call may be waiting for mu
		server.Stop()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.own == nil {
		return nil
	}
	own := v.own
	v.own, v.store = nil, nil
	return own.Close()
}

// valuesEnv is the environment variable, or nothing if there is no socket. That does not prevent the
// start: most plugins keep nothing.
func (l *launch) valuesEnv(ctx context.Context) []string {
	socket, err := l.folders.valuesOf(ctx, l.spec.Name)
	if err != nil {
		l.logger.Warn("the plugin has no values", "error", err)
		return nil
	}
	return []string{valuesVariable + "=" + socket}
}

// valueService serves the values of one plugin.
type valueService struct {
	mulliganv1.UnimplementedValueServiceServer
	servers *valueServers
	state   string
	plugin  string
}

// GetValue implements the service.
func (s *valueService) GetValue(ctx context.Context, m *mulliganv1.GetValueRequest) (*mulliganv1.GetValueResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesTime)
	defer cancel()
	store, err := s.servers.opened(s.state)
	if err != nil {
		return nil, valueError(err)
	}
	value, version, err := store.GetValue(ctx, s.plugin, m.GetKey())
	return &mulliganv1.GetValueResponse{Value: value, Version: version}, valueError(err)
}

// SetValue implements the service.
func (s *valueService) SetValue(ctx context.Context, m *mulliganv1.SetValueRequest) (*mulliganv1.SetValueResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesTime)
	defer cancel()
	store, err := s.servers.opened(s.state)
	if err != nil {
		return nil, valueError(err)
	}
	done, version, err := store.SetValue(ctx, s.plugin, m.GetKey(), m.GetValue(), m.Expected)
	return &mulliganv1.SetValueResponse{Done: done, Version: version}, valueError(err)
}

// AddValue implements the service.
func (s *valueService) AddValue(ctx context.Context, m *mulliganv1.AddValueRequest) (*mulliganv1.AddValueResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesTime)
	defer cancel()
	store, err := s.servers.opened(s.state)
	if err != nil {
		return nil, valueError(err)
	}
	sum, err := store.AddValue(ctx, s.plugin, m.GetKey(), m.GetAmount())
	return &mulliganv1.AddValueResponse{Sum: sum}, valueError(err)
}

// DeleteValue implements the service.
func (s *valueService) DeleteValue(ctx context.Context, m *mulliganv1.DeleteValueRequest) (*mulliganv1.DeleteValueResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesTime)
	defer cancel()
	store, err := s.servers.opened(s.state)
	if err != nil {
		return nil, valueError(err)
	}
	done, err := store.DeleteValue(ctx, s.plugin, m.GetKey(), m.Expected)
	return &mulliganv1.DeleteValueResponse{Done: done}, valueError(err)
}

// ListValues implements the service.
func (s *valueService) ListValues(ctx context.Context, m *mulliganv1.ListValuesRequest) (*mulliganv1.ListValuesResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, valuesTime)
	defer cancel()
	for _, part := range []string{m.GetPrefix(), m.GetAfter()} {
		if part != "" && values.Check(part, nil) != nil {
			return nil, valueError(values.ErrMalformed)
		}
	}
	store, err := s.servers.opened(s.state)
	if err != nil {
		return nil, valueError(err)
	}
	keys, err := store.ListValues(ctx, s.plugin, m.GetPrefix(), m.GetAfter())
	more := len(keys) > values.MaxKeys
	return &mulliganv1.ListValuesResponse{Keys: keys[:min(len(keys), values.MaxKeys)], More: more}, valueError(err)
}

// valueError is an error as the plugin sees it: the store's own message stays with the host.
func valueError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, values.ErrMalformed):
		return status.Error(codes.InvalidArgument, err.Error())
	case errors.Is(err, values.ErrFull):
		return status.Error(codes.ResourceExhausted, err.Error())
	case errors.Is(err, values.ErrNoNumber):
		return status.Error(codes.FailedPrecondition, err.Error())
	}
	return status.Error(codes.Unavailable, "the host's store cannot be reached now: try again later")
}
