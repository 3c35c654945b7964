package provider

import (
	"context"

	"github.com/mulligan-run/mulligan/provider/internal/reach"
)

// Offline reports whether none of the models, given by their full names, can be reached because
// this machine has no connection. It is false if that is not certain: one of them runs on this
// machine, a host of one of them answers, or none of them is known. The hosts that an engine asks
// are unknown. Offline sends no request, checks eight providers at most, or the proxies on the way
// to them, and returns within 3 s, and soon after ctx ends.
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
