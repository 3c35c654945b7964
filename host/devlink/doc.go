// Package devlink lets a plugin under development answer in place of the configured one: "mulligan
// plugin dev" writes to a file in the state folder where it listens, and every process that starts
// while it runs asks it instead of the configured program.
//
//	link.go   the file, and how it is found
//	hook.go   the question and the answer, as JSON over a socket that only this user reaches
package devlink
