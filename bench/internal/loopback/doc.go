// Package loopback finds addresses on this machine for programs that are told where to listen, and
// cannot say themselves where they do.
package loopback
