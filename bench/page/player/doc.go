// Command player replays recorded output of Pi. The tests of the page build it and start it often:
// their own binary is large, and slow with the race detector.
package main
