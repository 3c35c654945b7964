// Package serve is auto-recover as a plugin process: [autorecover.Decide] behind the SDK
// that every plugin written in Go has. Whoever wants the policy in the own process needs
// [autorecover.Hook] alone, and none of what a connection takes.
package serve
