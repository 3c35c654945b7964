package provider

import (
	"context"

	"github.com/mulligan-run/mulligan/provider/internal/reach"
)

// Offline reports whether none of the models, given by their full names, can be reached
// because this machine has no connection. It is false where that is not certain: if one
// of them is on this machine, if somebody answers for one of them, and if none of them is
// known; whom an engine asks is not. It makes no request, looks at eight of their providers at most, or at the
// proxies on the way to those, and returns within 3 s and soon after ctx ends.
func (s *Set) Offline(ctx context.Context, models []string) bool {
	var hosts []reach.Host
	for _, full := range models {
		e, ok := s.entry(full)
		if !ok {
			continue
		}
		if at, ok := s.adapters[e.Name].(interface{ Host() reach.Host }); ok {
			hosts = append(hosts, at.Host())
		}
	}
	return reach.Offline(ctx, hosts)
}
