// Package hostile checks that runs whose plugins misbehave have the same outcome as runs without
// plugins (invariant I15), and lose no more time than hooks are given (I16). Each test has a
// faultlab provider play one trace to a run with and without a faulty plugin, which is this test
// binary as another process under package host.
package hostile
