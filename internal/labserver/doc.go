// Package labserver serves the fault lab as somebody at a terminal orders it: what is played to
// whom, where it is and how a client comes to it, and a line for each request.
package labserver
