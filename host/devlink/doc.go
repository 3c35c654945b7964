// Package devlink lets a plugin that somebody is writing answer for its name: "mulligan plugin dev"
// says in a file of the state folder where it listens, and every process that starts while it does
// asks it instead of the configured program.
//
//	link.go   the file, and how it is found
//	hook.go   the question and the answer, as JSON over a socket that only this user reaches
package devlink
