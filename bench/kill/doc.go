// Package kill ends processes with SIGKILL while they drive runs, and looks at what is
// left: nothing that was acknowledged is lost, and nothing that was done is done again.
//
// A life is a child process, this test binary in another role: the real store in a
// folder, a runner with tools and a hook, and a provider (faultlab) on loopback that lives
// in the parent. The child tells its parent through a pipe what it has been promised, line
// by line (tale_test.go), and its tools write a journal of their effects beside the store
// (tools_test.go). It dies
//
//   - at one of the named points (points_test.go): it kills itself right before, during or
//     right after a step such as the append of an intent, which the wrappers around its log,
//     model, hook and tools notice, so that nothing of this is in the code under test;
//   - or at any instant: its parent kills it by its id 0–60 ms after it was ready.
//
// Then another life goes on with the run, and may die as well. A cycle (cycle_test.go) is
// over when the run has ended or waits for somebody with a reason; its checks
// (check_test.go) are named by the invariants that they are about.
//
//	go test -C bench ./kill                    # each named point once, and a few instants
//	make kill                                  # 600 cycles, each named point at least 5 times
//	make kill N=10000
//
// Beside that strace looks at a life's system calls: what is acknowledged was synced to
// the disk before (sync_test.go).
package kill
