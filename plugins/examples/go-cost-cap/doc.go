// Go-cost-cap is a recovery plugin that keeps failures from making a run expensive:
// README.md says what it decides. The policy is in costcap.go, its settings in
// config.go.
package main
