package plugin

import (
	"context"
	"os"
	"sync"

	"google.golang.org/grpc"
)

// keepOutput redirects what is printed to standard error, from the first call on.
// go-plugin replaces both outputs with pipes that a host need not read, and then
// serves, so the first call is the first moment after that.
func keepOutput(to *os.File) grpc.UnaryServerInterceptor {
	var once sync.Once
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		once.Do(func() { os.Stdout, os.Stderr = to, to })
		return handler(ctx, request)
	}
}
