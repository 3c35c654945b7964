// Package web is the chat page (conversations, live answers, and what a person can do when an answer
// fails) and the control room (all runs, and what waits for a person). It is files, embedded; the page
// talks to the gateway over HTTP, by the client of sdk/typescript.
//
//	src/    what it is made from: TypeScript, CSS, HTML     main.ts begins the chat, runs.ts the control room,
//	                                                        code.ts and maths.ts the workers for code and formulas
//	dist/   what is embedded: bundled by `make web`, committed, compared by `make check`
//
// The page is of one origin and needs nothing from anywhere else: no request leaves the
// machine. The policy that the gateway's guard sends with every answer sees to it
// (gateway/headers.go), so that nothing here is inline either.
package web
