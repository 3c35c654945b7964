// Package command makes tools of programs: each call of the model starts one, without
// a shell, and what it prints is the result.
//
//	{"city":"Oslo"} ──stdin──▶ ./weather ──stdout──▶ 14 °C, clear
//	                              │ exit code ≠ 0: an error, with the end of stderr and stdout
//
// A call owns all that it starts. Its program leads a session of its own, without our
// terminal, our files and most of our environment. When the call is stopped, the whole
// group is told so with SIGTERM and killed a grace later; what stays when the program
// has ended is killed at once. Only a process that leaves the group on purpose, as
// daemons do, is out of reach. On Linux the program dies with us, should we be killed.
package command
