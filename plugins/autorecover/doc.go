// Package autorecover is the policy that comes with Mulligan: retry what may pass
// by itself, rotate to another model where it will not, and otherwise leave a
// person something to do.
//
// [Decide] is the whole policy, a pure function; [Hook] is the same for a runner in this
// process, and serve/ the same as a plugin process.
//
//	runner.New(runner.WithHook(autorecover.Name, autorecover.Hook()), runner.WithAutoRecover(true), …)
//
// # The ladder
//
//	the run's own time or budget is over    retry: it can only be offered, with "extend"
//	it may pass by itself                   retry after 1 s, 2 s, 4 s and some jitter, never
//	                                        before the provider allows it
//	the model kept silent                   switch at once to an alternative that has not failed;
//	                                        without one, as above
//	it refuses to answer this               no opinion: other models are offered, never asked by
//	                                        themselves
//	it will not, or retries are used up     switch to an alternative that has not failed yet
//	no alternative                          retry, after the reset where there is one; what
//	                                        the runner may not do then becomes a suggestion
//	nothing helps but other input           fail, with a reason
//
// What goes for which kind of failure is the table in plan.go. A kind that this
// version does not know is tried once more if it says that it is retryable.
//
// # What only a person can repair
//
// A refused key or an empty account is answered with retry when no alternative is
// left, since a person who has repaired it wants exactly that button. With
// autoRecover on, the runner tries until its own limits stop it and offers the
// rest; credentials are read again for every attempt.
//
// # Configuration
//
//	retries:
//	  delays: [1s, 2s, 4s]  # the last one repeats
//	  jitter: 0.25          # up to a quarter more
//	switch:
//	  enabled: true
//	  after_retries: 3      # of one model
//	  prefer: [home/atlas-1] # before the order of the run's own list
package autorecover
