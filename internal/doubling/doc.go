// Package doubling holds what is done with other people's input to the size of it: twice the
// input costs twice, and not four times. What is counted is bytes of memory, since time says
// little on a busy machine.
package doubling
