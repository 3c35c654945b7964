// Package probe asks a "mulligan serve" of this machine whether it is ready, as the health check of
// a container does that has nothing else in it that could.
package probe
