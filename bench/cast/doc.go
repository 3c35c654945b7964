// Command cast records "mulligan demo" as an animation, docs/demo.svg, for the README:
//
//	make demo-svg
//
// What differs from one run to the next (ports, processes, milliseconds) is replaced by constants,
// so that the picture changes only when the demo does. A test compares the two.
package main
