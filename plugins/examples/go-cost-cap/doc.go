// Go-cost-cap is a recovery plugin that keeps a run from becoming dear by failing:
// README.md says what it decides. The policy is costcap.go, its settings config.go.
package main
