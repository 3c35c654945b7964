// Package values keeps values by key for plugins: what a plugin wants to remember and share with its
// other processes, on this machine or on all machines of a fleet.
//
// A [Store] keeps them: [Open] in a file of this machine, [Memory] for the life of a process, and
// timeline/postgres in the database of a fleet. Every change is atomic and durable before it returns.
// [Check] and the limits hold for all of them; package valuestest is their suite.
package values
