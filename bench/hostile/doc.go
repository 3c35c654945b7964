// Package hostile has one kind of test: runs whose plugins misbehave come to the same end
// as runs without them (invariant I15), and lose no more time than hooks are given (I16).
// Each test lets a provider of faultlab play one trace to a run with and without a
// faulty plugin, which is this test binary in another process under package host.
package hostile
