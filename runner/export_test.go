package runner

import "time"

// WithLeaseTTL shortens the lease of a run, so that a test can outlast it.
func WithLeaseTTL(ttl time.Duration) Option { return func(r *Runner) { r.leaseTTL = ttl } }
