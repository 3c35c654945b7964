// Package openaikind reads what OpenAI's two wires ask for in the same words, at other places of
// their requests: which tools may be called, the form of the answer, and what was said.
package openaikind
