// Package languages has one test: plugins in Python, TypeScript and Rust that misbehave,
// under the host, each made with its language's own SDK. What Go's does is tested in
// package host, with every row of the catalogue of plugin faults; here are the rows that
// a language's runtime has a say in.
package languages
