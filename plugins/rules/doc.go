// Package rules is the plugin that comes with Mulligan for those who would rather
// write rules than a program: declarative recovery in YAML, with conditions in CEL.
//
//	rules:
//	  - when: failure.kind == "overloaded" && attempt < 3
//	    retry: {after: 2s, backoff: 2}
//	  - when: failure.kind in ["rate_limit", "quota"]
//	    switch_model: {to: [openai/gpt-5.2], prefer: larger_context}
//	  - when: failure.kind == "billing"
//	    fail: {reason: "No credit left at {{failure.provider}}"}
//
// The first rule that matches decides; if none does, the plugin has no opinion. What
// may be written is in docs/rules.md, whose tables are generated from this package.
//
// # From a file to a decision
//
//	Load     file ──► Rules     problem.go, source.go, position.go    what is wrong, and where
//	                            reader.go, load.go, template.go       the YAML
//	                            facts.go, expression.go, words.go     the CEL, and what it may speak of
//	decide   Rules, Facts ──► outcome     rule.go, decide.go          a pure function
//	Serve    answers a host with it       config.go, serve.go
//	Check    what a file would do         reach.go, ladder.go, event.go, check.go
//
// Everything that can be known when a file is read is an error then: an unknown
// field or name, a wrong type, a kind of failure that does not exist. While it is
// asked, a condition that cannot be evaluated does not match, and is logged once.
//
// A decision depends on the [Facts] and a drawn number alone: there is no clock and
// no environment, so the same event always comes to the same decision but for jitter.
package rules
