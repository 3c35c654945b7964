// Command cast records "mulligan demo" as an animation, docs/demo.svg, for the README:
//
//	make demo-svg
//
// What differs from one run to the next (ports, processes, milliseconds) is written as something that
// does not, so that the picture changes only when the demo does; its test holds the one to the other.
package main
