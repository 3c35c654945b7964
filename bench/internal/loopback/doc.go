// Package loopback finds free addresses on this machine for programs that are told where to listen,
// and cannot report which address they chose.
package loopback
