// Package demo is "mulligan demo": a run whose provider fails on purpose, told on a screen.
//
//	play.go    the run, and what happened in words
//	serve.go   only its provider, for trying "mulligan run" against
package demo
