// Package build says which build of Mulligan this is.
package build
