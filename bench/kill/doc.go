// Package kill ends processes with SIGKILL while they drive runs, and checks what is left:
// nothing that was acknowledged is lost, and nothing that was done is done again.
//
// Each process is a child, this test binary in another role: the real store in a folder, a
// runner with tools and a hook. The provider (faultlab) runs on loopback in the parent. The
// child tells its parent through a pipe, line by line, what it was promised (pipe_test.go),
// and its tools write a journal of their effects beside the store (tools_test.go). It dies
//
//   - at one of the named points (points_test.go): the child kills itself before, during or
//     after a step such as the append of an intent. The wrappers around its log, model, hook
//     and tools do that, so the code under test knows nothing of it;
//   - or at any instant: the parent kills it 0–60 ms after it was ready.
//
// Then another process resumes the run, and may die as well. A cycle (cycle_test.go) is over
// when the run has ended, or waits for somebody with a reason. Its checks (check_test.go) are
// named after the invariants that they check.
//
//	go test -C bench ./kill                    # each named point once, and a few instants
//	make kill                                  # 600 cycles, each named point at least 5 times
//	make kill N=10000
//
// A further test traces a child's system calls with strace: what is acknowledged was synced
// to the disk before (sync_test.go).
package kill
