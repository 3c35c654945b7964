// Command player plays what a Pi said once. It is built and started by the tests of the page,
// which start it often: their own binary is large, and slow with the race detector.
package main
