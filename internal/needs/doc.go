// Package needs is for tests that need a program of another language.
//
//	needs.Programs(t, "a new plugin in Rust", "cargo")
//
// A program that is not there, and one that is there and does not run (rustup's stub
// without a toolchain), are the same: what needs it is skipped, aloud, and with CI=true it
// fails. Nobody but those who change that language has to install anything but Go.
package needs
